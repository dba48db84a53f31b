"""What must be true before a node may stop, and after it came back; pure.

Before: what Strimzi's KafkaRoller and KafkaQuorumCheck require, and the observers as well. A broker-only node is
an observer of the metadata quorum: it may have lost the quorum while every partition is still in sync.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from harness.cluster.partitions import Partition
from harness.cluster.probes import CAUGHT_UP_LAG, KEEPS_UP_SECONDS, Quorum
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


# What must be seen in a script's output, as awk programs: each prints what is in the way, nothing where all is well.
# `node` is whose turn it is; `controllers` and `brokers` are the ids of those who should be there. Where a check looks
# twice, the first file is what the script printed before.
_LED = """
/^LeaderId:/ && $2 >= 0 { led = 1 }
END { if (!led) print "nobody leads" }
"""
_KEEP_UP = f"""
NF > 4 && ($NF == "Leader" || $NF == "Follower") {{
    voters++; lag[$1] = $(NF - 3); last[$1] = $(NF - 1)
    if ($NF == "Leader") now = last[$1]
}}
function keeps_up(id) {{
    if (lag[id] <= {CAUGHT_UP_LAG}) return 1
    return last[id] >= 0 && now >= last[id] && now - last[id] <= {KEEPS_UP_SECONDS * 1000}
}}
"""
_A_MAJORITY_LEFT = f"""{_KEEP_UP}
END {{
    for (id in lag) if (id == node) votes = 1; else if (keeps_up(id)) left++
    needed = int(voters / 2) + 1
    if (!voters) print "no voter is listed"
    else if (votes && left < needed) print left + 0 " would be left caught up, " needed " of " voters " are needed"
}}
"""
_CAUGHT_UP = f"""{_KEEP_UP}
END {{
    count = split(controllers, wanted, " ")
    for (at = 1; at <= count; at++) {{
        if (!(wanted[at] in lag)) print "controller " wanted[at] " is not listed"
        else if (!keeps_up(wanted[at])) print "controller " wanted[at] " is " lag[wanted[at]] " behind"
    }}
}}
"""
_UNFENCED = """
match($0, /\\(id: [0-9]+/) && !/-> ERROR/ { listed[substr($0, RSTART + 5, RLENGTH - 5)] = 1 }
END {
    count = split(brokers, wanted, " ")
    for (at = 1; at <= count; at++) if (!(wanted[at] in listed)) print "broker " wanted[at] " is not listed"
}
"""
_NO_LINE = """
NF { print $2 "-" $4 }
"""
# Of a partition at min.insync.replicas with all of its replicas in sync none is to spare, whatever is waited for.
_ISR = """
{
    isr = replicas = ""
    for (at = 1; at < NF; at++) { if ($at == "Isr:") isr = $(at + 1); if ($at == "Replicas:") replicas = $(at + 1) }
    whole = split(isr, each, ",") == split(replicas, each, ",")
    if (index("," isr ",", "," node ",") && %s) print $2 "-" $4 %s
}
"""
_NODE_NOT_NEEDED = _ISR % ("!whole", '" needs it"')
NO_SPARE = _ISR % ("whole", '""')
_NOTHING_MOVED = """
/No partition reassignments found/ { none = 1 }
END { if (!none) print "partitions are being moved" }
"""
_OFFSETS_GROW = """
FNR == 1 { file++ }
$NF == "Observer" && file == 1 && !($1 in before && before[$1] > $3) { before[$1] = $3 }
$NF == "Observer" && file == 2 && !($1 in now && now[$1] > $3) { now[$1] = $3 }
END {
    count = split(controllers, each, " ")
    for (at = 1; at <= count; at++) votes[each[at]] = 1
    count = split(brokers, each, " ")
    for (at = 1; at <= count; at++) {
        if (each[at] in votes) continue
        if (!(each[at] in now)) print "observer " each[at] " is not listed"
        else if (now[each[at]] + 0 <= before[each[at]] + 0) print "observer " each[at] " stays at " now[each[at]]
    }
}
"""
_PREFERRED_LEAD = """
{
    for (at = 1; at < NF; at++) {
        if ($at == "Leader:") leader = $(at + 1)
        if ($at == "Replicas:") { split($(at + 1), replicas, ","); if (replicas[1] != leader) print $2 "-" $4 }
    }
}
"""

_UP_TO_DATE = f"Lag 0 or 1, or a LastCaughtUpTimestamp of {KEEPS_UP_SECONDS} s ago at most by that of the leader"

ONE_ACTIVE_CONTROLLER = RollCheck(
    "one_active_controller",
    "one controller is active",
    _one_active_controller,
    STATUS,
    "the LeaderId of the active controller",
    _shows_leader,
    _LED,
)
QUORUM_SURVIVES = RollCheck(
    "quorum_survives",
    "the other caught-up controllers are a majority",
    _quorum_survives,
    REPLICATION,
    f"a majority of the voters without node {{node}} has {_UP_TO_DATE}",
    _shows_replicas,
    _A_MAJORITY_LEFT,
)
VOTERS_CAUGHT_UP = RollCheck(
    "voters_caught_up",
    "every controller has caught up",
    _voters_caught_up,
    REPLICATION,
    f"every voter has {_UP_TO_DATE}",
    _shows_replicas,
    _CAUGHT_UP,
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
    _UNFENCED,
)
ISR_FULL = RollCheck(
    "isr_full",
    "every partition has all its replicas in sync",
    _isr_full,
    UNDER_REPLICATED,
    "no output",
    _shows_nothing,
    _NO_LINE,
)
ALL_LED = RollCheck(
    "all_led",
    "every partition has a leader",  # the last replica stays in sync when its disk fails
    _all_led,
    UNAVAILABLE,
    "no output",
    _shows_nothing,
    _NO_LINE,
)
MIN_ISR_SURVIVES = RollCheck(
    "min_isr_survives",
    "no partition with a replica to spare falls below min.insync.replicas without the node",
    _min_isr_survives,
    AT_MIN_ISR,
    "no partition with node {node} among its Isr, but for those whose Isr are all of their Replicas",
    _shows_those_at_min_isr,
    _NODE_NOT_NEEDED,
)
NO_REASSIGNMENT = RollCheck(
    "no_reassignment",
    "no partition is being moved",
    _no_reassignment,
    REASSIGNMENTS,
    "“No partition reassignments found”",
    _shows_no_reassignment,
    _NOTHING_MOVED,
)
OBSERVERS_FOLLOW = RollCheck(
    "observers_follow",
    "every observer follows the active controller",
    _observers_follow,
    REPLICATION,
    "on a second call every Observer's LogEndOffset is higher (one that died stays listed for 5 minutes)",
    _shows_replicas,
    _OFFSETS_GROW,
    looks_twice=True,
)
PREFERRED_LEADERS = RollCheck(
    "preferred_leaders",
    "every partition is led by its preferred replica",
    _preferred_lead,
    TOPICS,
    "on every line with a Leader that is the first of its Replicas",
    _shows_leaders,
    _PREFERRED_LEAD,
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
