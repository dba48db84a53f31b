"""ERROR and FATAL lines that nodes write while the cluster is rolled, and which of them speak against the candidate.

Two kinds do not. What a node on base writes is base's. And an ERROR with one of Kafka's API exceptions below it says
that a client's request was refused (an out-of-order sequence number after a leader moved, say): that comes and goes
from roll to roll, and what the clients lost by it their accounts tell exactly.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.node import Node
from harness.logs.read.masks import template_of

_ERROR = re.compile(rb"^\[[^\]]{10,40}\] (?:ERROR|FATAL) ")
_REFUSAL = re.compile(rb"^(?:java\.util\.concurrent\.\w+: )?org\.apache\.kafka\.common\.errors\.\w+")
_MOST_BYTES = 400


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """One line: where it stands, what it says, its template, and whether it tells of a refused request."""

    node: int
    line: int
    text: str
    template: str
    refusal: bool


class ErrorLines:
    """Reads on in every node's log; a line counts once the one after it is there, or at the second look.

    `on_base` tells whether a node runs base at the moment.
    """

    def __init__(self, nodes: Iterable[Node], known: frozenset[str], on_base: Callable[[int], bool]) -> None:
        self.counts: Counter[str] = Counter()
        self._logs = {node.id: node.log_file for node in nodes}
        self._read: dict[int, tuple[int, int]] = {}
        self._waited: dict[int, int] = {}
        self._known = set(known)
        self._on_base = on_base

    def news(self) -> list[ErrorLine]:
        """Return the lines since the last call that speak against the candidate."""
        found = [line for node, log in self._logs.items() for line in self._read_on(node, log)]
        self.counts.update(line.template for line in found)
        self._known |= {line.template for line in found if self._on_base(line.node)}
        return [line for line in found if line.template not in self._known and not line.refusal]

    def _read_on(self, node: int, log: Path) -> list[ErrorLine]:
        if not log.is_file():
            return []
        offset, number = self._read.get(node, (0, 0))
        found: list[ErrorLine] = []
        with log.open("rb") as stream:
            stream.seek(offset)
            pending = b""
            for raw in stream:
                if not raw.endswith(b"\n"):
                    break
                if pending:
                    found.append(_error_line(node, number, pending, raw))
                offset, number = offset + len(raw), number + 1
                pending = raw if _ERROR.match(raw) else b""
        if pending and self._waited.get(node) != offset:  # what stands below it may still be on its way
            self._waited[node] = offset
            offset, number = offset - len(pending), number - 1
        elif pending:
            found.append(_error_line(node, number, pending, b""))
        self._read[node] = (offset, number)
        return found


def _error_line(node: int, number: int, raw: bytes, below: bytes) -> ErrorLine:
    text = raw[:_MOST_BYTES].decode("utf-8", "replace").rstrip("\r\n")
    return ErrorLine(node, number, text, template_of(text.partition("] ")[2]), bool(_REFUSAL.match(below)))
