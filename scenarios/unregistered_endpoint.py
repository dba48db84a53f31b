"""A voter that listens elsewhere announces it by itself (KIP-853), or not."""

from harness.scenario import fails, is_up, kraft, restart, scenario, voter_moves, voter_set_knows
from harness.scenario.bounds import FetchTimeouts

# UpdateRaftVoter is due once in three fetch time-outs (FollowerState.updateVoterPeriodMs): five times in this bound.
FIVE_PERIODS = FetchTimeouts(15)


@scenario(
    kraft(controllers=3, observers=1),
    suite="gaps",
    budget="4m",
    expected=fails("endpoint_is_registered", known="KAFKA-16538", before="4.1"),
)
def unregistered_endpoint(plan, cluster, observer):
    """Does a follower that restarts on new ports get into the voter set with them, while the cluster is quiet?

    In 3.9.1 it asks for that only where no request to the leader is under way, and a Fetch nearly always is
    (KAFKA-16538).
    """
    voter_moves.start_all(plan, observer)
    with plan.phase("a follower moves"):
        _, moved, _ = plan.name_voters("leader", "voter that moves", "other voter")
        plan.do(restart(moved, ports="new"))
        plan.guard(is_up(), within="60s")
        plan.expect(voter_set_knows(moved), within=FIVE_PERIODS, named="endpoint_is_registered")
