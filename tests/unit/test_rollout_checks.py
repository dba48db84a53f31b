"""What must hold before a node is rolled, and after: each check sees what it is for, and nothing else."""

import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.cluster.partitions import Partition
from harness.cluster.probes import Quorum
from harness.cluster.topology import Topology, describe_topology
from harness.rollout import health
from harness.rollout.health import AFTER, BEFORE, Health, problem_of
from harness.rollout.nodes import First, choice_of, next_node, parse_order, parse_topology, roles_of

DEDICATED = Topology(3, 3, combined=False)
COMBINED = Topology(3, 1)


def partition(isr=(3, 4, 5), leader=3, min_isr=2):
    return Partition("orders", 0, leader, (3, 4, 5), isr, min_isr)


WELL = Health(
    Quorum(1, 7, 40, {0: 40, 1: 40, 2: 39}, {3: 40, 4: 40, 5: 40}, leaders=((7, 1),)),
    voters=frozenset({0, 1, 2}),
    brokers=frozenset({3, 4, 5}),
    running=frozenset(range(6)),
    unfenced=frozenset({3, 4, 5}),
    following={3: True, 4: True, 5: True},
    partitions=(partition(),),
)


@pytest.mark.parametrize("check", dict.fromkeys((*BEFORE, *AFTER)), ids=lambda check: check.name)
@pytest.mark.parametrize("node", range(6))
def test_a_cluster_that_is_well_lets_any_node_go(check, node):
    assert problem_of(check, WELL, node) == ""


@pytest.mark.parametrize(
    ("check", "seen", "node", "says"),
    [
        (health.ALL_ANSWER, replace(WELL, running=frozenset({0, 1, 2, 3, 4})), 3, "do not answer: 5"),
        (health.ONE_ACTIVE_CONTROLLER, replace(WELL, quorum=Quorum()), 3, "nobody leads"),
        (
            health.ONE_ACTIVE_CONTROLLER,
            replace(WELL, quorum=replace(WELL.quorum, leaders=((7, 0), (7, 1)))),
            3,
            "2 nodes say that they lead epoch 7",
        ),
        (
            health.QUORUM_SURVIVES,
            replace(WELL, quorum=replace(WELL.quorum, voters={0: 40, 1: 40, 2: 30})),
            0,
            "only 1 would be left caught up, 2 of 3 are needed",
        ),
        (health.QUORUM_SURVIVES, replace(WELL, running=frozenset({0, 1, 3, 4, 5})), 1, "only 0 would be left"),
        (
            health.VOTERS_CAUGHT_UP,
            replace(WELL, quorum=replace(WELL.quorum, voters={0: 40, 1: 40, 2: 30})),
            2,
            "controllers behind the leader: 2",
        ),
        (health.BROKERS_UNFENCED, replace(WELL, unfenced=frozenset({3, 5})), 3, "not registered or fenced: 4"),
        (health.ISR_FULL, replace(WELL, partitions=(partition(isr=(3, 5)),)), 3, "orders-0 has ISR 3, 5 of 3, 4, 5"),
        (health.ALL_LED, replace(WELL, partitions=(partition(leader=-1),)), 3, "orders-0 has no leader"),
        (
            health.MIN_ISR_SURVIVES,
            replace(WELL, partitions=(partition(isr=(3, 5)),)),
            3,
            "orders-0 needs 2 in sync and has 3, 5",
        ),
        (health.NO_REASSIGNMENT, replace(WELL, reassigning=("orders-0",)), 3, "being moved: orders-0"),
        (health.OBSERVERS_FOLLOW, replace(WELL, following={3: True, 4: False, 5: True}), 3, "does not grow: 4"),
        (health.ISR_FULL, replace(WELL, unanswered="no broker is ready"), 3, "no broker is ready"),
    ],
)
def test_a_check_says_what_is_in_the_way(check, seen, node, says):
    assert says in problem_of(check, seen, node)


def test_a_partition_at_its_least_in_sync_holds_back_only_the_brokers_in_its_isr():
    seen = replace(WELL, partitions=(partition(isr=(3, 5)),))
    assert problem_of(health.MIN_ISR_SURVIVES, seen, 4) == ""


def test_a_broker_may_stop_while_a_controller_is_behind_as_it_is_no_voter():
    seen = replace(WELL, quorum=replace(WELL.quorum, voters={0: 40, 1: 10, 2: 10}))
    assert problem_of(health.QUORUM_SURVIVES, seen, 3) == ""


STATUS = "ClusterId:              x\nLeaderId:               1\nLeaderEpoch:            7\n"
REPLICATION = (
    "NodeId\tDirectoryId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus  \n"
    + "".join(f"{node}\tabc\t40\t0\t90000\t90000\t{'Leader' if node == 1 else 'Follower'}\n" for node in range(3))
    + "".join(f"{node}\tabc\t40\t0\t90000\t90000\tObserver\n" for node in (3, 4, 5))
)
CAUGHT_UP = "2\tabc\t40\t0\t90000\t90000"
SLOW = "2\tabc\t30\t10\t90000"
BROKERS = "".join(f"127.0.0.1:909{node} (id: {node} rack: null) -> (\n" for node in (3, 4, 5))


@pytest.mark.parametrize(
    ("check", "output"),
    [
        (health.ONE_ACTIVE_CONTROLLER, STATUS),
        (health.QUORUM_SURVIVES, REPLICATION),
        (health.QUORUM_SURVIVES, REPLICATION.replace(CAUGHT_UP, f"{SLOW}\t88000")),
        (health.BROKERS_UNFENCED, BROKERS),
        (health.ISR_FULL, ""),
        (health.NO_REASSIGNMENT, "No partition reassignments found."),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_the_output_of_a_command_shows_what_the_protocol_says(check, output):
    assert check.shown(output, WELL)


@pytest.mark.parametrize(
    ("check", "output"),
    [
        (health.ONE_ACTIVE_CONTROLLER, STATUS.replace("1\nLeaderEpoch", "2\nLeaderEpoch")),
        (health.QUORUM_SURVIVES, REPLICATION.replace("5\tabc", "9\tabc")),
        (health.QUORUM_SURVIVES, REPLICATION.replace(CAUGHT_UP, f"{SLOW}\t87999")),
        (health.BROKERS_UNFENCED, BROKERS.replace("id: 4", "id: 9")),
        (health.ISR_FULL, "Topic: orders\tPartition: 0"),
        (health.NO_REASSIGNMENT, "Current partition reassignments: orders-0"),
        (health.ALL_ANSWER, "active"),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_the_output_of_a_command_that_says_something_else_does_not(check, output):
    assert not check.shown(output, WELL)


LEADERS = (
    "Topic: orders\tTopicId: abc\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: min.insync.replicas=2\n"
    "\tTopic: orders\tPartition: 0\tLeader: 3\tReplicas: 3,4\tIsr: 3,4\tElr: \tLastKnownElr: \n"
    "\tTopic: orders\tPartition: 1\tLeader: 5\tReplicas: 4,5\tIsr: 5\tElr: \tLastKnownElr: \n"
)
AWAY = (Partition("orders", 0, 3, (3, 4), (3, 4), 1), Partition("orders", 1, 5, (4, 5), (5,), 1))


def test_partitions_without_a_spare_are_what_the_command_for_those_at_their_least_prints_and_are_named():
    bare = tuple(replace(each, min_isr=len(each.isr)) for each in AWAY)
    for partitions, output in ((AWAY, "\n".join(LEADERS.splitlines()[2:])), (bare, LEADERS)):
        seen = replace(WELL, partitions=partitions)
        assert health.MIN_ISR_SURVIVES.shown(output, seen)
        assert not health.MIN_ISR_SURVIVES.shown("", seen)
    assert health.without_a_spare(replace(WELL, partitions=bare)) == "orders-0"
    assert health.without_a_spare(replace(WELL, partitions=AWAY)) == ""


def test_a_partition_that_another_leads_than_the_preferred_one_is_named():
    seen = replace(WELL, partitions=AWAY)
    assert health.problem_of(health.PREFERRED_LEADERS, seen, -1) == "orders-1 is led by 5, and preferred is 4"
    assert not health.problem_of(health.PREFERRED_LEADERS, replace(WELL, partitions=AWAY[:1]), -1)
    assert health.problem_of(health.PREFERRED_LEADERS, replace(seen, unanswered="no broker"), -1) == "no broker"
    assert health.PREFERRED_LEADERS.shown(LEADERS, seen)
    assert not health.PREFERRED_LEADERS.shown(LEADERS.replace("Leader: 5", "Leader: 4"), seen)
    assert not health.PREFERRED_LEADERS.shown("", seen)


def in_the_way(check, *outputs, node=0):
    """Return what the runbook's script finds to be in the way of a check, in what a command printed."""
    with TemporaryDirectory() as folder:
        files = [Path(folder) / str(number) for number, _ in enumerate(outputs)]
        for file, output in zip(files, outputs, strict=True):
            file.write_text(output)
        known = [word for each in (f"node={node}", "controllers=0 1 2", "brokers=3 4 5") for word in ("-v", each)]
        done = subprocess.run(["awk", *known, check.unmet, *files], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("caught_up", "behind"),
    [
        ({0: 88.5, 1: 90.0, 2: 88.0}, []),
        ({0: 88.5, 1: 90.0, 2: 87.9}, [2]),
        ({0: 88.5, 1: 90.0, 2: -1.0}, [2]),
        ({0: 88.5, 1: -1.0, 2: 88.0}, [0, 2]),
        ({0: -1.0, 1: -1.0, 2: -1.0}, [0, 2]),
    ],
    ids=["two seconds ago at most", "longer ago", "never", "by no leader's clock", "not told, as before KIP-836"],
)
def test_a_controller_keeps_up_that_had_the_whole_log_within_a_fetch_time_out(caught_up, behind):
    """Where much is written, a look finds every follower some records behind."""
    ends = {0: 40, 1: 70, 2: 40}
    seen = replace(WELL, quorum=replace(WELL.quorum, voters=ends, caught_up=caught_up))
    says = f"controllers behind the leader: {', '.join(map(str, behind))}" if behind else ""
    assert problem_of(health.VOTERS_CAUGHT_UP, seen, 3) == says
    rows = (
        f"{node} abc {ends[node]} {70 - ends[node]} 1 {time * 1000:.0f} {'Leader' if node == 1 else 'Follower'}\n"
        for node, time in caught_up.items()
    )
    assert in_the_way(health.VOTERS_CAUGHT_UP, "".join(rows)) == [f"controller {node} is 30 behind" for node in behind]


def later(replication):
    return replication.replace("\t40\t", "\t44\t")


@pytest.mark.parametrize(
    ("check", "outputs"),
    [
        (health.ONE_ACTIVE_CONTROLLER, [STATUS]),
        (health.QUORUM_SURVIVES, [REPLICATION]),
        (health.VOTERS_CAUGHT_UP, [REPLICATION]),
        (health.OBSERVERS_FOLLOW, [REPLICATION, later(REPLICATION)]),
        (health.BROKERS_UNFENCED, [BROKERS]),
        (health.ISR_FULL, ["\n"]),
        (health.MIN_ISR_SURVIVES, ["\tTopic: t\tPartition: 0\tLeader: 3\tReplicas: 3,4,10\tIsr: 3,10\tElr: \n"]),
        (health.NO_REASSIGNMENT, ["No partition reassignments found.\n"]),
        (health.PREFERRED_LEADERS, [LEADERS.replace("Leader: 5", "Leader: 4")]),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_in_what_a_command_prints_when_all_is_well_nothing_is_in_the_way(check, outputs):
    assert not in_the_way(check, *outputs)


BEHIND = REPLICATION.replace(CAUGHT_UP, f"{SLOW}\t87999")


@pytest.mark.parametrize(
    ("check", "outputs", "node", "found"),
    [
        (health.ONE_ACTIVE_CONTROLLER, [STATUS.replace("       1", "       -1")], 0, "nobody leads"),
        (health.ONE_ACTIVE_CONTROLLER, [""], 0, "nobody leads"),
        (health.QUORUM_SURVIVES, [BEHIND], 0, "1 would be left caught up, 2 of 3 are needed"),
        (health.QUORUM_SURVIVES, [""], 0, "no voter is listed"),
        (health.VOTERS_CAUGHT_UP, [BEHIND], 0, "controller 2 is 10 behind"),
        (health.VOTERS_CAUGHT_UP, [REPLICATION.replace("2\tabc", "7\tabc")], 0, "controller 2 is not listed"),
        (health.OBSERVERS_FOLLOW, [REPLICATION, REPLICATION], 0, "observer 3 stays at 40"),
        (health.OBSERVERS_FOLLOW, [REPLICATION, ""], 0, "observer 3 is not listed"),
        (health.BROKERS_UNFENCED, [BROKERS.replace("id: 4", "id: 9")], 0, "broker 4 is not listed"),
        (health.BROKERS_UNFENCED, [BROKERS.replace("-> (", "-> ERROR: x", 1)], 0, "broker 3 is not listed"),
        (health.ISR_FULL, ["\tTopic: t\tPartition: 0\tLeader: 3\n"], 0, "t-0"),
        (health.MIN_ISR_SURVIVES, ["\tTopic: t\tPartition: 0\tLeader: 3\tIsr: 3,10\n"], 10, "t-0 needs it"),
        (health.NO_REASSIGNMENT, ["Current partition reassignments: t-0\n"], 0, "partitions are being moved"),
        (health.PREFERRED_LEADERS, [LEADERS], 0, "orders-1"),
        (health.PREFERRED_LEADERS, [LEADERS.replace("Leader: 5", "Leader: none")], 0, "orders-1"),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_in_what_a_command_prints_it_is_found_what_is_in_the_way(check, outputs, node, found):
    assert in_the_way(check, *outputs, node=node)[0] == found


def test_a_majority_of_five_may_lose_one_and_not_two():
    five = "NodeId ...\n" + "".join(f"{node} abc 40 {lag} 1 1 Follower\n" for node, lag in enumerate((0, 0, 0, 0, 9)))
    assert not in_the_way(health.QUORUM_SURVIVES, five, node=1)
    assert in_the_way(health.QUORUM_SURVIVES, five.replace("3 abc 40 0", "3 abc 40 9"), node=1) == [
        "2 would be left caught up, 3 of 5 are needed"
    ]
    assert not in_the_way(health.QUORUM_SURVIVES, five.replace("3 abc 40 0", "3 abc 40 9"), node=7), "it has no vote"


def test_of_an_observer_with_two_disks_the_one_that_goes_on_counts():
    both = REPLICATION + "3\told\t7\t33\t1\t1\tObserver\n"
    assert not in_the_way(health.OBSERVERS_FOLLOW, both, later(REPLICATION) + "3\told\t7\t37\t1\t1\tObserver\n")


@pytest.mark.parametrize(
    ("text", "topology"),
    [
        ("3+3", DEDICATED),
        ("3combined+1", COMBINED),
        ("5+3", Topology(5, 3, combined=False)),
        ("5combined+1", Topology(5, 1)),
        ("5+20", Topology(5, 20, combined=False)),
        ("3+3static", replace(DEDICATED, static_voters=True)),
        ("3combined+1static", replace(COMBINED, static_voters=True)),
    ],
)
def test_a_topology_reads_as_it_is_written(text, topology):
    assert parse_topology(text) == topology


@pytest.mark.parametrize("text", ["", "3", "three+3", "2+3", "3+2", "1combined+3", "3+3+3", "300+3", "-3+3"])
def test_a_topology_that_could_not_lose_a_node_is_refused(text):
    with pytest.raises(HarnessError):
        parse_topology(text)


@pytest.mark.parametrize("text", ["0,1,2", "0,1,2,3,4,5,5", "0,1,2,3,4,x", "0,1,2,3,4,9"])
def test_an_order_names_every_node_once(text):
    with pytest.raises(HarnessError, match="every node once"):
        parse_order(text, DEDICATED)


def test_an_order_is_taken_as_given():
    assert parse_order("5, 4,3,2,1,0", DEDICATED) == (5, 4, 3, 2, 1, 0)
    assert parse_order("", DEDICATED) == ()
    assert parse_order("controllers-first", DEDICATED) == ()


@given(st.sampled_from([DEDICATED, COMBINED, Topology(5, 4, combined=False)]), st.data())
def test_brokers_come_first_and_the_active_controller_last(topology, data):
    leader = data.draw(st.sampled_from(topology.voter_ids))
    left = data.draw(st.permutations([*topology.voter_ids, *topology.observer_ids]))
    order = []
    while left:
        order.append(next_node(left, topology, leader))
        left = [node for node in left if node not in order]
    assert order[-1] == leader
    assert order == [*topology.observer_ids, *(v for v in topology.voter_ids if v != leader), leader]


@given(st.sampled_from([DEDICATED, COMBINED, Topology(5, 4, combined=False)]), st.data())
def test_controllers_come_first_if_told_and_of_them_the_active_one_last(topology, data):
    leader = data.draw(st.sampled_from(topology.voter_ids))
    left = data.draw(st.permutations([*topology.voter_ids, *topology.observer_ids]))
    order = []
    while left:
        order.append(next_node(left, topology, leader, First.CONTROLLERS))
        left = [node for node in left if node not in order]
    assert order == [*(v for v in topology.voter_ids if v != leader), leader, *topology.observer_ids]


@pytest.mark.parametrize(
    ("order", "first", "whole", "words"),
    [
        ((), "", False, ("Brokers first, the active controller last, since", "--order controllers-first, or node ids")),
        ((), "", True, ("Controllers first", "Kafka's own system tests, Strimzi's roller", "--order brokers-first")),
        ((), "brokers-first", False, ("Brokers first, the active controller last, since",)),
        ((), "brokers-first", True, ("Brokers first", "asked for by --order brokers-first", "left out, controllers")),
        ((2, 1, 0), "", False, ("--order 2,1,0", "left out, brokers first")),
    ],
)
def test_the_order_is_a_choice_that_is_stated_with_its_reason(order, first, whole, words):
    sentence = choice_of(order, first, whole_kafkas=whole)
    assert all(word in sentence for word in words), sentence
    assert sentence.count(". ") == 0
    assert sentence.endswith(".")


def test_a_node_is_called_by_what_it_does():
    assert roles_of(3, DEDICATED, 1) == "broker"
    assert roles_of(0, DEDICATED, 1) == "controller"
    assert roles_of(1, COMBINED, 1) == "controller and broker, the active controller"
    assert describe_topology(COMBINED) == "3 nodes that are controller and broker, 1 more broker"
