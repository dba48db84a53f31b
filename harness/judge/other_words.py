"""Refusals that the candidate words otherwise than base: operators and tools read them; shown, and no fault; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.model.declaration import Declaration
from harness.model.runs import RunResult
from harness.model.told import REFUSALS


def refusals_in_other_words(declaration: Declaration, runs: Sequence[RunResult]) -> tuple[str, ...]:
    """Return in sentences what the candidate refuses in words that base never uses. Two releases are not compared."""
    compared = () if declaration.is_of_two_releases else declaration.compared
    return tuple(sentence for control, arm in compared for sentence in _differing(control, arm, runs))


def _differing(control: str, arm: str, runs: Sequence[RunResult]) -> Iterator[str]:
    before, now = _refusals(control, runs), _refusals(arm, runs)
    for asked in sorted(before.keys() & now.keys()):
        if not before[asked] & now[asked]:
            yield f"{arm} answers “{asked}” by “{min(now[asked])}”, and {control} by “{min(before[asked])}”."


def _refusals(arm: str, runs: Sequence[RunResult]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for run in runs:
        if run.arm == arm:
            for asked, text in run.told.get(REFUSALS, {}).items():
                found.setdefault(asked, set()).add(text)
    return found
