"""Text that others wrote, made harmless to look at: nothing invisible, nothing that reorders, nothing endless; pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_CUT_NOTE = re.compile(r"… \(\d+ more characters?\)\Z")
_KEPT = "\n\t"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SUSPECT = re.compile(r"[^\x20-\x7e\n\t\xa1-\xac\xae-\u02ff]")
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def visible(text: str) -> str:
    """Return `text` with control, bidi, zero-width and unassigned characters written as escapes.

    Terminal sequences stay readable (`\\x1b[31m`) and can no longer act; escapes are plain ASCII,
    which every font has. New lines and tabs are kept.
    """
    return _SUSPECT.sub(lambda match: _sign(match.group()), text)


def _sign(char: str) -> str:
    code = ord(char)
    if char in _KEPT or unicodedata.category(char) not in _INVISIBLE:
        return char
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def ordinal(number: int) -> str:
    """Return the ordinal of `number`, from 1: first, second, …, tenth, 11th, …, 21st."""
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{suffix}"


def counted(count: int, noun: str) -> str:
    """Return a number of things, such as `1 run` and `2 runs`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def cut(text: str, limit: int) -> str:
    """Return `text`, or its first `limit` characters and how many more there were; where that is no longer, `text`."""
    note = f"… ({counted(len(text) - limit, 'more character')})"
    return text if len(text) <= limit + len(note) else text[:limit] + note


def without_note(text: str) -> str:
    """Return what `cut` has left of a text, without its note of how much there was."""
    return _CUT_NOTE.sub("", text)


def as_markdown(text: str) -> str:
    """Return text as Markdown that shows it, on one line, and does nothing else.

    Of hostile text `visible` comes first: controls that count as spaces would go unseen.
    """
    return re.sub(r"([\\`*_\[\]<>|#~&])", r"\\\1", " ".join(text.split()))


def listed(names: Sequence[str], most: int = 0) -> str:
    """Return names as a clause: `a, b and c`; of more than `most` the first, and how many more there are."""
    if 0 < most < len(names):
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
