"""Folding the declared repeats of one scenario on one arm into one cell of the matrix; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.model.outcome_names import SAYS_NOTHING_OF_THE_BUILD
from harness.model.runs import Outcome, RunResult
from harness.model.verdict import CellOutcome, CellState

_Shown = tuple[Outcome, str]  # an outcome, with the name of what failed or of the guard that was unmet


def missing_cell(declared: int, reason: str) -> CellOutcome:
    """Return the cell of something that was declared and has no result."""
    return CellOutcome(CellState.MISSING, reason=reason, declared=declared)


def fold_repeats(results: Sequence[RunResult], declared: int) -> CellOutcome:
    """Fold the results of one cell; every declared repeat counts.

    Repeats that passed and failed, or failed by two names, are UNSTABLE. A repeat that could not be decided among
    others makes the cell INCONCLUSIVE with the count: it says nothing against those that were decided. A missing
    repeat makes it MISSING, unless the repeats that ran already contradict each other.
    """
    showed = Counter((r.outcome, _name(r)) for r in results)
    decided = [what for what in showed if what[0].is_decided]
    absent = sorted(set(range(1, declared + 1)) - {r.repeat for r in results})
    if len(decided) > 1:
        return _unstable(showed, declared)
    if absent:
        return missing_cell(declared, f"no result for repeat {', '.join(map(str, absent))} of {declared}")
    if len(showed) > 1:
        return _partly_undecided(results, showed, declared)
    first = results[0]
    state = CellState(first.outcome.value)
    return CellOutcome(state, first.expectation, first.reason, len(results), declared)


def missed_its_guard(cell: CellOutcome) -> bool:
    """Return whether every repeat of the cell ended at an unmet guard of the scenario."""
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


def _unstable(showed: Counter[_Shown], declared: int) -> CellOutcome:
    ordered = _most_frequent_first(showed)
    counts = ", ".join(f"{count} × {_label(what)}" for what, count in ordered)
    return CellOutcome(CellState.UNSTABLE, "", f"repeats differ: {counts}", ordered[0][1], declared)


def _partly_undecided(results: Sequence[RunResult], showed: Counter[_Shown], declared: int) -> CellOutcome:
    (first, many), *rest = sorted(_most_frequent_first(showed), key=lambda item: not item[0][0].is_decided)
    counts = ", ".join((f"{many} of {declared} repeats {_did(first)}", *(f"{n} {_did(what)}" for what, n in rest)))
    why = next((r.reason for r in results if not r.outcome.is_decided and r.reason), "")
    return CellOutcome(
        CellState.INCONCLUSIVE,
        first[1] if all(_missed_a_guard(what) for what in showed) else "",
        f"{counts}: {why}" if why else counts,
        max(showed.values()),
        declared,
        failed=next((name for outcome, name in showed if outcome is Outcome.FAILED), ""),
    )


def _most_frequent_first(showed: Counter[_Shown]) -> list[tuple[_Shown, int]]:
    return sorted(showed.items(), key=lambda item: (-item[1], item[0]))


def _missed_a_guard(what: _Shown) -> bool:
    outcome, name = what
    return outcome is Outcome.INCONCLUSIVE and _is_of_the_scenario(name)


def _did(what: _Shown) -> str:
    outcome, name = what
    match outcome:
        case Outcome.PASSED:
            return "passed"
        case Outcome.FAILED:
            return f"failed {name}"
        case Outcome.INCONCLUSIVE:
            return f"missed the guard {name}" if _is_of_the_scenario(name) else f"could not be tested ({name})"
        case Outcome.BROKEN:
            return "broke because of the harness or the host"
        case Outcome.UNSUPPORTED:
            return "could not be run on this host"


def _label(what: _Shown) -> str:
    outcome, name = what
    return f"{outcome}({name})" if name else str(outcome)
