"""What a candidate costs beside base, and the limits by which that is judged."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.json_schema import Text

EVERYWHERE = "all scenarios"


@dataclass(frozen=True, slots=True)
class CostLimit:
    """How much more than base a figure may be; one row of `harness/judge/costs/limits.toml`.

    `figure` is the figure's name, with `{role}` for `leader`, `voter` (one that does not lead) or `observer`, `{kind}`
    for `voter` (any) or `observer`, and `{window}` for the name of a measured window; `description` says in words what
    it is, in `unit`. A candidate is over the limit where the figure is `least` more than base's and `ratio` times it.
    `reason` says where both numbers come from. With `any_outcome` runs are compared that ended differently, by the
    phases that both reached. With `waits` the figure is wall time, which says nothing where the host held nodes back.
    `everywhere` is how much more than base the median of many scenarios may be, 0 where that is not asked. A
    `level` is what each release has its own of (threads, descriptors, heap): between two it is shown and not judged.
    What `may_lack` a run may be without through no fault of the jar: elections let no node have the role for long, no
    leader went, a node on a busy host did not collect its heap in time. `where_absent` is what a run has that does not
    show the figure, because what it measures did not happen there.
    """

    figure: Text
    description: Text
    unit: str
    least: float
    ratio: float
    reason: Text
    any_outcome: bool = False
    waits: bool = False
    everywhere: float = 0.0
    level: bool = False
    may_lack: bool = False
    where_absent: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """A figure of a scenario on an arm beside its control, in the middle one of the rounds in which both have it.

    `figure` is the figure's name, `description` what it is. `over` says whether it is over the limit `allowed` (the
    most that base's value lets the candidate have), in more than half of the `rounds`; of `unjudged` ones beside them
    nothing could be said. `not_judged` says why that holds for all, empty where it does not; `candidate` is None where
    no run of it has the figure. Where `scenario` is EVERYWHERE the rounds are scenarios, `base` is the median of
    theirs, and the candidate has the median of their differences more.
    """

    scenario: Text
    arm: Text
    control: Text
    figure: Text
    description: Text
    unit: str
    base: float
    candidate: float | None
    allowed: float
    over: bool
    rounds: int = 1
    not_judged: str = ""
    unjudged: int = 0
