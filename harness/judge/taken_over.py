"""What a verification took over from earlier ones, and what it therefore did not judge, in sentences; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.base.text import counted
from harness.model.proof import Coverage, Proof
from harness.model.reuse import Origin
from harness.model.runs import RunResult


def reused_sentences(results: Sequence[RunResult], proof: Proof | None, coverage: Coverage | None) -> tuple[str, ...]:
    """Return what was taken over, a sentence for each earlier verification, and how it is made anew."""
    found: dict[str, list[tuple[Origin, str]]] = {}
    for origin, what in _taken_over(results, proof, coverage):
        found.setdefault(origin.made_in, []).append((origin, what))
    return tuple(
        f"Not run again, but taken over from the verification of {min(origin.minute for origin, _ in each)} in "
        f"{made_in}: {'; '.join(what for _, what in each)}. Use --fresh to run everything."
        for made_in, each in found.items()
    )


def costs_judged_before(results: Sequence[RunResult]) -> tuple[str, ...]:
    """Return in which scenarios nothing was held against base's costs, since its runs are those of before."""
    return tuple(
        f"Costs were not judged in {_scenarios(runs)}: the runs of {_arms(runs)} there are from {origin.minute}. "
        f"{counted(_figures(runs), 'figure')} of this same candidate were compared with them then, and none was over "
        "its limit. Use --fresh to judge costs again."
        for origin, runs in _groups(results)
    )


def _taken_over(
    results: Sequence[RunResult], proof: Proof | None, coverage: Coverage | None
) -> Iterator[tuple[Origin, str]]:
    for origin, runs in _groups(results):
        what = f"{counted(len(runs), 'run')} of {_arms(runs)} ({_scenarios(runs)})"
        yield origin, f"{what}, with which no costs are compared"
    if proof and proof.tests.origin:
        tests = counted(proof.tests.count, "test")
        yield proof.tests.origin, f"the comparison of this same jar with base's, and {tests} that passed on it"
    if coverage and coverage.origin:
        yield coverage.origin, "the record of which changed lines are reached"


def _groups(results: Sequence[RunResult]) -> Iterator[tuple[Origin, Sequence[RunResult]]]:
    """Yield the runs that were taken over, by the verification that made them."""
    taken = [(run.origin, run) for run in results if run.origin]
    for made in dict.fromkeys((origin.made_in, origin.made_at) for origin, _ in taken):
        alike = [(origin, run) for origin, run in taken if (origin.made_in, origin.made_at) == made]
        yield alike[0][0], [run for _, run in alike]


def _scenarios(runs: Sequence[RunResult]) -> str:
    return ", ".join(dict.fromkeys(run.scenario for run in runs))


def _arms(runs: Sequence[RunResult]) -> str:
    return ", ".join(dict.fromkeys(run.arm for run in runs))


def _figures(runs: Sequence[RunResult]) -> int:
    """Return how many figures were judged beside these runs: those of a scenario once, which each of its runs names."""
    return sum({run.scenario: run.origin.figures for run in runs if run.origin}.values())
