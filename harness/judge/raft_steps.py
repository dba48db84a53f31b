"""Whether what the candidate's nodes log of their states could be read, which the rules of Raft judge them by; pure.

The rules read what the raft package logs at DEBUG (harness/cluster/conformance). Of a jar that says it in other words
they judge less, and nothing else would tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.base.text import listed
from harness.judge.went_alike import runs_of_control
from harness.model.declaration import Declaration
from harness.model.runs import RunResult

_STEPS = "raft_steps_judged"
_MOST_NAMED = 5


def steps_not_read(declaration: Declaration, results: Sequence[RunResult]) -> tuple[str, ...]:
    """Return in a sentence in which scenarios no step was read of the candidate, where base's were in every run."""
    blind = [
        result
        for result in results
        if result.outcome.is_decided
        and result.measures.get(_STEPS) == 0
        and (base := runs_of_control(declaration, result, results))
        and all(run.measures.get(_STEPS) for run in base)
    ]
    if not blind:
        return ()
    arms, scenarios = (listed([*dict.fromkeys(each)], _MOST_NAMED) for each in zip(*map(_cell, blind), strict=True))
    return (
        f"The rules of Raft judged no state changes of {arms} in {scenarios}: its nodes log them in words that the "
        "harness does not know.",
    )


def _cell(result: RunResult) -> tuple[str, str]:
    return result.arm, result.scenario
