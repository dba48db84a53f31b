"""Whether the candidate's nodes have every raft metric that base's have, of the same type, in the same role; pure.

Dashboards and alarms read metrics by their names, and a name that is gone reads as nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.base.text import listed
from harness.model.declaration import Declaration
from harness.model.outcome_names import METRICS_KEPT
from harness.model.runs import RunResult, Verdict
from harness.model.told import role_of
from harness.model.verdict import Reason, ReasonSource

_WHO = {"leader": "the leader", "voter": "voters", "observer": "observers"}
_MOST = 5  # names in a sentence

_Types = Mapping[str, str]  # a metric's type by its name


@dataclass(frozen=True, slots=True)
class _Role:
    """The metrics of an arm's nodes in one role: those that every run has, and those that any has."""

    always: _Types
    ever: _Types


_Roles = Mapping[str, _Role]


def reasons_of_metrics(declaration: Declaration, runs: Sequence[RunResult]) -> tuple[Reason, ...]:
    """Return which arms of the candidate lack metrics of their control, or have them of another type.

    A metric counts that each of the control's runs has and none of the candidate's. Two releases are not compared.
    """
    return tuple(
        Reason(ReasonSource.FIGURES, Verdict.HOLD, None, sentence)
        for control, arm, before, now in _compared(declaration, runs)
        for sentence in (*_gone(control, arm, before, now), *_retyped(control, arm, before, now))
    )


def added_metrics(declaration: Declaration, runs: Sequence[RunResult]) -> tuple[str, ...]:
    """Return in sentences which metrics arms of the candidate have beyond their control's."""
    return tuple(
        f"{arm} has {listed(names, _MOST)} among the raft metrics of {_who(roles)}, which {control} has not."
        for control, arm, before, now in _compared(declaration, runs)
        for roles, names in _by_roles({role: sorted({*now[role].ever} - {*before[role].ever}) for role in now})
    )


def _compared(declaration: Declaration, runs: Sequence[RunResult]) -> Iterator[tuple[str, str, _Roles, _Roles]]:
    """Yield each control and arm with the metrics of the roles in which both were seen."""
    for control, arm in () if declaration.is_of_two_releases else declaration.compared:
        before, now = _roles(runs, control), _roles(runs, arm)
        both = [role for role in _WHO if role in before and role in now]
        yield control, arm, {role: before[role] for role in both}, {role: now[role] for role in both}


def _roles(runs: Sequence[RunResult], arm: str) -> _Roles:
    told = [each for run in runs if run.arm == arm for each in run.told.items()]
    by_role = {role: [types for subject, types in told if role_of(subject) == role] for role in _WHO}
    return {role: _role(of_runs) for role, of_runs in by_role.items() if of_runs}


def _role(of_runs: Sequence[_Types]) -> _Role:
    ever = {name: kind for types in of_runs for name, kind in types.items()}
    return _Role({name: kind for name, kind in ever.items() if all(name in types for types in of_runs)}, ever)


def _gone(control: str, arm: str, before: _Roles, now: _Roles) -> Iterator[str]:
    lost = {role: sorted({*before[role].always} - {*now[role].ever}) for role in now}
    for roles, names in _by_roles(lost):
        yield (
            f"{METRICS_KEPT}: {arm} lacks {listed(names, _MOST)} among the raft metrics of {_who(roles)}, which "
            f"{control} has: what reads them finds nothing"
        )


def _retyped(control: str, arm: str, before: _Roles, now: _Roles) -> Iterator[str]:
    other = {
        role: [
            f"{name} ({kind}, now {now[role].ever[name]})"
            for name, kind in sorted(before[role].always.items())
            if now[role].ever.get(name, kind) != kind
        ]
        for role in now
    }
    for roles, names in _by_roles(other):
        yield (
            f"{METRICS_KEPT}: raft metrics of {_who(roles)} are of another type on {arm} than on {control}: "
            f"{listed(names, _MOST)}"
        )


def _by_roles(names: Mapping[str, Sequence[str]]) -> Iterator[tuple[list[str], Sequence[str]]]:
    """Yield the roles that have the same names, with these; none that has no name."""
    for each in dict.fromkeys(tuple(found) for found in names.values() if found):
        yield [role for role, found in names.items() if tuple(found) == each], each


def _who(roles: Sequence[str]) -> str:
    return listed([_WHO[role] for role in roles], len(_WHO))
