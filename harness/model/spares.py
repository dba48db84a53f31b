"""A run that ended by a crash which released jars have is asked once more, by a spare repeat that was declared; pure.

docs/adr/0037-a-crash-of-released-jars-is-asked-once-more.md says why that is no trying until it passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.model.declaration import Declaration
from harness.model.outcome_names import KNOWN_CRASH
from harness.model.runs import Outcome, RunKey, RunResult


def ended_by_known_crash(result: RunResult) -> bool:
    """Whether a node of the run ended by a crash that released jars have now and then."""
    return result.outcome is Outcome.INCONCLUSIVE and result.expectation == KNOWN_CRASH


def is_spare(declaration: Declaration, key: RunKey) -> bool:
    """Whether a run is none of the declared repeats but one that asks such a repeat once more."""
    return key.repeat > declaration.repeats


def spares_due(declaration: Declaration, results: Iterable[RunResult]) -> list[RunKey]:
    """Return the spare runs that are to be made; none for a spare, nor where none was declared."""
    return [
        replace(result.key, repeat=declaration.repeats + result.repeat)
        for result in results
        if declaration.has_spares and not is_spare(declaration, result.key) and ended_by_known_crash(result)
    ]


def counting(declaration: Declaration, results: Sequence[RunResult]) -> list[RunResult]:
    """Return the results of what is declared; a spare counts only beside the crash that it was made for."""
    declared = [result for result in results if declaration.declares(result)]
    due = {*spares_due(declaration, declared)}
    return [result for result in declared if not is_spare(declaration, result.key) or result.key in due]


def replaced(declaration: Declaration, results: Sequence[RunResult]) -> frozenset[RunKey]:
    """Return the runs in whose place a spare stands that was decided."""
    decided = {result.key for result in results if result.outcome.is_decided}
    return frozenset(
        replace(key, repeat=key.repeat - declaration.repeats)
        for key in spares_due(declaration, results)
        if key in decided
    )


def in_place(declaration: Declaration, results: Sequence[RunResult]) -> list[RunResult]:
    """Return a result for each declared repeat: a spare that was decided has the number of the run it replaces."""
    more = {result.key for result in beyond(declaration, results)}
    return [_numbered(declaration, result) for result in results if result.key not in more]


def beyond(declaration: Declaration, results: Sequence[RunResult]) -> list[RunResult]:
    """Return the results that stand for no declared repeat: what was replaced, spares that decided nothing."""
    gone = replaced(declaration, results)
    stand = {replace(key, repeat=key.repeat + declaration.repeats) for key in gone}
    return [r for r in results if r.key in gone or (is_spare(declaration, r.key) and r.key not in stand)]


def _numbered(declaration: Declaration, result: RunResult) -> RunResult:
    return replace(result, repeat=(result.repeat - 1) % declaration.repeats + 1)
