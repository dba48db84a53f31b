"""Text from logs, made fit to be shown: log files are hostile input."""

from __future__ import annotations

import unicodedata

from harness.logs.events import MAX_EXCERPT

# Control characters, format characters (bidirectional overrides, zero width), surrogates, line separators.
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    """Return `text` with every hidden character but tab and newline written as `\\x1b` or `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def excerpt(text: str) -> str:
    """Return the beginning of an event, visible, with a mark where it was cut."""
    shown = visible(text[:MAX_EXCERPT])
    return f"{shown} … [cut]" if len(text) > MAX_EXCERPT else shown


def _shown(char: str) -> str:
    if char in "\t\n" or unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
