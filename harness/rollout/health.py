"""What must be true before a node may stop, and after it came back; pure.

Before: what Strimzi's KafkaRoller and KafkaQuorumCheck require, and the observers as well. A broker-only node is
an observer of the metadata quorum: it may have lost the quorum while every partition is still in sync.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.cluster.partitions import Partition
from harness.cluster.probes import CAUGHT_UP_LAG, Quorum

_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Health:
    """One look at the whole cluster.

    `voters` and `brokers` are who should be there, `unfenced` the brokers that every running broker's metadata names;
    `following` says of each observer whether its own log grows. `unanswered` says why partitions are not known.
    """

    quorum: Quorum
    voters: frozenset[int]
    brokers: frozenset[int]
    running: frozenset[int]
    unfenced: frozenset[int] = frozenset()
    following: Mapping[int, bool] = field(default_factory=dict)
    partitions: tuple[Partition, ...] = ()
    reassigning: tuple[str, ...] = ()
    unanswered: str = ""


@dataclass(frozen=True, slots=True)
class RollCheck:
    """Something that must be true of the cluster, for the roll of a node.

    `problem` returns what is in the way, empty when nothing is. `command` is how an operator looks, `expect` what is
    then to be seen; both may name `{node}`, `{brokers}` and `{controllers}`. `shown` says whether the output of the
    command shows it, on a cluster at rest.
    """

    name: str
    description: str
    problem: Callable[[Health, int], str]
    command: str
    expect: str
    shown: Callable[[str, Health], bool]


def _one_active_controller(health: Health, _: int) -> str:
    newest = {leader for epoch, leader in health.quorum.leaders if epoch == health.quorum.epoch}
    if len(newest) == 1:
        return ""
    return f"{len(newest)} nodes say that they lead epoch {health.quorum.epoch}" if newest else "nobody leads"


def _quorum_survives(health: Health, node: int) -> str:
    if node not in health.voters:
        return ""
    caught_up = {voter for voter in health.running & health.voters if health.quorum.has_caught_up(voter)}
    needed = len(health.voters) // 2 + 1
    left = caught_up - {node}
    if len(left) >= needed:
        return ""
    return f"only {_listed(left) or 'no voter'} would be left caught up, {needed} of {len(health.voters)} are needed"


def _voters_caught_up(health: Health, _: int) -> str:
    behind = {voter for voter in health.voters if not health.quorum.has_caught_up(voter)}
    return f"controllers behind the leader: {_listed(behind)}" if behind else ""


def _all_answer(health: Health, _: int) -> str:
    silent = (health.voters | health.brokers) - health.running
    return f"nodes that do not answer: {_listed(silent)}" if silent else ""


def _brokers_unfenced(health: Health, _: int) -> str:
    missing = health.brokers - health.unfenced
    return f"brokers not registered or fenced: {_listed(missing)}" if missing else ""


def _isr_full(health: Health, _: int) -> str:
    short = [each for each in health.partitions if set(each.isr) < set(each.replicas) or each.leader < 0]
    return _partitions(short, lambda each: f"{each.name} has ISR {_listed(each.isr)} of {_listed(each.replicas)}")


def _min_isr_survives(health: Health, node: int) -> str:
    falling = [each for each in health.partitions if node in each.isr and len(each.isr) - 1 < each.min_isr]
    return _partitions(falling, lambda each: f"{each.name} needs {each.min_isr} in sync and has {_listed(each.isr)}")


def _no_reassignment(health: Health, _: int) -> str:
    return f"being moved: {', '.join(health.reassigning[:_SHOWN])}" if health.reassigning else ""


def _observers_follow(health: Health, _: int) -> str:
    lost = {node for node, follows in health.following.items() if not follows}
    return f"observers whose metadata log does not grow: {_listed(lost)}" if lost else ""


def _partitions(wrong: list[Partition], describe: Callable[[Partition], str]) -> str:
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return "; ".join(map(describe, wrong[:_SHOWN])) + more


def _listed(nodes: frozenset[int] | set[int] | tuple[int, ...]) -> str:
    return ", ".join(map(str, sorted(nodes)))


def _shows_leader(output: str, health: Health) -> bool:
    shown = re.search(r"^LeaderId:\s+(\d+)$", output, re.MULTILINE)
    return shown is not None and int(shown[1]) == health.quorum.leader


def _shows_replicas(output: str, health: Health) -> bool:
    """Every replica has its row, and no voter lags."""
    rows = [line.split() for line in output.splitlines()[1:]]
    lags = {int(row[0]): int(row[3]) for row in rows if len(row) > 4 and row[0].isdigit()}
    return lags.keys() >= health.voters | health.following.keys() and all(
        lags[voter] <= CAUGHT_UP_LAG for voter in health.voters
    )


def _shows_brokers(output: str, health: Health) -> bool:
    listed = {int(each) for each in re.findall(r"\(id: (\d+) rack", output)}
    return listed == health.brokers


def _shows_nothing(output: str, _: Health) -> bool:
    return not output


def _shows_no_reassignment(output: str, _: Health) -> bool:
    return "No partition reassignments found" in output


def _cannot_be_run(_output: str, _: Health) -> bool:
    return False


_QUORUM = "bin/kafka-metadata-quorum.sh --bootstrap-controller {controllers} describe --replication"
_TOPICS = "bin/kafka-topics.sh --bootstrap-server {brokers} --describe"

ONE_ACTIVE_CONTROLLER = RollCheck(
    "one_active_controller",
    "one controller is active",
    _one_active_controller,
    "bin/kafka-metadata-quorum.sh --bootstrap-controller {controllers} describe --status",
    "one LeaderId, the same from every controller",
    _shows_leader,
)
QUORUM_SURVIVES = RollCheck(
    "quorum_survives",
    "the other caught-up controllers are a majority",
    _quorum_survives,
    _QUORUM,
    "a majority of the voters without node {node} has Lag 0 or 1",
    _shows_replicas,
)
VOTERS_CAUGHT_UP = RollCheck(
    "voters_caught_up",
    "every controller has caught up",
    _voters_caught_up,
    _QUORUM,
    "every voter has Lag 0 or 1",
    _shows_replicas,
)
ALL_ANSWER = RollCheck(
    "all_answer",
    "every node runs and answers on its listeners",
    _all_answer,
    "systemctl is-active kafka   # on every node",
    "active, on each of them",
    _cannot_be_run,
)
BROKERS_UNFENCED = RollCheck(
    "brokers_unfenced",
    "every broker is registered and not fenced",
    _brokers_unfenced,
    "bin/kafka-broker-api-versions.sh --bootstrap-server {brokers} | grep 'id:'",
    "a line for every broker",
    _shows_brokers,
)
ISR_FULL = RollCheck(
    "isr_full",
    "every partition has all its replicas in sync",
    _isr_full,
    f"{_TOPICS} --under-replicated-partitions",
    "no output",
    _shows_nothing,
)
MIN_ISR_SURVIVES = RollCheck(
    "min_isr_survives",
    "no partition falls below min.insync.replicas without the node",
    _min_isr_survives,
    f"{_TOPICS} --at-min-isr-partitions",
    "no partition with node {node} among its Isr",
    _shows_nothing,
)
NO_REASSIGNMENT = RollCheck(
    "no_reassignment",
    "no partition is being moved",
    _no_reassignment,
    "bin/kafka-reassign-partitions.sh --bootstrap-server {brokers} --list",
    "“No partition reassignments found”",
    _shows_no_reassignment,
)
OBSERVERS_FOLLOW = RollCheck(
    "observers_follow",
    "every observer follows the active controller",
    _observers_follow,
    _QUORUM,
    "on a second call every Observer's LogEndOffset is higher (one that died stays listed for 5 minutes)",
    _shows_replicas,
)

BEFORE = (
    ALL_ANSWER,
    ONE_ACTIVE_CONTROLLER,
    QUORUM_SURVIVES,
    BROKERS_UNFENCED,
    ISR_FULL,
    MIN_ISR_SURVIVES,
    NO_REASSIGNMENT,
    OBSERVERS_FOLLOW,
)
AFTER = (ALL_ANSWER, ONE_ACTIVE_CONTROLLER, BROKERS_UNFENCED, VOTERS_CAUGHT_UP, ISR_FULL, OBSERVERS_FOLLOW)


def problem_of(check: RollCheck, health: Health, node: int) -> str:
    """Return what is in the way; where partitions could not be listed, a check of them is not met."""
    of_partitions = check in (BROKERS_UNFENCED, ISR_FULL, MIN_ISR_SURVIVES, NO_REASSIGNMENT)
    if of_partitions and health.unanswered:
        return health.unanswered
    return check.problem(health, node)
