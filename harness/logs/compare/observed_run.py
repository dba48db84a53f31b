"""What a single run logged, added up over the nodes of each kind: what noise is learned from, and judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Line(NamedTuple):
    """A message type of one kind of node at one level; with `word`, a value that `text`, a statement, wrote."""

    node_role: str
    level: str
    logger: str
    text: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """How often one run of a scenario logged what. The nodes of a run are no witnesses beside each other."""

    scenario: str
    counts: Mapping[Line, int]
