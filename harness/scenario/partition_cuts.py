"""Stretches of plan with the ways in which a network can split around one partition, in KRaft and in ZooKeeper mode.

The first broker leads, the second and the third follow; the coordinator is whoever keeps the metadata. What is expected
is what stock shows: docs/faults.md has the table, with what was measured.
"""

from __future__ import annotations

from harness.scenario.actions.change_partitions import create_partition, elect_preferred
from harness.scenario.actions.cut import cut, heal
from harness.scenario.actions.kill import kill
from harness.scenario.actions.let_pass import let_pass
from harness.scenario.actions.offer import offer
from harness.scenario.actions.start import start
from harness.scenario.actions.write_records import count_lost, write
from harness.scenario.bounds import FetchTimeouts
from harness.scenario.conditions.features import has_feature, lacks_feature
from harness.scenario.conditions.has_logged import has_logged
from harness.scenario.conditions.is_up import is_up
from harness.scenario.conditions.keeps_up import keeps_up
from harness.scenario.conditions.leadership import has_new_leader
from harness.scenario.conditions.lost_records import lost
from harness.scenario.conditions.offered_records import refused, took
from harness.scenario.conditions.partition_leaders import has_no_partition_leader, has_truncated, in_sync, led_by
from harness.scenario.election_moves import IN_KRAFT as ELECTIONS_IN_KRAFT
from harness.scenario.election_moves import IN_ZOOKEEPER as ELECTIONS_IN_ZOOKEEPER
from harness.scenario.election_moves import UNCLEAN, expect_same_replicas
from harness.scenario.parties import Side
from harness.scenario.plan import ClusterRef, Plan
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Condition

# A follower that is silent leaves the ISR; and what hangs in a cut is given up, so that a heal shows soon. By default
# all of these are 10 to 30 s.
_SHORT = {
    "replica.lag.time.max.ms": "4000",
    "replica.socket.timeout.ms": "2000",
    "controller.socket.timeout.ms": "2000",
    "socket.connection.setup.timeout.ms": "1000",
    "socket.connection.setup.timeout.max.ms": "1000",
}
IN_KRAFT = {**ELECTIONS_IN_KRAFT, **_SHORT}
IN_ZOOKEEPER = {**ELECTIONS_IN_ZOOKEEPER, **_SHORT}

_ISR, _ELECTION, _BACK = "15s", "20s", "40s"  # a lag and a half; a session, and what a controller takes
_BEFORE, _AHEAD, _SAFE = 10, 15, 5  # records written to all, to the isolated leader alone, to the majority
_TIMED_OUT, _TOO_FEW, _NOT_LEADER = "request_timed_out", "not_enough_replicas", "not_leader_or_follower"
_AT_ONCE = "1s"
ELIGIBLE = "eligible.leader.replicas.version"

Brokers = tuple[NodeRef, ...]


def ask_of_followers(plan: Plan, cluster: ClusterRef, *brokers: NodeRef) -> None:
    """Cut a follower from its leader, then from everybody: it leaves the ISR, and nothing is refused."""
    first, second, third = brokers
    for called, side in (("its leader", first), ("everybody", (cluster.all_but(second), cluster.coordinator))):
        topic = f"follower-cut-from-{called.replace(' ', '-')}"
        with plan.phase(f"a follower is cut from {called}"):
            _make(plan, topic, brokers)
            plan.do(cut(second, side))
            _expect_lag(plan, topic, first)
            told_by = (first, third)
            _expect(plan, topic, "leaves", in_sync(topic, first, third, told_by=told_by), within=_ISR)
            _expect(plan, topic, "leader_stays", led_by(topic, first, told_by=told_by))
            _expect_taken(plan, topic, first, _SAFE, "all", "rest_is_enough")
        _heal_losing_nothing(plan, topic, brokers)


def ask_of_a_follower_without_coordinator(
    plan: Plan, cluster: ClusterRef, *brokers: NodeRef, epoch_changes: bool
) -> None:
    """Cut a follower from the coordinator alone: it is not in sync any more, whether it goes on fetching or not.

    Where a smaller ISR is a new leader epoch, as in ZooKeeper mode, the follower is never told of that, and gives up
    (AbstractFetcherThread: FENCED_LEADER_EPOCH). KRaft keeps the epoch (KAFKA-15021).
    """
    first, second, third = brokers
    topic = "follower-cut-from-coordinator"
    with plan.phase("a follower is cut from the coordinator"):
        _make(plan, topic, brokers)
        plan.do(cut(second, cluster.coordinator))
        told_by = (first, third)
        _expect(plan, topic, "leaves", in_sync(topic, first, third, told_by=told_by), within=_ISR)
        _expect(plan, topic, "leader_stays", led_by(topic, first, told_by=told_by))
        _expect_taken(plan, topic, first, _SAFE, "all", "rest_is_enough")
        if epoch_changes:
            given_up = has_logged(second, f"Partition {topic}-0 marked as failed")
            _expect(plan, topic, "fetches_no_more", given_up, within="5s")
        else:
            _expect(plan, topic, "still_fetches", keeps_up(topic, second, first), within="5s")
        plan.do(let_pass("6s"))
        _expect(plan, topic, "stays_out", in_sync(topic, first, third, told_by=told_by))
    _heal_losing_nothing(plan, topic, brokers)


def ask_of_a_leader_without_followers(plan: Plan, *brokers: NodeRef) -> None:
    """Cut the leader from its followers: it goes on alone, and only min.insync.replicas says for whom."""
    first, second, third = brokers
    alone, pair = "leader-alone-min-1", "leader-alone-min-2"
    with plan.phase("the leader is cut from its followers"):
        _make(plan, alone, brokers)
        _make(plan, pair, brokers, min_insync_replicas="2")
        plan.do(cut(first, (second, third)))
        for topic in (alone, pair):
            _expect_taken(plan, topic, first, _AHEAD, "1", "one_ack_is_taken")
        for topic in (alone, pair):
            _expect(plan, topic, "isr_is_the_leader", in_sync(topic, first), within=_ISR)
            _expect(plan, topic, "leader_stays", led_by(topic, first))
        _expect_taken(plan, alone, first, _SAFE, "all", "all_acks_are_taken")
        _expect_refused(plan, pair, first, "all", "all_acks_are_refused", _TOO_FEW)
    _heal_losing_nothing(plan, alone, brokers)
    with plan.phase(f"“{pair}” is whole too"):
        _expect_whole(plan, pair, brokers)
        _expect_loss(plan, pair, 0)


def ask_of_a_deposed_leader(plan: Plan, side: Side, called: str, *brokers: NodeRef) -> None:
    """Cut the leader from a side that has the coordinator in it: another one leads, and the old one knows nothing.

    What it takes with acks=1 is lost, exactly; what acks=all asks for it does not acknowledge.
    """
    first, second, third = brokers
    others = (second, third)
    topic = f"leader-cut-from-{called}"
    with plan.phase(f"the leader is cut from the {called}"):
        _make(plan, topic, brokers)
        plan.do(cut(first, side))
        _expect(plan, topic, "another_leads", led_by(topic, second, told_by=others), within=_ELECTION)
        _expect(plan, topic, "old_leader_is_out", in_sync(topic, *others, told_by=others))
        _expect(plan, topic, "old_leader_knows_nothing", led_by(topic, first, told_by=(first,)))
        _expect_taken(plan, topic, first, _AHEAD, "1", "old_leader_takes_one_ack")
        _expect_refused(plan, topic, first, "all", "old_leader_times_out", _TIMED_OUT)
        _expect_taken(plan, topic, second, _SAFE, "all", "new_leader_takes_all_acks")
        plan.do(let_pass("6s"))
        _expect_taken(plan, topic, first, _AHEAD, "1", "old_leader_never_refuses")
    with plan.phase(f"the leader that was cut from the {called} comes back"):
        plan.do(heal())
        _expect(plan, topic, "old_leader_learns", led_by(topic, second), within=_ELECTION)
        _expect_whole(plan, topic, brokers)
        _expect_refused(plan, topic, first, "1", "old_leader_refuses", _NOT_LEADER)
        _expect(plan, topic, "truncates", has_truncated(first, topic), within="5s")
        _expect_loss(plan, topic, 2 * _AHEAD)
        plan.do(elect_preferred(topic))


def ask_of_an_isr_of_one(plan: Plan, cluster: ClusterRef, *brokers: NodeRef) -> None:
    """Cut the leader from its followers until it is alone in sync, and then from everybody.

    Nobody else may lead then, and nothing is lost; with unclean elections it is, acks=all or not, unless
    min.insync.replicas forbade the writes. Eligible replicas (KIP-966) are who left an ISR that was smaller than
    min.insync.replicas: where the cluster keeps account of them the follower that left last leads, and only acks=1 is
    lost. So the third leaves first: who of two that leave at once is eligible would be chance.
    """
    first, second, third = brokers
    others = (second, third)
    clean, unclean = ("isr-of-one-min-1", "isr-of-one-min-2"), ("unclean-min-1", "unclean-min-2")
    topics = (*clean, *unclean)
    with plan.phase("the leader is alone in sync"):
        for topic in topics:
            settings = {"min_insync_replicas": topic[-1]}
            if topic in unclean:
                settings[UNCLEAN.replace(".", "_")] = "true"
            _make(plan, topic, brokers, **settings)
        for lost_one, left in ((third, (first, second)), (second, (first,))):
            plan.do(cut(first, lost_one))
            for topic in topics:
                _expect_lag(plan, topic, first, f"one_ack_is_taken_by_{len(left)}")
            plan.guard(*(in_sync(topic, *left) for topic in topics), within=_ISR)
    with plan.phase("the leader that is alone in sync is cut from everybody"):
        plan.do(cut(first, (cluster.all_but(first), cluster.coordinator)))
        _expect(plan, clean[0], "nobody_leads", has_no_partition_leader(clean[0], told_by=others), within=_ELECTION)
        with plan.only_if(lacks_feature(ELIGIBLE)):
            _expect(plan, clean[1], "nobody_leads", has_no_partition_leader(clean[1], told_by=others), within=_ELECTION)
        with plan.only_if(has_feature(ELIGIBLE)):
            _expect(plan, clean[1], "eligible_one_leads", led_by(clean[1], second, told_by=others), within=_ELECTION)
        for topic in unclean:
            _expect(plan, topic, "another_leads", led_by(topic, second, told_by=others), within=_ELECTION)
        for one, two in (clean, unclean):
            _expect_taken(plan, one, first, _AHEAD, "all", "isolated_leader_takes_all_acks")
            _expect_refused(plan, two, first, "all", "isolated_leader_refuses", _TOO_FEW)
    with plan.phase("the leader that was alone in sync comes back"):
        plan.do(heal())
        _expect_return(plan, clean[0], first, 0, brokers)
        with plan.only_if(lacks_feature(ELIGIBLE)):
            _expect_return(plan, clean[1], first, 0, brokers)
        with plan.only_if(has_feature(ELIGIBLE)):
            _expect_return(plan, clean[1], second, 1, brokers)
        _expect_return(plan, unclean[0], second, 1 + _AHEAD, brokers)
        _expect_return(plan, unclean[1], second, 1, brokers)


def ask_of_an_unheard_controller(plan: Plan, cut_off: NodeRef, brokers: Brokers) -> None:
    """Cut the controller from the brokers, and kill a leader meanwhile: nobody can be told who leads now."""
    first, second = brokers
    topic = "unheard-controller"
    with plan.phase("the controller is cut from the brokers"):
        _make(plan, topic, brokers, min_insync_replicas="2")
        plan.do(cut(cut_off, brokers), let_pass("6s"))
        _expect(plan, topic, "brokers_go_on", led_by(topic, first, told_by=brokers))
        _expect_taken(plan, topic, first, _SAFE, "all", "writes_go_on")
    with plan.phase("the leader is killed while the controller is cut off"):
        plan.do(kill(first), let_pass("8s"))
        _expect(plan, topic, "nobody_is_told", led_by(topic, first, told_by=(second,)))
        _expect_refused(plan, topic, second, "all", "follower_refuses", _NOT_LEADER)
    with plan.phase("the controller is heard again"):
        plan.do(heal(), start(first))
        _expect_whole(plan, topic, brokers)
        _expect_loss(plan, topic, 0)


def ask_of_a_deposed_controller(
    plan: Plan, side: Side, survivor: NodeRef, victim: NodeRef, old: NodeRef, *, gives_up: Condition | None = None
) -> None:
    """Cut the controller from a side without which it is none: the next one acts, and the old one does nothing more.

    In KRaft the old one knows by itself that it leads no more, while it is still cut off: `gives_up` asks for that.
    """
    topic = "deposed-controller"
    with plan.phase("the controller is cut from its like"):
        _make(plan, topic, (survivor, victim))
        plan.do(cut(old, side))
        _expect(plan, topic, "next_controller", has_new_leader(), within=_ELECTION)
        if gives_up is not None:
            plan.expect(gives_up, within=FetchTimeouts(1.5), named="old_controller_gave_up")
    with plan.phase("the next controller acts"):
        plan.do(kill(victim))
        told_by = (survivor,)
        _expect(plan, topic, "next_controller_acts", in_sync(topic, survivor, told_by=told_by), within=_ELECTION)
        _expect_taken(plan, topic, survivor, _SAFE, "all", "writes_go_on")
        plan.do(let_pass("5s"))
        _expect(plan, topic, "old_controller_does_nothing", in_sync(topic, survivor, told_by=told_by))
    with plan.phase("the old controller comes back"):
        plan.do(heal(), start(victim))
        _expect_whole(plan, topic, (survivor, victim))
        _expect_loss(plan, topic, 0)


def _make(plan: Plan, topic: str, brokers: Brokers, **settings: str) -> None:
    """Make a topic that its first broker leads and all hold, and write to all."""
    plan.do(create_partition(topic, *brokers, **settings), write(topic, _BEFORE))
    plan.guard(led_by(topic, brokers[0]), in_sync(topic, *brokers), within=_ISR)


def _expect(plan: Plan, topic: str, named: str, condition: Condition, within: str = _AT_ONCE) -> None:
    plan.expect(condition, within=within, named=f"{topic.replace('-', '_')}_{named}")


def _expect_whole(plan: Plan, topic: str, brokers: Brokers) -> None:
    _expect(plan, topic, "all_up", is_up(), within=_BACK)
    _expect(plan, topic, "all_in_sync", in_sync(topic, *brokers), within=_BACK)
    expect_same_replicas(plan, topic)


def _expect_return(plan: Plan, topic: str, leader: NodeRef, records: int, brokers: Brokers) -> None:
    _expect(plan, topic, "leads_in_the_end", led_by(topic, leader), within=_ELECTION)
    _expect_whole(plan, topic, brokers)
    _expect_loss(plan, topic, records)


def _expect_lag(plan: Plan, topic: str, leader: NodeRef, named: str = "one_ack_is_taken_at_once") -> None:
    """Write what a follower that is cut off lacks: one that holds all is in sync, however long it has been silent.

    Partition.isFollowerOutOfSync compares log ends first, and only then replica.lag.time.max.ms.
    """
    _expect_taken(plan, topic, leader, 1, "1", named)


def _expect_taken(plan: Plan, topic: str, node: NodeRef, records: int, acks: str, named: str) -> None:
    # A sound broker answers within milliseconds; on a host that is short of time it may be seconds, and is no refusal.
    plan.do(offer(topic, node, records, acks=acks, patience="10s"))
    _expect(plan, topic, named, took(topic, records))


def _expect_refused(plan: Plan, topic: str, node: NodeRef, acks: str, named: str, error: str) -> None:
    plan.do(offer(topic, node, 1, acks=acks))
    _expect(plan, topic, named, refused(topic, error))


def _heal_losing_nothing(plan: Plan, topic: str, brokers: Brokers) -> None:
    with plan.phase(f"“{topic}” is healed"):
        plan.do(heal())
        _expect_whole(plan, topic, brokers)
        _expect(plan, topic, "keeps_up", keeps_up(topic, brokers[1], brokers[0]), within="5s")
        _expect_loss(plan, topic, 0)


def _expect_loss(plan: Plan, topic: str, records: int) -> None:
    plan.do(count_lost(topic))
    _expect(plan, topic, f"lost_{records}", lost(topic, records))
