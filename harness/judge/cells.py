"""Folding the declared repeats of one scenario on one arm into one cell of the matrix; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.model.outcome_names import SAYS_NOTHING_OF_THE_BUILD
from harness.model.runs import Outcome, RunResult
from harness.model.verdict import CellOutcome, CellState


def missing_cell(declared: int, reason: str) -> CellOutcome:
    """Return the cell of something that was declared and has no result."""
    return CellOutcome(CellState.MISSING, reason=reason, declared=declared)


def fold_repeats(results: Sequence[RunResult], declared: int) -> CellOutcome:
    """Fold the results of one cell; every declared repeat counts, and repeats that differ are UNSTABLE.

    A missing repeat makes the cell MISSING, unless the repeats that ran already contradict each other.
    """
    showed = Counter((r.outcome, _name(r)) for r in results)
    absent = sorted(set(range(1, declared + 1)) - {r.repeat for r in results})
    if _contradict(results):
        return _unstable(showed, declared, contradicts=True)
    if absent:
        return missing_cell(declared, f"no result for repeat {', '.join(map(str, absent))} of {declared}")
    if len(showed) > 1:
        return _unstable(showed, declared, contradicts=False)
    first = results[0]
    state = CellState(first.outcome.value)
    return CellOutcome(state, first.expectation, first.reason, len(results), declared)


def missed_its_guard(cell: CellOutcome) -> bool:
    """Return whether every repeat of the cell ended at one and the same unmet guard of the scenario."""
    return cell.state is CellState.INCONCLUSIVE and _is_of_the_scenario(cell.expectation)


def _is_of_the_scenario(name: str) -> bool:
    """Return whether `name` is a guard or an action of the scenario, rather than harness or host failing."""
    return name != "" and name not in SAYS_NOTHING_OF_THE_BUILD


def _name(result: RunResult) -> str:
    """Return what distinguishes this result from others of the same outcome."""
    match result.outcome:
        case Outcome.FAILED | Outcome.INCONCLUSIVE:
            return result.expectation
        case Outcome.PASSED | Outcome.BROKEN | Outcome.UNSUPPORTED:
            return ""


def _contradict(results: Iterable[RunResult]) -> bool:
    return len({(r.outcome, _name(r)) for r in results if _speaks_of_the_build(r)}) > 1


def _speaks_of_the_build(result: RunResult) -> bool:
    """Return whether the build can be the cause of the result; what harness or host failed to test says nothing."""
    match result.outcome:
        case Outcome.PASSED | Outcome.FAILED:
            return True
        case Outcome.INCONCLUSIVE:
            return _is_of_the_scenario(result.expectation)
        case Outcome.BROKEN | Outcome.UNSUPPORTED:
            return False


def _unstable(showed: Counter[tuple[Outcome, str]], declared: int, *, contradicts: bool) -> CellOutcome:
    ordered = sorted(showed.items(), key=lambda item: (-item[1], item[0]))
    counts = ", ".join(f"{count} × {_label(what)}" for what, count in ordered)
    return CellOutcome(CellState.UNSTABLE, "", f"repeats differ: {counts}", ordered[0][1], declared, contradicts)


def _label(what: tuple[Outcome, str]) -> str:
    outcome, name = what
    return f"{outcome}({name})" if name else str(outcome)
