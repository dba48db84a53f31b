"""Text from logs made harmless to look at: nothing invisible, nothing that reorders, nothing endless; pure."""

from __future__ import annotations

import re
import unicodedata

_KEPT = "\n\t"
_SUSPECT = re.compile(r"[^\x20-\x7e\n\t\xa1-\xac\xae-\u02ff]")
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def visible(text: str) -> str:
    """Return `text` with control, bidi, zero-width and unassigned characters shown as signs or code points.

    Terminal sequences stay readable (`␛[31m`) and can no longer act. New lines and tabs are kept.
    """
    return _SUSPECT.sub(lambda match: _sign(match.group()), text)


def _sign(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return char if char in _KEPT else chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"⟦U+{code:04X}⟧" if unicodedata.category(char) in _INVISIBLE else char


def cut(text: str, limit: int) -> str:
    """Return `text`, or its first `limit` characters and how many more there were."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"
