"""The limits of costs as data: `limits.toml`, a row a figure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.json import record_of
from harness.model.costs import CostLimit

_FILE = Path(__file__).with_name("limits.toml")
# Measured, and chance in most release lines (docs/conformance.md).
BY_CHANCE = ("endpoint_unregistered_seconds",)
_PLACES = {
    "role": "leader|voter|observer",
    "kind": "voter|observer",
    "window": "[a-z][a-z0-9_]*?",
    "question": f"(?!{'|'.join(BY_CHANCE)}$)[a-z][a-z0-9_]*",
}


@dataclass(frozen=True, slots=True)
class _Document:
    limit: tuple[CostLimit, ...]


@cache
def shipped_limits() -> tuple[CostLimit, ...]:
    """Return the limits that every verification is judged by."""
    return parse_limits(_FILE.read_text(encoding="utf-8"))


def parse_limits(text: str) -> tuple[CostLimit, ...]:
    """Return the rows of a file of limits. Raises HarnessError for one that is malformed or can never be exceeded."""
    try:
        limits = record_of(_Document, tomllib.loads(text)).limit
    except tomllib.TOMLDecodeError as error:
        raise HarnessError(f"The limits of costs cannot be read: {error}.") from error
    for limit in limits:
        if limit.least <= 0 or limit.ratio < 1 or limit.everywhere < 0:
            raise HarnessError(f"The limit of {limit.figure} lets noise through: least > 0, and ratio at least 1.")
    return limits


def limit_of(figure: str, limits: Sequence[CostLimit]) -> tuple[CostLimit, str] | None:
    """Return the first limit that is about a figure, with the figure in words; None for a figure without one."""
    for limit in limits:
        if found := _pattern(limit.figure).fullmatch(figure):
            return limit, _filled(limit.description, found.groupdict())
    return None


def rank_of(figure: str) -> int:
    """Return the place of a figure's limit among those shipped: what says most of a cause comes first there."""
    found = limit_of(figure, shipped_limits())
    return shipped_limits().index(found[0]) if found else len(shipped_limits())


@cache
def _pattern(figure: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", lambda found: f"(?P<{found[1]}>{_PLACES[found[1]]})", re.escape(figure)))


def _filled(description: str, places: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: places[found[1]].replace("_", " "), description)
