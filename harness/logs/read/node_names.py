"""Whose a line is, where what carried it says so: the pod of `kubectl logs --prefix`, the service of compose; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from harness.logs.read.carriers import unwrapped

_MOST_LINES = 0.5
_OF_CARRIERS = {"kubectl": r"^\[pod/([\w./-]+)\] ", "compose": r"^([\w.-]+) +\| "}
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
class NodeNames:
    """Where lines name their node: in the first group of an expression, once some carriers are taken off."""

    carriers: tuple[str, ...]
    expression: str

    def of(self, lines: pl.Series) -> pl.Series:
        """Return the node of each line; null for a line that names none."""
        return unwrapped(lines, self.carriers).str.extract(self.expression)

    def before(self, lines: pl.Series) -> str:
        """Return what stands before the first line that names a node, up to its end; empty where it is carried."""
        named = lines.filter(self.of(lines).is_not_null())
        found = None if self.carriers or named.is_empty() else re.match(self.expression, named[0])
        return found[0] if found else ""

    def are_several(self, lines: Sequence[str]) -> bool:
        """Say whether lines name more than one node."""
        return self.of(pl.Series(lines, dtype=pl.String)).drop_nulls().n_unique() > 1


def node_names(lines: Sequence[str], carriers: Sequence[str]) -> NodeNames | None:
    """Return where lines behind these carriers name their nodes, by a log's first lines; None where most name none."""
    sample = pl.Series(lines, dtype=pl.String)
    found = (NodeNames(tuple(carriers[:at]), _expression(name)) for at, name in enumerate(carriers))
    likely = (each for each in found if each.expression)
    return next((each for each in likely if each.of(sample).count() > _MOST_LINES * len(sample)), None)


def _expression(carrier: str) -> str:
    """Return the expression whose first group is the node in lines behind a carrier; empty where nothing names it."""
    known = (whose for form, whose in _OF_PREFIXES if re.fullmatch(form, carrier.strip("/")))
    return _OF_CARRIERS.get(carrier) or next(known, "")
