"""Runs that were asked once more, and what is no excuse for a candidate to which it happens again and again; pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from harness.base.chance import chance_of_so_many
from harness.base.text import counted, listed
from harness.model.declaration import Declaration
from harness.model.outcome_names import KNOWN_CRASH
from harness.model.runs import Outcome, RunKey, RunResult, Verdict
from harness.model.spares import ended_by_known_crash, is_spare, lost_its_harness, missed_a_guard, was_spoiled_by_host
from harness.model.verdict import CellOutcome, Reason, ReasonSource

_ONE_IN = 50  # changes of the voter set; 200 on a quiet host: docs/upstream/leader-ends-at-late-acknowledgement.md
_CHANCE = 1e-3
_VOTER_SETS = "voter_sets_written"
_CHANCE_OF_MISSES = 1 / 8  # of three misses all fall to one of two arms
_MOST_NAMED = 5


def reasons_of_what_was_asked_again(
    declaration: Declaration, shown: Sequence[RunResult], again: Collection[RunKey]
) -> tuple[Reason, ...]:
    """Return what happens to the candidate again and again, and to base in no run, although spares stand for it.

    `shown` are all runs that count, spares among them, and `again` those in whose place a spare stands.
    """
    return (*_crashes(declaration, shown), *_misses(declaration, shown, again))


def _crashes(declaration: Declaration, shown: Sequence[RunResult]) -> Iterator[Reason]:
    """Yield that the candidate ends by a crash of released jars more often than they do.

    They end so in one of 200 removals of a voter, and oftener where requests take longer: here one of 50 counts. By
    chance k of n removals do with less than (n over k)/50^k. What is rarer than one verification in a thousand, and
    happened to no run of base, is no chance. Removals are at most the changes of the voter set: with three of them or
    more it takes three crashes, with eleven a fourth. A first start that loses its voters is rarer still.

    It is none either where so many of all these ends of declared runs fall to the candidate less than once in a
    thousand; where they do so once in eight, that is a question.
    """
    base = [run for run in shown if run.role.is_control]
    mine = [run for run in shown if not run.role.is_control]
    ended, theirs = ([run for run in runs if ended_by_known_crash(run)] for runs in (mine, base))
    if not (base and ended):
        return
    is_rare = math.comb(sum(map(_changes, mine)), len(ended)) / _ONE_IN ** len(ended) < _CHANCE and not theirs
    chance = chance_of_so_many(*_of_declared(declaration, mine), *_of_declared(declaration, base))
    if is_rare or chance <= _CHANCE_OF_MISSES:
        sentence = (
            f"{KNOWN_CRASH}: {len(ended)} of {counted(len(mine), 'run')} of the candidate ended with a crash that "
            f"released jars have now and then ({_named(ended)}), but {len(theirs) or 'none'} of "
            f"{counted(len(base), 'run')} of base: {ended[0].reason}"
        )
        weight = Verdict.HOLD if is_rare or chance < _CHANCE else Verdict.INCONCLUSIVE
        yield Reason(ReasonSource.FIGURES, weight, None, sentence)


def _of_declared(declaration: Declaration, runs: Sequence[RunResult]) -> tuple[int, int]:
    """Return how many of the runs that are no spares ended by a known crash, and how many there are."""
    declared = [run for run in runs if not is_spare(declaration, run.key)]
    return sum(map(ended_by_known_crash, declared)), len(declared)


def _changes(run: RunResult) -> int:
    """Return how often the voter set of a run was changed; the first set of a log is none. One that crashed did so."""
    return max(int(run.measures.get(_VOTER_SETS, 0)) - 1, int(ended_by_known_crash(run)))


def _misses(declaration: Declaration, shown: Sequence[RunResult], again: Collection[RunKey]) -> Iterator[Reason]:
    """Yield arms that missed guards again and again, each run replaced by its spare, and their control far less often.

    Those of scenarios count that the control passed: who fails before a guard does not miss it. All misses of the
    control count beside them. Three to none fall so by chance once in eight, and five to one: no more than a question.
    """
    for control, arm in declaration.compared:
        of_control = [run for run in shown if run.arm == control]
        passed = {run.scenario for run in of_control} - {each.scenario for each in of_control if not _passed(each)}
        missed = [run for run in shown if run.arm == arm and run.key in again and _did_not_ask(run)]
        beside = [run for run in missed if run.scenario in passed]
        if _by_chance(len(beside), sum(map(_did_not_ask, of_control))) <= _CHANCE_OF_MISSES:
            guards = listed(sorted({run.expectation for run in beside}), _MOST_NAMED)
            sentence = (
                f"{arm} did not reach its question ({guards}) in {len(beside)} runs that were made again "
                f"({_named(beside)}), while {control} passed all of its own runs there."
            )
            yield Reason(ReasonSource.FIGURES, Verdict.INCONCLUSIVE, None, sentence)


def _did_not_ask(run: RunResult) -> bool:
    """Whether it missed a guard; or clients' library crashed, as it does by what brokers answer."""
    return missed_a_guard(run) or lost_its_harness(run)


def _by_chance(mine: int, others: int) -> float:
    """Return how likely it is that of all misses so many or more fall to one of two arms that miss alike."""
    count = mine + others
    return math.ldexp(sum(math.comb(count, each) for each in range(mine, count + 1)), -count)


def _passed(run: RunResult) -> bool:
    return run.outcome is Outcome.PASSED


def _named(runs: Sequence[RunResult]) -> str:
    return listed([f"{run.scenario} on {run.arm}, repeat {run.repeat}" for run in runs], _MOST_NAMED)


def with_more_runs(cell: CellOutcome, more: Sequence[RunResult]) -> CellOutcome:
    """Return a cell that counts runs as well which do not make it: what was asked again, a spare that shows nothing."""
    alike = sum((str(run.outcome), run.expectation) == (str(cell.state), cell.expectation) for run in more)
    return replace(cell, agreeing=cell.agreeing + alike, declared=cell.declared + len(more))


def asked_again(replaced: Collection[RunKey], results: Sequence[RunResult], repeats: int) -> tuple[str, ...]:
    """Return in sentences which runs of `repeats` were asked once more, and what the spare showed."""
    shown = {result.key: result for result in results}
    return tuple(
        f"{run.scenario} on {run.arm}, repeat {run.repeat}, {_ended(run)} and was run "
        f"once more: {shown[replace(run.key, repeat=run.repeat + repeats)].label}. Reason for the rerun: {run.reason}"
        for run in results
        if run.key in replaced
    )


def _ended(run: RunResult) -> str:
    if ended_by_known_crash(run):
        return "ended with a crash that released jars have too"
    if was_spoiled_by_host(run):
        return "was spoiled by the host"
    if lost_its_harness(run):
        return "ended with a crash of the harness"
    return f"did not reach its question ({run.expectation})"
