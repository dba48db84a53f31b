"""Disks without room, disks that do not flush, and clocks that are wrong: what a node does whose host lets it down."""

from harness.scenario import (
    allow_death,
    count_lost,
    create_partition,
    elect_preferred,
    election_moves,
    empty_disk,
    fail_fsync,
    fill_disk,
    has_ended,
    has_leader,
    has_logged,
    has_new_leader,
    in_sync,
    is_up,
    keep_ledger,
    kraft,
    led_by,
    let_pass,
    lost,
    partition_cuts,
    scenario,
    sees_topic,
    set_clock,
    small_disk,
    start,
    stop,
    voter_moves,
    write,
)
from harness.scenario.bounds import AN_ELECTION

# A broker without any log directory left halts (LogManager.handleLogDirFailure, and ReplicaManager's for the metadata
# log's), and so does a node whose raft thread cannot write (KafkaRaftManager: ProcessTerminatingFaultHandler).
HALTS = (
    "Shutdown broker because all log dirs in",
    "Shutdown broker because the metadata log dir",
    "Encountered fatal fault",
)
BACK, SESSION = "45s", "15s"


@scenario(
    kraft(controllers=1, observers=3, combined=False, network=True),
    suite="faults",
    budget="5m",
    properties=partition_cuts.IN_KRAFT,
)
def full_disk(plan, cluster, *_):
    """Does a broker whose disk is full halt, so that others lead, and is it whole again once there is room?"""
    first, second, third = election_moves.begin(plan)
    with plan.phase("a broker has a small disk"):
        plan.do(stop(first), small_disk(first, "64m"), start(first))
        plan.guard(is_up(), within=BACK)
        plan.background(keep_ledger("ledger"))
        plan.do(create_partition("full", first, second, third, min_insync_replicas="2"), write("full", 20))
        plan.guard(led_by("full", first), in_sync("full", first, second, third), within=SESSION)
        # The first entries of indexes are there then: a page of a mapped file for which there is no room is no
        # exception but a signal.
        plan.do(let_pass("6s"))
    with plan.phase("its disk is full"):
        plan.do(allow_death(first), fill_disk(first))
        plan.expect(has_ended(first), within="30s", named="full_disk_ends_the_broker")
        plan.expect(has_logged(first, *HALTS), within="5s", named="broker_says_that_its_disk_failed")
        plan.expect(led_by("full", second), within=SESSION, named="another_leads_without_the_full_disk")
        plan.expect(in_sync("full", second, third), within=SESSION, named="full_disk_is_out_of_sync")
        plan.do(write("full", 5))
    with plan.phase("there is room again"):
        plan.do(empty_disk(first), start(first))
        plan.expect(is_up(), within=BACK, named="all_up_after_full_disk")
        plan.expect(in_sync("full", first, second, third), within=BACK, named="all_in_sync_after_full_disk")
        _expect_nothing_lost(plan, "full", "ledger")


@scenario(
    kraft(controllers=3, observers=1),
    suite="faults",
    budget="5m",
    needs=("failing_calls",),
    properties=voter_moves.SHORT_SESSIONS,
)
def failing_fsync(plan, cluster, observer):
    """Does a node end that cannot flush, the leader of the quorum and a broker, and is nothing lost that it had?"""
    voter_moves.start_all(plan, observer)
    plan.background(keep_ledger("ledger"))
    with plan.phase("the leader's disk does not flush"):
        failing, *_ = plan.name_voters("leader whose disk fails", "second voter", "third voter")
        plan.do(allow_death(failing), fail_fsync(failing))
        plan.expect(has_ended(failing), within="20s", named="failing_fsync_ends_the_leader")
        plan.expect(has_logged(failing, *HALTS), within="5s", named="leader_says_that_its_disk_failed")
        plan.expect(has_new_leader(), within=AN_ELECTION, named="another_leads_without_the_failing_disk")
    with plan.phase("the leader that was comes back"):
        plan.do(start(failing))
        voter_moves.expect_whole(plan, observer, "after_the_leaders_disk_failed")
    with plan.phase("the observer's disk does not flush"):
        # A broker flushes no record by itself; it writes down every five seconds how far partitions are committed.
        plan.do(allow_death(observer), fail_fsync(observer))
        plan.expect(has_ended(observer), within="20s", named="failing_fsync_ends_the_observer")
        plan.expect(has_logged(observer, *HALTS), within="5s", named="observer_says_that_its_disk_failed")
    with plan.phase("the observer comes back"):
        plan.do(start(observer))
        voter_moves.expect_whole(plan, observer, "after_the_observers_disk_failed")
        election_moves.expect_same_replicas(plan, "ledger")


@scenario(
    kraft(controllers=1, observers=3, combined=False),
    suite="faults",
    budget="5m",
    needs=("fake_clock",),
    properties=partition_cuts.IN_KRAFT,
)
def wrong_clock(plan, cluster, *_):
    """Does nobody lose what it leads, or its place in the ISR, for a clock that is five minutes ahead or behind?"""
    first, second, third = election_moves.begin(plan)
    (controller,) = plan.name_voters("controller")
    plan.background(keep_ledger("ledger"))
    with plan.phase("the leader of a partition is ahead"):
        plan.do(create_partition("clock", first, second, third, min_insync_replicas="2"), write("clock", 20))
        plan.do(set_clock(first, "+5m"))
        _expect_peace(plan, "with_a_leader_ahead", first, second, third)
    with plan.phase("the controller is behind, too"):
        plan.do(set_clock(controller, "-5m"))
        plan.expect(has_leader(), within=BACK, named="controller_leads_that_is_behind")
        _expect_peace(plan, "with_a_controller_behind", first, second, third)
        plan.do(create_partition("made-in-the-past", second, third))
        plan.expect(sees_topic(first, "made-in-the-past"), within="10s", named="metadata_goes_out_from_the_past")
    with plan.phase("every clock is right again"):
        plan.do(set_clock(first, "+0s"))
        plan.guard(is_up(), within=BACK)
        plan.do(set_clock(controller, "+0s"))
        _expect_all_there(plan, "with_right_clocks", first, second, third)
        _expect_nothing_lost(plan, "clock", "ledger")


def _expect_all_there(plan, named, *brokers):
    plan.expect(is_up(), within=BACK, named=f"all_up_{named}")
    plan.expect(in_sync("clock", *brokers), within=BACK, named=f"all_in_sync_{named}")


def _expect_peace(plan, named, *brokers):
    """Expect that all are there and in sync, and that so they stay for longer than sessions and lags last: 4 s."""
    _expect_all_there(plan, named, *brokers)
    plan.do(elect_preferred("clock"))
    plan.expect(led_by("clock", brokers[0]), within="10s", named=f"preferred_leads_{named}")
    for _ in range(3):
        plan.do(write("clock", 5), let_pass("3s"))
    plan.expect(in_sync("clock", *brokers), within="1s", named=f"nobody_left_the_isr_{named}")
    plan.expect(led_by("clock", brokers[0]), within="1s", named=f"preferred_still_leads_{named}")
    plan.expect(is_up(), within="1s", named=f"nobody_is_fenced_{named}")


def _expect_nothing_lost(plan, topic, ledger):
    plan.do(count_lost(topic))
    plan.expect(lost(topic, 0), within="1s", named=f"{topic}_lost_0")
    election_moves.expect_same_replicas(plan, topic)
    election_moves.expect_same_replicas(plan, ledger)
