"""A run that did not come to an answer is asked once more, by a spare repeat that was declared; pure.

docs/adr/0037-a-crash-of-released-jars-is-asked-once-more.md says why that is no trying until it passes, and decisions
40 and 41 why a missed guard, and a run that the host spoiled, are like it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from harness.model.declaration import Declaration
from harness.model.outcome_names import HARNESS_ALIVE, HOST_NOT_STARVED, KNOWN_CRASH, SAYS_NOTHING_OF_THE_BUILD
from harness.model.runs import Outcome, RunKey, RunResult

_MOST_SPOILED = 4  # one round in so many


def ended_by_known_crash(result: RunResult) -> bool:
    """Whether a node of the run ended by a crash that released jars have now and then."""
    return result.outcome is Outcome.INCONCLUSIVE and result.expectation == KNOWN_CRASH


def missed_a_guard(result: RunResult) -> bool:
    """Whether the run did not come to its question, for a reason that is neither the harness's nor the host's."""
    is_undecided = result.outcome is Outcome.INCONCLUSIVE and result.expectation != ""
    return is_undecided and result.expectation not in SAYS_NOTHING_OF_THE_BUILD


def was_spoiled_by_host(result: RunResult) -> bool:
    """Whether the host kept the run from its answer."""
    return result.outcome is Outcome.INCONCLUSIVE and result.expectation == HOST_NOT_STARVED


def lost_its_harness(result: RunResult) -> bool:
    """Whether the process in which the harness ran the scenario crashed."""
    return result.outcome is Outcome.BROKEN and result.expectation == HARNESS_ALIVE


def is_spare(declaration: Declaration, key: RunKey) -> bool:
    """Whether a run is none of the declared repeats but one that asks such a repeat once more."""
    return key.repeat > declaration.repeats


def spares_due(declaration: Declaration, results: Iterable[RunResult]) -> list[RunKey]:
    """Return the spare runs that may stand for a run; none for a spare, nor where none was declared."""
    return [
        replace(result.key, repeat=declaration.repeats + result.repeat)
        for result in results
        if declaration.has_spares and not is_spare(declaration, result.key) and is_asked_again(result)
    ]


def spares_worth_running(declaration: Declaration, results: Sequence[RunResult]) -> list[RunKey]:
    """Return the spare runs that are to be made; a host that spoiled many rounds would spoil the spares too.

    So would one without memory, which kills the harness's processes.

    A round is what the arms of a scenario run side by side: one moment of the host can spoil all of it.
    """
    spoiled = _rounds(filter(_was_spoiled, results))
    if len(spoiled) > max(1, len(_rounds(results)) // _MOST_SPOILED):
        results = [result for result in results if not _was_spoiled(result)]
    return spares_due(declaration, results)


def _was_spoiled(result: RunResult) -> bool:
    return was_spoiled_by_host(result) or lost_its_harness(result)


def _rounds(results: Iterable[RunResult]) -> set[tuple[str, int]]:
    return {(result.scenario, result.repeat) for result in results}


def counting(
    declaration: Declaration, results: Sequence[RunResult], others: Collection[RunKey] = ()
) -> list[RunResult]:
    """Return the results of what is declared; a spare counts only beside the run that it was made for.

    `others` are spares that are made for another reason than that a run did not come to an answer.
    """
    declared = [result for result in results if declaration.declares(result)]
    due = {*spares_due(declaration, declared), *others}
    return [result for result in declared if not is_spare(declaration, result.key) or result.key in due]


def replaced(declaration: Declaration, results: Sequence[RunResult]) -> frozenset[RunKey]:
    """Return the runs in whose place a spare stands."""
    shown = {result.key: result for result in results}
    asked = {replace(key, repeat=key.repeat - declaration.repeats): key for key in spares_due(declaration, results)}
    return frozenset(first for first, spare in asked.items() if spare in shown and _stands(shown[spare], shown[first]))


def _stands(spare: RunResult, first: RunResult) -> bool:
    """Whether a spare says more than the run that it was made for: that a guard is always missed needs another miss."""
    return spare.outcome.is_decided or (missed_a_guard(first) and not missed_a_guard(spare))


def is_asked_again(result: RunResult) -> bool:
    """Whether the run did not come to an answer, by what may well be otherwise the next time."""
    return any(by(result) for by in (ended_by_known_crash, missed_a_guard, was_spoiled_by_host, lost_its_harness))


def in_place(declaration: Declaration, results: Sequence[RunResult]) -> list[RunResult]:
    """Return a result for each declared repeat: a spare that says more has the number of the run it replaces."""
    more = {result.key for result in beyond(declaration, results)}
    return [_numbered(declaration, result) for result in results if result.key not in more]


def without_a_say(declaration: Declaration, results: Sequence[RunResult]) -> frozenset[RunKey]:
    """Return the runs whose logs say nothing: what is not declared, or `beyond` it as a second round of costs is."""
    declared = [result for result in results if declaration.declares(result)]
    return frozenset({result.key for result in results} - {result.key for result in declared}).union(
        result.key for result in beyond(declaration, declared)
    )


def beyond(declaration: Declaration, results: Sequence[RunResult]) -> list[RunResult]:
    """Return the results that stand for no declared repeat: what was replaced, spares that say no more."""
    gone = replaced(declaration, results)
    stand = {replace(key, repeat=key.repeat + declaration.repeats) for key in gone}
    return [r for r in results if r.key in gone or (is_spare(declaration, r.key) and r.key not in stand)]


def _numbered(declaration: Declaration, result: RunResult) -> RunResult:
    return replace(result, repeat=(result.repeat - 1) % declaration.repeats + 1)
