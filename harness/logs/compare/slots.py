"""Places in log lines where a word can stand, and what may be one."""

from __future__ import annotations

from dataclasses import dataclass

MAX_WORD = 120  # characters: what is longer is a text of its own, and no value

Word = str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place where a statement of a logger writes a value; in `text`, `{}` stands for it and `…` for other values.

    `hidden` is one whose words no family of lines shows: it counts only beyond the noise. `last` is one that holds
    only for what each node wrote last, in the phases of its run.
    """

    logger: str
    text: str
    hidden: bool = False
    last: bool = False
