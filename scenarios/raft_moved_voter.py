"""A voter that listens elsewhere announces it to the leader (UpdateRaftVoter, KIP-853), while metadata is written."""

from harness.scenario import (
    change_settings,
    is_up,
    kraft,
    restart,
    scenario,
    voter_moves,
    voter_set_knows,
)
from harness.scenario.bounds import FetchTimeouts

# It is due once in three fetch time-outs (FollowerState.updateVoterPeriodMs).
TWENTY_PERIODS = FetchTimeouts(60)
# A leader appends almost at once, so that a follower has little time to wait for records.
AT_ONCE = {"controller.quorum.append.linger.ms": "2", **voter_moves.SHORT_SESSIONS}


@scenario(kraft(controllers=3, observers=1, combined=False), suite="raft", budget="5m", properties=AT_ONCE)
def raft_moved_voter(plan, cluster, observer):
    """Does a follower that restarts on new ports get into the voter set with them, while metadata is written?

    3.9.1 announces it only where no Fetch is under way when the period ends (KAFKA-16538). One that has records to
    append all the time has none for much of it: it takes one period or a few.
    """
    voter_moves.start_all(plan, observer)
    plan.background(change_settings("busy", topics=16))
    with plan.phase("a follower moves"):
        _, moved, _ = plan.name_voters("leader", "voter that moves", "voter beside it")
        plan.do(restart(moved, ports="new"))
        plan.guard(is_up(), within="60s")
        plan.expect(voter_set_knows(moved), within=TWENTY_PERIODS, named="moved_voter_is_registered")
        voter_moves.expect_whole(plan, observer, "after_move_under_load")
