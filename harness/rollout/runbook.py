"""What an operator does on the real cluster, in the turns and with the checks of the rehearsal, as a record; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from harness.model.features import FeaturePlan
from harness.model.rollout import Rehearsal, RolloutOutcome, RolloutVerdict, Turn
from harness.rollout.finalising import downgrade_command, upgrade_command
from harness.rollout.health import AFTER, BEFORE, RollCheck
from harness.rollout.nodes import BROKER, First
from harness.rollout.rehearsals import BACK, FINALISED, FORWARD, FORWARD_AND_BACK, RESTART_FINALISED

HOME = "/opt/kafka"
_BROKERS, _CONTROLLERS = "$BROKERS", "$CONTROLLERS"


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a check list: what must be so, how to look, what is then to be seen, how long it took to come.

    `printed` is what the command printed in the rehearsal, None where it was not run.
    """

    number: str
    description: str
    command: str
    expect: str
    waited_seconds: float
    printed: str | None


@dataclass(frozen=True, slots=True)
class NodeTurn:
    """One node's turn, as it was rehearsed."""

    number: int
    node: int
    roles: str
    down_seconds: float
    pause_seconds: float
    pausing: str


@dataclass(frozen=True, slots=True)
class Swap:
    """What is replaced: versions, raft jars and their digests of both sides; with `whole` not the raft jar alone.

    `base_home` and `candidate_home` are folders in which both whole Kafkas may lie side by side.
    """

    whole: bool
    base: str
    candidate: str
    base_jar: str
    candidate_jar: str
    base_sha256: str
    candidate_sha256: str
    base_home: str
    candidate_home: str


@dataclass(frozen=True, slots=True)
class Finish:
    """How the features are finalised when all is rolled, and how it is seen what going back then means.

    `printed` are what commands printed in the rehearsal, None where it did not come to that.
    """

    plan: FeaturePlan
    upgrade: str
    upgrade_printed: str | None
    downgrade: str
    downgrade_printed: str | None
    restarts: tuple[NodeTurn, ...]


@dataclass(frozen=True, slots=True)
class Runbook:
    """All that the runbook says. Without turns nothing was rehearsed to go by."""

    swap: Swap
    passed: bool
    reasons: tuple[str, ...]
    before: tuple[Item, ...]
    after: tuple[Item, ...]
    stops: tuple[str, ...]
    forward: tuple[NodeTurn, ...]
    back: tuple[NodeTurn, ...]
    warnings: tuple[str, ...]
    finish: Finish | None = None


def runbook(found: RolloutVerdict) -> Runbook:
    """Return the runbook of a rollout."""
    rehearsed = next((each for each in found.rehearsals if each.name == FORWARD_AND_BACK), None)
    turns = rehearsed.turns if rehearsed else ()
    printed = {tried.command: tried.output for each in found.rehearsals for tried in each.commands if tried.agrees}
    return Runbook(
        _swap(found),
        found.outcome is RolloutOutcome.PASSED,
        found.reasons,
        _items("B", BEFORE, turns, printed),
        _items("A", AFTER, turns, printed),
        _stops(rehearsed),
        _turns(turns, FORWARD),
        _turns(turns, BACK),
        tuple(dict.fromkeys(note for each in found.rehearsals for note in each.notes)),
        _finish(found, printed),
    )


def order_of(book: Runbook) -> First:
    """Return who came first in the rehearsal."""
    return First.CONTROLLERS if book.forward and book.forward[0].roles != BROKER else First.BROKERS


def _swap(found: RolloutVerdict) -> Swap:
    base, candidate = found.base.build, found.candidate.build
    whole = not candidate.kafka.is_same(base.kafka)
    jar = PurePath(base.jar).name
    return Swap(
        whole,
        base.kafka_version,
        candidate.kafka_version,
        jar,
        candidate.kafka.raft_jar if whole else jar,
        base.jar_sha256,
        candidate.jar_sha256,
        *_homes(base.kafka_version, candidate.kafka_version),
    )


def _homes(base: str, candidate: str) -> tuple[str, str]:
    """Return a folder for each; a vendor's Kafka may be of the very version that it replaces."""
    ends = ("-base", "-new") if base == candidate else ("", "")
    return f"{HOME}-{base}{ends[0]}", f"{HOME}-{candidate}{ends[1]}"


def _finish(found: RolloutVerdict, printed: Mapping[str, str]) -> Finish | None:
    """Return how features are finalised, None where that changes nothing."""
    plan = found.features
    if plan is None or not plan.changes:
        return None
    rehearsed = next((each for each in found.rehearsals if each.name == FINALISED), None)
    restarts = _turns(rehearsed.turns, RESTART_FINALISED) if rehearsed else ()
    upgrade, downgrade = upgrade_command(plan), downgrade_command(plan)
    return Finish(
        plan,
        upgrade.format(brokers=_BROKERS),
        printed.get(upgrade),
        downgrade.format(brokers=_BROKERS),
        printed.get(downgrade),
        restarts,
    )


def _items(
    letter: str, checks: Sequence[RollCheck], turns: Iterable[Turn], printed: Mapping[str, str]
) -> tuple[Item, ...]:
    seen = [check for turn in turns for check in (turn.before if letter == "B" else turn.after)]
    return tuple(
        Item(
            f"{letter}{number}",
            check.description,
            check.command.format(node="N", brokers=_BROKERS, controllers=_CONTROLLERS),
            check.expect.format(node="N"),
            max((each.seconds for each in seen if each.name == check.name), default=0.0),
            printed.get(check.command),
        )
        for number, check in enumerate(checks, 1)
    )


def _stops(rehearsed: Rehearsal | None) -> tuple[str, ...]:
    longest = f" (rehearsed: {rehearsed.budget_seconds:g} s)" if rehearsed and rehearsed.budget_seconds else ""
    return (
        "a check of list B is not met within a minute: the node is not touched",
        "the node does not stop within 20 s of SIGTERM, or crashes after its start",
        "a check of list A is not met within two minutes",
        "the live process does not hold the right jar open (sha256 of /proc/PID/fd/N)",
        "the new jar writes an ERROR line that base's own restart does not write, unless it only refuses a request "
        "(org.apache.kafka.common.errors)",
        f"a client waits longer than its budget{longest}",
    )


def _turns(turns: Iterable[Turn], phase: str) -> tuple[NodeTurn, ...]:
    mine = [turn for turn in turns if turn.phase == phase]
    return tuple(_turn(number, turn) for number, turn in enumerate(mine, 1))


def _turn(number: int, turn: Turn) -> NodeTurn:
    pausing, longest = max(turn.pauses.items(), key=lambda each: each[1], default=("", 0.0))
    return NodeTurn(number, turn.node, turn.roles, turn.down_seconds, longest, pausing if longest else "")
