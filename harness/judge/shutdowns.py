"""Whether the candidate's nodes end on SIGTERM where base's do; pure.

Nodes are compared by what they are (a voter, an observer) and by when they were asked to stop: in a phase of the plan,
or after it. A kind of node that hangs on base as well hangs by the scenario, such as an observer that lost its quorum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from harness.judge.went_alike import runs_of_control, went_alike
from harness.model.declaration import Declaration
from harness.model.outcome_names import STOPS_ON_SIGTERM
from harness.model.runs import AT_THE_END, Outcome, RunResult, Shutdown

_Asked = tuple[str, str]  # the kind of node, and the phase


def judge_shutdowns(declaration: Declaration, results: Sequence[RunResult]) -> list[RunResult]:
    """Return the results; a candidate's run that did what base's did has failed where its nodes do not end as base's.

    A run that already failed otherwise than base did keeps its name.
    """
    return [_judged(declaration, result, results) for result in results]


def _judged(declaration: Declaration, result: RunResult, results: Sequence[RunResult]) -> RunResult:
    base = runs_of_control(declaration, result, results)
    mine = [each for each in results if (each.scenario, each.arm) == (result.scenario, result.arm)]
    reason = ignores_sigterm(base, mine) if base and went_alike(result, base) else ""
    failed = replace(result, outcome=Outcome.FAILED, expectation=STOPS_ON_SIGTERM, reason=reason)
    return failed if reason else result


def ignores_sigterm(base: Sequence[RunResult], candidate: Sequence[RunResult]) -> str:
    """Return which of the candidate's nodes did not end on SIGTERM in any repeat, and base's did in every one.

    Of several nodes all hang, or in each of several repeats one: what one of them did once may be chance.

    Empty where there is none.
    """
    before, now = [_by_kind(run) for run in base], [_by_kind(run) for run in candidate]
    for asked in sorted({asked for run in now for asked in run}):
        ended = _all_of(before, asked)
        hung = [[each for each in run.get(asked, ()) if not each.ended] for run in now]
        is_sure = len(now) > 1 or len(hung[0]) == len(now[0].get(asked, ()))
        all_end = bool(before) and all(run.get(asked) for run in before) and all(each.ended for each in ended)
        if all_end and all(hung) and is_sure:
            return _sentence(asked, ended, [each for of_run in hung for each in of_run])
    return ""


def _by_kind(run: RunResult) -> Mapping[_Asked, list[Shutdown]]:
    found: dict[_Asked, list[Shutdown]] = defaultdict(list)
    for each in run.shutdowns:
        found[each.node_role, each.phase].append(each)
    return dict(found)


def _all_of(runs: Iterable[Mapping[_Asked, list[Shutdown]]], asked: _Asked) -> list[Shutdown]:
    return [each for run in runs for each in run.get(asked, ())]


def _sentence(asked: _Asked, ended: Sequence[Shutdown], hung: Sequence[Shutdown]) -> str:
    role, phase = asked
    when = "at the end of the run" if phase == AT_THE_END else f"in phase “{phase}”"
    nodes = sorted({each.node for each in hung})
    who = f"{role} {nodes[0]}" if len(nodes) == 1 else f"the {role}s {', '.join(map(str, nodes))}"
    return (
        f"{who} did not end within {max(each.seconds for each in hung):.0f} s of SIGTERM {when} and had to be killed; "
        f"on base every {role} ends within {max(each.seconds for each in ended):.1f} s"
    )
