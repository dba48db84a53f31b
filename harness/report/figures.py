"""Figures of runs in words: those that a cell of the matrix shows at a glance, and the table of all; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Figures = Mapping[str, float]

_OF_CLIENTS = "_records"  # a client's records; of others its transactions, or the topics that it created
_INLINE_SECONDS = ("observer_recovers_seconds", "longest_stall_seconds")


def inline_figures(runs: Sequence[Figures]) -> tuple[str, ...]:
    """Return how long recovery and the longest stall took, and how many records were lost, over all repeats."""
    seconds = (_seconds(name, [run[name] for run in runs if name in run]) for name in _INLINE_SECONDS)
    return tuple(
        filter(None, (*seconds, _lost([run for run in runs if run.keys() >= {"lost_records", "acked_records"}])))
    )


def describe(name: str) -> str:
    """Return a measure's name with its unit apart: `longest_stall_seconds` is `longest stall (s)`."""
    stem = name.removesuffix("_seconds")
    what = f"{stem.removesuffix(_OF_CLIENTS)} writes" if stem.endswith(_OF_CLIENTS) else stem
    return _spaced(what) + (" (s)" if stem != name else "")


def figure(value: float | None) -> str:
    """Return a figure as the table shows it."""
    return "–" if value is None else f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"


def _seconds(name: str, values: Sequence[float]) -> str:
    """Return the span of a measure over the repeats that have it."""
    if not values:
        return ""
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    span = low if low == high else f"{low} to {high}"
    return f"{_spaced(name.removesuffix('_seconds'))} {span} s"


def _lost(runs: Sequence[Figures]) -> str:
    """Return what became of all that was acknowledged in the repeats that kept a ledger."""
    lost, acked = (sum(run[name] for run in runs) for name in ("lost_records", "acked_records"))
    return f"{lost:.0f} of {acked:.0f} acked writes lost" if runs else ""


def _spaced(name: str) -> str:
    return name.replace("_", " ")
