"""Whether the candidate's nodes have every raft metric that base's have, of the same type, in the same role; pure.

Dashboards and alarms read metrics by their names, and a name that is gone reads as nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.text import listed
from harness.model.declaration import Declaration
from harness.model.outcome_names import METRICS_KEPT
from harness.model.runs import Outcome, RunResult, Verdict
from harness.model.told import TEXT, most_usual, role_of
from harness.model.verdict import Reason, ReasonSource

WHO = {"leader": "the leader", "voter": "voters", "observer": "observers"}
MOST_NAMES = 5  # names in a sentence

_Types = Mapping[str, str]  # a metric's type by its name


@dataclass(frozen=True, slots=True)
class _Role:
    """The metrics of an arm's nodes in one role: those that every run has, and those that any has."""

    always: _Types
    ever: _Types


_Roles = Mapping[str, _Role]


def reasons_of_metrics(declaration: Declaration, runs: Sequence[RunResult]) -> tuple[Reason, ...]:
    """Return which arms of the candidate lack metrics of their control, or have text for a number or the reverse.

    A metric counts that each of the control's runs has and none of the candidate's. Two releases are not compared.
    """
    of_roles = (
        sentence
        for control, arm, before, now in _compared(declaration, runs)
        for sentence in (*_gone(control, arm, before, now), *_retyped(control, arm, before, now))
    )
    sentences = (*_untold(declaration, runs), *of_roles)
    return tuple(Reason(ReasonSource.FIGURES, Verdict.HOLD, None, sentence) for sentence in sentences)


def other_metrics(declaration: Declaration, runs: Sequence[RunResult]) -> tuple[str, ...]:
    """Return in sentences which metrics arms of the candidate have beyond their control's, or as another number."""
    return tuple(
        sentence
        for control, arm, before, now in _compared(declaration, runs)
        for sentence in (*_added(control, arm, before, now), *_renumbered(control, arm, before, now))
    )


def _untold(declaration: Declaration, runs: Sequence[RunResult]) -> Iterator[str]:
    """Yield the roles of which a candidate's nodes never tell a metric, and each run of the control does."""
    for control, arm in () if declaration.is_of_two_releases else declaration.compared:
        now = _roles(runs, arm)
        has_passed = any(run.arm == arm and run.outcome is Outcome.PASSED for run in runs)
        theirs = [run for run in runs if run.arm == control] if has_passed else []
        for role in (each for each in WHO if each not in now):
            if theirs and all(role in map(role_of, run.told) for run in theirs):
                yield (
                    f"{METRICS_KEPT}: {arm} tells no raft metrics of {WHO[role]}, and {control} does in every run: "
                    "tools that read them find nothing"
                )


def _compared(declaration: Declaration, runs: Sequence[RunResult]) -> Iterator[tuple[str, str, _Roles, _Roles]]:
    """Yield each control and arm with the metrics of the roles in which both were seen."""
    for control, arm in () if declaration.is_of_two_releases else declaration.compared:
        before, now = _told_alike(runs, control, arm), _told_alike(runs, arm, control)
        both = [role for role in WHO if role in before and role in now]
        yield control, arm, {role: before[role] for role in both}, {role: now[role] for role in both}


def _told_alike(runs: Sequence[RunResult], arm: str, other: str) -> _Roles:
    """Return the metrics of an arm's roles, each of those scenarios in which the other arm told of that role too."""
    of_others = {(run.scenario, role_of(subject)) for run in runs if run.arm == other for subject in run.told}

    def shared(run: RunResult) -> RunResult:
        told = {each: types for each, types in run.told.items() if (run.scenario, role_of(each)) in of_others}
        return replace(run, told=told)

    return _roles([shared(run) for run in runs], arm)


def _roles(runs: Sequence[RunResult], arm: str) -> _Roles:
    told = [each for run in runs if run.arm == arm for each in run.told.items()]
    by_role = {role: [types for subject, types in told if role_of(subject) == role] for role in WHO}
    return {role: _role(of_runs) for role, of_runs in by_role.items() if of_runs}


def _role(of_runs: Sequence[_Types]) -> _Role:
    ever = most_usual(of_runs)
    return _Role({name: kind for name, kind in ever.items() if all(name in types for types in of_runs)}, ever)


def _gone(control: str, arm: str, before: _Roles, now: _Roles) -> Iterator[str]:
    lost = {role: sorted({*before[role].always} - {*now[role].ever}) for role in now}
    for roles, names in by_roles(lost):
        yield (
            f"{METRICS_KEPT}: {arm} lacks {listed(names, MOST_NAMES)} among the raft metrics of {who(roles)}, which "
            f"{control} has: tools that read them find nothing"
        )


def _added(control: str, arm: str, before: _Roles, now: _Roles) -> Iterator[str]:
    for roles, names in by_roles({role: sorted({*now[role].ever} - {*before[role].ever}) for role in now}):
        yield f"{arm} has {listed(names, MOST_NAMES)} among the raft metrics of {who(roles)}, which {control} lacks."


def _retyped(control: str, arm: str, before: _Roles, now: _Roles) -> Iterator[str]:
    for roles, names in by_roles({role: _of_another_type(before[role], now[role], weighs=True) for role in now}):
        yield (
            f"{METRICS_KEPT}: raft metrics of {who(roles)} are of another type on {arm} than on {control}: "
            f"{listed(names, MOST_NAMES)}"
        )


def _renumbered(control: str, arm: str, before: _Roles, now: _Roles) -> Iterator[str]:
    for roles, names in by_roles({role: _of_another_type(before[role], now[role], weighs=False) for role in now}):
        yield (
            f"Raft metrics of {who(roles)} have other number types on {arm} than on {control}: "
            f"{listed(names, MOST_NAMES)}."
        )


def _of_another_type(before: _Role, now: _Role, *, weighs: bool) -> list[str]:
    """Return the metrics of another type; what reads a whole number reads a decimal one too, and no text."""
    changed = [(name, kind, now.ever.get(name, kind)) for name, kind in sorted(before.always.items())]
    return [
        f"{name} ({was}, now {is_now})"
        for name, was, is_now in changed
        if was != is_now and (TEXT in (was, is_now)) is weighs
    ]


def by_roles(names: Mapping[str, Sequence[str]]) -> Iterator[tuple[list[str], Sequence[str]]]:
    """Yield the roles that have the same names, with these; none that has no name."""
    for each in dict.fromkeys(tuple(found) for found in names.values() if found):
        yield [role for role, found in names.items() if tuple(found) == each], each


def who(roles: Sequence[str]) -> str:
    """Return in words whose metrics those of some roles are."""
    return listed([WHO[role] for role in roles], len(WHO))
