"""A voter on a slow disk, which has moved, and announces to the leader where it listens (UpdateRaftVoter, KIP-853)."""

from harness.scenario import (
    change_settings,
    is_up,
    kraft,
    restart,
    scenario,
    slow_fsync,
    voter_moves,
    voter_set_knows,
)
from harness.scenario.bounds import FetchTimeouts

# It is due once in three fetch time-outs (FollowerState.updateVoterPeriodMs).
FIVE_PERIODS = FetchTimeouts(15)


@scenario(
    kraft(controllers=3, observers=1, combined=False),
    suite="faults",
    budget="4m",
    needs=("failing_calls",),
    properties=voter_moves.SHORT_SESSIONS,
)
def slow_disk(plan, cluster, observer):
    """Does a voter keep up whose disk takes 50 ms to flush, and get into the voter set where it listens by now?

    3.9.1 announces it only where no Fetch is under way when the period ends (KAFKA-16538): a voter that spends its time
    flushing what is written all the while has none.
    """
    voter_moves.start_all(plan, observer)
    plan.background(change_settings("busy"))
    with plan.phase("a follower moves to a slow disk"):
        _, moved, _ = plan.name_voters("leader", "voter that moves", "voter beside it")
        plan.do(restart(moved, ports="new"))
        plan.guard(is_up(), within="60s")
        plan.do(slow_fsync(moved, milliseconds=50))
        plan.expect(voter_set_knows(moved), within=FIVE_PERIODS, named="voter_on_slow_disk_is_registered")
        voter_moves.expect_whole(plan, observer, "beside_slow_disk")
