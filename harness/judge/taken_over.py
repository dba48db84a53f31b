"""What a verification took over from earlier ones, and what it therefore did not judge, in sentences; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.base.text import counted
from harness.model.proof import Coverage, Proof
from harness.model.reuse import Origin
from harness.model.runs import RunResult


def reused_sentences(results: Sequence[RunResult], proof: Proof | None, coverage: Coverage | None) -> tuple[str, ...]:
    """Return what was taken over from earlier verifications of the very same, and how it is made anew."""
    return tuple(f"Not run anew: {what}. --fresh runs it." for what in _taken_over(results, proof, coverage))


def costs_judged_before(results: Sequence[RunResult]) -> tuple[str, ...]:
    """Return in which scenarios nothing was held against base's costs, since its runs are those of before."""
    return tuple(
        f"Costs were not judged in {each.scenarios}: the runs of {each.arms} there are of {each.origin.minute}. "
        f"{counted(each.figures, 'figure')} of this very candidate were held against theirs then, none of which was "
        "over its limit. --fresh judges costs anew."
        for each in _groups(results)
    )


def _taken_over(results: Sequence[RunResult], proof: Proof | None, coverage: Coverage | None) -> Iterator[str]:
    for each in _groups(results):
        runs = counted(len(each.runs), "run")
        yield f"{runs} of {each.arms} ({each.scenarios}), of {_when(each.origin)}; costs are not judged against them"
    if proof and (origin := proof.tests.origin):
        yield f"{counted(proof.tests.count, 'test')}, which passed on this very jar, of {_when(origin)}"
    if coverage and (origin := coverage.origin):
        yield f"which changed lines run, as measured on this very jar, of {_when(origin)}"


def _when(origin: Origin) -> str:
    return f"{origin.minute} in {origin.made_in}"


@dataclass(frozen=True, slots=True)
class _Group:
    """Runs that one earlier verification made."""

    origin: Origin
    runs: tuple[RunResult, ...]

    @property
    def scenarios(self) -> str:
        return ", ".join(dict.fromkeys(run.scenario for run in self.runs))

    @property
    def arms(self) -> str:
        return ", ".join(dict.fromkeys(run.arm for run in self.runs))

    @property
    def figures(self) -> int:
        """How many figures were judged beside these runs: those of a scenario once, which each of its runs names."""
        return sum({run.scenario: run.origin.figures for run in self.runs if run.origin}.values())


def _groups(results: Sequence[RunResult]) -> Iterator[_Group]:
    """Yield the runs that were taken over, by the verification that made them."""
    taken = [(run.origin, run) for run in results if run.origin]
    for made in dict.fromkeys((origin.made_in, origin.made_at) for origin, _ in taken):
        runs = [(origin, run) for origin, run in taken if (origin.made_in, origin.made_at) == made]
        yield _Group(runs[0][0], tuple(run for _, run in runs))
