"""What must be true before a node may stop, and after it came back; pure.

Before: what Strimzi's KafkaRoller and KafkaQuorumCheck require, and the observers as well. A broker-only node is
an observer of the metadata quorum: it may have lost the quorum while every partition is still in sync.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from harness.cluster.partitions import Partition
from harness.cluster.probes import KEEPS_UP_SECONDS, Quorum
from harness.rollout import in_the_way
from harness.rollout.script_calls import (
    API_VERSIONS,
    AT_MIN_ISR,
    REASSIGNMENTS,
    REPLICATION,
    STATUS,
    TOPICS,
    UNAVAILABLE,
    UNDER_REPLICATED,
    ScriptCall,
)

# How long all checks may take to hold: before a node may stop, and after it was started.
BEFORE_SECONDS, AFTER_SECONDS = 60, 120
# The same of the preferred leaders, once they were elected.
LEADERS_SECONDS = 60
_SHOWN = 4
# Where a row of `kafka-metadata-quorum.sh describe --replication` has its log end offset and the time at which it had
# caught up, from its end: those of 3.8 and before have no directory id.
_OFFSET, _TIMESTAMP = 5, 2


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

    `problem` returns what is in the way, empty when nothing is. `call` is how an operator looks, None where no script
    of Kafka's says it, and `expect` what is then to be seen, which may name `{node}`. `shown` says whether what the
    script prints is what the protocol says, on a cluster at rest. `unmet` is an awk program that prints what is in the
    way by what the script printed; where it `looks_twice`, by what it printed a moment before as well.
    """

    name: str
    description: str
    problem: Callable[[Health, int], str]
    call: ScriptCall | None
    expect: str
    shown: Callable[[str, Health], bool]
    unmet: str = ""
    looks_twice: bool = False


def _one_active_controller(health: Health, _: int) -> str:
    newest = {leader for epoch, leader in health.quorum.leaders if epoch == health.quorum.epoch}
    if len(newest) == 1:
        return ""
    return f"{len(newest)} nodes say that they lead epoch {health.quorum.epoch}" if newest else "nobody leads"


def _quorum_survives(health: Health, node: int) -> str:
    if node not in health.voters:
        return ""
    caught_up = {voter for voter in health.running & health.voters if health.quorum.keeps_up(voter)}
    needed = len(health.voters) // 2 + 1
    left = caught_up - {node}
    if len(left) >= needed:
        return ""
    return f"only {_listed(left) or 'no voter'} would be left caught up, {needed} of {len(health.voters)} are needed"


def _voters_caught_up(health: Health, _: int) -> str:
    behind = {voter for voter in health.voters if not health.quorum.keeps_up(voter)}
    return f"controllers behind the leader: {_listed(behind)}" if behind else ""


def _all_answer(health: Health, _: int) -> str:
    silent = (health.voters | health.brokers) - health.running
    return f"nodes that do not answer: {_listed(silent)}" if silent else ""


def _brokers_unfenced(health: Health, _: int) -> str:
    missing = health.brokers - health.unfenced
    return f"brokers not registered or fenced: {_listed(missing)}" if missing else ""


def _isr_full(health: Health, _: int) -> str:
    short = [each for each in health.partitions if set(each.isr) < set(each.replicas)]
    return _partitions(short, lambda each: f"{each.name} has ISR {_listed(each.isr)} of {_listed(each.replicas)}")


def _all_led(health: Health, _: int) -> str:
    return _partitions(
        [each for each in health.partitions if each.leader < 0], lambda each: f"{each.name} has no leader"
    )


def _min_isr_survives(health: Health, node: int) -> str:
    to_spare = [each for each in health.partitions if len(each.replicas) > each.min_isr]
    falling = [each for each in to_spare if node in each.isr and len(each.isr) - 1 < each.min_isr]
    return _partitions(falling, lambda each: f"{each.name} needs {each.min_isr} in sync and has {_listed(each.isr)}")


def _no_reassignment(health: Health, _: int) -> str:
    return f"being moved: {', '.join(health.reassigning[:_SHOWN])}" if health.reassigning else ""


def _observers_follow(health: Health, _: int) -> str:
    lost = {node for node, follows in health.following.items() if not follows}
    return f"observers whose metadata log does not grow: {_listed(lost)}" if lost else ""


def _preferred_lead(health: Health, _: int) -> str:
    others = [each for each in health.partitions if each.leader != each.replicas[0]]
    return _partitions(others, lambda each: f"{each.name} is led by {each.leader}, and preferred is {each.replicas[0]}")


def _partitions(wrong: list[Partition], describe: Callable[[Partition], str]) -> str:
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return "; ".join(map(describe, wrong[:_SHOWN])) + more


def _listed(nodes: frozenset[int] | set[int] | tuple[int, ...]) -> str:
    return ", ".join(map(str, sorted(nodes)))


def _shows_leader(output: str, health: Health) -> bool:
    shown = re.search(r"^LeaderId:\s+(\d+)$", output, re.MULTILINE)
    return shown is not None and int(shown[1]) == health.quorum.leader


def _shows_replicas(output: str, health: Health) -> bool:
    """Every replica has its row, and every voter keeps up (`Quorum.keeps_up`)."""
    rows = {row[0]: row for line in output.splitlines()[1:] if len(row := line.split()) >= _OFFSET and row[0].isdigit()}
    ends = {int(node): int(row[-_OFFSET]) for node, row in rows.items()}
    times = {int(node): int(row[-_TIMESTAMP]) / 1000 for node, row in rows.items()}
    shown = Quorum(health.quorum.leader, voters=ends, caught_up=times)
    return ends.keys() >= health.voters | health.following.keys() and all(map(shown.keeps_up, health.voters))


def _shows_brokers(output: str, health: Health) -> bool:
    listed = {int(each) for each in re.findall(r"\(id: (\d+) rack", output)}
    return listed == health.brokers


def _shows_nothing(output: str, _: Health) -> bool:
    return not output


def _shows_those_at_min_isr(output: str, health: Health) -> bool:
    shown = {f"{row['Topic']}-{row['Partition']}" for row in _rows(output)}
    return shown == {each.name for each in health.partitions if len(each.isr) == each.min_isr}


def _rows(output: str) -> Iterator[dict[str, str]]:
    """Yield what kafka-topics.sh prints of each partition."""
    for line in output.splitlines():
        if "\tPartition: " in line:
            yield dict(re.findall(r"(\w+): (\S+)", line))


def _shows_no_reassignment(output: str, _: Health) -> bool:
    return "No partition reassignments found" in output


def _shows_leaders(output: str, health: Health) -> bool:
    shown = {
        f"{row['Topic']}-{row['Partition']}": (int(row["Leader"]), int(row["Replicas"].partition(",")[0]))
        for row in _rows(output)
        if row["Leader"].isdigit()
    }
    return shown == {each.name: (each.leader, each.replicas[0]) for each in health.partitions}


def _cannot_be_run(_output: str, _: Health) -> bool:
    return False


_UP_TO_DATE = f"Lag 0 or 1, or a LastCaughtUpTimestamp of {KEEPS_UP_SECONDS} s ago at most by that of the leader"

ONE_ACTIVE_CONTROLLER = RollCheck(
    "one_active_controller",
    "one controller is active",
    _one_active_controller,
    STATUS,
    "the LeaderId of the active controller",
    _shows_leader,
    in_the_way.LED,
)
QUORUM_SURVIVES = RollCheck(
    "quorum_survives",
    "the other caught-up controllers are a majority",
    _quorum_survives,
    REPLICATION,
    f"a majority of the voters without node {{node}} has {_UP_TO_DATE}",
    _shows_replicas,
    in_the_way.A_MAJORITY_LEFT,
)
VOTERS_CAUGHT_UP = RollCheck(
    "voters_caught_up",
    "every controller has caught up",
    _voters_caught_up,
    REPLICATION,
    f"every voter has {_UP_TO_DATE}",
    _shows_replicas,
    in_the_way.CAUGHT_UP,
)
ALL_ANSWER = RollCheck(
    "all_answer",
    "every node runs and answers on its listeners",
    _all_answer,
    None,
    "active, on each of them",
    _cannot_be_run,
)
BROKERS_UNFENCED = RollCheck(
    "brokers_unfenced",
    "every broker is registered and not fenced",
    _brokers_unfenced,
    API_VERSIONS,
    "a line for every broker",
    _shows_brokers,
    in_the_way.UNFENCED,
)
ISR_FULL = RollCheck(
    "isr_full",
    "every partition has all its replicas in sync",
    _isr_full,
    UNDER_REPLICATED,
    "no output",
    _shows_nothing,
    in_the_way.NO_LINE,
)
ALL_LED = RollCheck(
    "all_led",
    "every partition has a leader",  # the last replica stays in sync when its disk fails
    _all_led,
    UNAVAILABLE,
    "no output",
    _shows_nothing,
    in_the_way.NO_LINE,
)
MIN_ISR_SURVIVES = RollCheck(
    "min_isr_survives",
    "no partition with a replica to spare falls below min.insync.replicas without the node",
    _min_isr_survives,
    AT_MIN_ISR,
    "no partition with node {node} among its Isr, but for those whose Isr are all of their Replicas",
    _shows_those_at_min_isr,
    in_the_way.NODE_NOT_NEEDED,
)
NO_REASSIGNMENT = RollCheck(
    "no_reassignment",
    "no partition is being moved",
    _no_reassignment,
    REASSIGNMENTS,
    "“No partition reassignments found”",
    _shows_no_reassignment,
    in_the_way.NOTHING_MOVED,
)
OBSERVERS_FOLLOW = RollCheck(
    "observers_follow",
    "every observer follows the active controller",
    _observers_follow,
    REPLICATION,
    "on a second call every Observer's LogEndOffset is higher (one that died stays listed for 5 minutes)",
    _shows_replicas,
    in_the_way.OFFSETS_GROW,
    looks_twice=True,
)
PREFERRED_LEADERS = RollCheck(
    "preferred_leaders",
    "every partition is led by its preferred replica",
    _preferred_lead,
    TOPICS,
    "on every line with a Leader that is the first of its Replicas",
    _shows_leaders,
    in_the_way.PREFERRED_LEAD,
)

BEFORE = (
    ALL_ANSWER,
    ONE_ACTIVE_CONTROLLER,
    QUORUM_SURVIVES,
    BROKERS_UNFENCED,
    ISR_FULL,
    ALL_LED,
    MIN_ISR_SURVIVES,
    NO_REASSIGNMENT,
    OBSERVERS_FOLLOW,
)
# What the stop of a node that is sick could harm: nothing else of these can be met while it runs.
OF_A_STOP = (ONE_ACTIVE_CONTROLLER, QUORUM_SURVIVES, MIN_ISR_SURVIVES)
AFTER = (ALL_ANSWER, ONE_ACTIVE_CONTROLLER, BROKERS_UNFENCED, VOTERS_CAUGHT_UP, ISR_FULL, ALL_LED, OBSERVERS_FOLLOW)


_OF_PARTITIONS = (BROKERS_UNFENCED, ISR_FULL, ALL_LED, MIN_ISR_SURVIVES, NO_REASSIGNMENT, PREFERRED_LEADERS)


def without_a_spare(health: Health) -> str:
    """Return the partitions of which none is to spare, whatever is waited for; empty where there are none."""
    return _partitions(
        [each for each in health.partitions if len(each.replicas) <= each.min_isr], lambda each: each.name
    )


def problem_of(check: RollCheck, health: Health, node: int) -> str:
    """Return what is in the way; where partitions could not be listed, a check of them is not met."""
    of_partitions = check in _OF_PARTITIONS
    if of_partitions and health.unanswered:
        return health.unanswered
    return check.problem(health, node)
