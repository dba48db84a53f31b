"""A stream of bytes as lines of text, bounded: whoever writes a log may write without end."""

from __future__ import annotations

import codecs
from collections.abc import Callable

_MOST_CHARACTERS = 10_000_000
_LONGEST_LINE = 10_000


class Lines:
    """Collects text that comes in pieces and passes on each whole line at once; of a flood it keeps the beginning."""

    def __init__(self, on_line: Callable[[str], None], most: int = _MOST_CHARACTERS) -> None:
        self._on_line = on_line
        self._left = most
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._kept: list[str] = []
        self._begun = ""

    def feed(self, piece: bytes) -> None:
        """Take the next piece; it may end anywhere, in a character too."""
        text = self._decode(piece)
        self._kept.append(text[: self._left])
        self._left = max(0, self._left - len(text))
        *whole, begun = (self._begun + text).split("\n")
        self._begun = begun[:_LONGEST_LINE]
        for line in whole:
            self._on_line(line[:_LONGEST_LINE].rstrip("\r"))

    def text(self) -> str:
        """Return everything that was kept, and whether something was left out."""
        return "".join(self._kept) + ("" if self._left else "\n… (the rest of the log was left out)\n")
