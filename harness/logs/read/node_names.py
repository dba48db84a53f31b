"""Whose a line is, where what carried it says so: the pod of `kubectl logs --prefix`, the host of syslog …; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from harness.logs.read.carriers import JOURNALD_HOST, JOURNALD_TAG, JOURNALD_TIME, SYSLOG_TIME, unwrapped

_MOST_LINES = 0.5
_OF_CARRIERS = {
    "kubectl": r"^\[pod/([\w./-]+)\] ",
    "compose": r"^([\w.-]+) +\| ",
    "journald": rf"^{JOURNALD_TIME} ({JOURNALD_HOST}) {JOURNALD_TAG}: ",
    "syslog": rf"^{SYSLOG_TIME} ([^\s-]\S*) ",  # `-` is a host that nobody knows
    "journal": r'"_HOSTNAME"\s*:\s*"([^"\\]+)"',
    "beats": r'"logStreamName"\s*:\s*"([^"\\]+)"',  # CloudWatch
    "gcloud": r'"pod_name"\s*:\s*"([^"\\]+)"',
}
_NAME = r"[\w.-]*[A-Za-z][\w.-]*"  # no number, and so none of the words of a time
# Expressions as `prefixes` reads them off lines, and what names a node in the lines that they match.
_ANY, _BLANK = re.escape(r"[\w.-]+"), re.escape(r"\x20")
_OF_PREFIXES = (
    (rf"\^{_ANY}{_BLANK}{_ANY}{_BLANK}(?:{_ANY}:\S+{_BLANK})?", rf"^({_NAME} {_NAME}) "),  # stern, --timestamps
    (rf"\^\\\[{_ANY}\\\]{_BLANK}", rf"^\[({_NAME})\] "),  # kubetail
    (rf"\^{_ANY}@{_ANY}(?:{_BLANK}\+?)+\\\|{_BLANK}", rf"^({_NAME}@{_NAME}) +\| "),  # docker service logs
    (rf"\^{_ANY}(?:/{_ANY})*:(?:{_ANY}:)?", rf"^((?:[\w.-]+/)*{_NAME}):"),  # grep -H, -n
)


@dataclass(frozen=True, slots=True)
class Shown:
    """How a line shows its node: what the expression matches there, and where, in bytes, the `name` stands with what is
    around it; None for anywhere. An expression takes ten times as long to find that out.
    """

    matched: bytes
    at: int | None
    name: bytes

    def begins_all(self, piece: bytes) -> bool:
        """Say whether all lines of a piece begin so."""
        begun = piece.startswith(self.matched)
        return begun and piece.count(b"\n" + self.matched) == piece.count(b"\n", 0, -1)

    def is_in(self, lines: pl.Series) -> pl.Series:
        """Say of each line, in bytes, whether it shows the same node."""
        if self.at is None:
            return lines.bin.contains(self.matched)
        return lines.bin.slice(self.at, len(self.name)).bin.starts_with(self.name)


@dataclass(frozen=True, slots=True)
class NodeNames:
    """Where lines name their node: in the first group of an expression, once some carriers are taken off."""

    carriers: tuple[str, ...]
    expression: str

    def of(self, lines: pl.Series) -> pl.Series:
        """Return the node of each line; null for a line that names none."""
        return unwrapped(lines, self.carriers).str.extract(self.expression)

    def first(self, lines: pl.Series) -> Shown | None:
        """Return how the first line that names a node shows it; None where no line does, or names are carried."""
        named = lines.filter(self.of(lines).is_not_null())
        found = None if self.carriers or named.is_empty() else re.search(self.expression, named[0])
        if found is None:
            return None
        start = max(found.start(1) - 1, 0)
        at = len(named[0][:start].encode()) if self.expression.startswith("^") else None
        return Shown(found[0].encode(), at, named[0][start : found.end(1) + 1].encode())

    def are_several(self, lines: Sequence[str]) -> bool:
        """Say whether lines name more than one node."""
        return self.of(pl.Series(lines, dtype=pl.String)).drop_nulls().n_unique() > 1


def node_names(lines: Sequence[str], carriers: Sequence[str]) -> NodeNames | None:
    """Return where lines behind these carriers name their nodes, by a log's first lines; None where most name none.

    Of several places it is the outermost that names more than one node, or else the innermost: a host runs many.
    """
    sample = pl.Series(lines, dtype=pl.String)
    found = (NodeNames(tuple(carriers[:at]), _expression(name)) for at, name in enumerate(carriers))
    naming = [each for each in found if each.expression and each.of(sample).count() > _MOST_LINES * len(sample)]
    return next((each for each in naming if each.are_several(lines)), naming[-1] if naming else None)


def _expression(carrier: str) -> str:
    """Return the expression whose first group is the node in lines behind a carrier; empty where nothing names it."""
    known = (whose for form, whose in _OF_PREFIXES if re.fullmatch(form, carrier.strip("/")))
    return _OF_CARRIERS.get(carrier) or next(known, "")
