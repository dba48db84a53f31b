"""The article's own prediction: what lay one restart beyond the manual test that looked fine."""

from harness.scenario import (
    count_right_addresses,
    fails,
    follows_leader,
    has_leader,
    kraft,
    leader_is_moved_and_registered,
    restart,
    scenario,
    stop,
    voter_moves,
    voters_caught_up,
)


@scenario(
    kraft(controllers=3, observers=1),
    suite="incident",
    budget="4m",
    expected=fails("observer_recovers", known="KAFKA-19354", before="4.2"),
)
def turn1_then_restart(plan, cluster, observer):
    """Does the observer of turn1, which kept following, find the leader again that restarts at its same address?

    Two voters moved and the third one stopped: none of its configured addresses is right any more.
    """
    voter_moves.start_all(plan, observer)
    unmoved = voter_moves.move_all_voters_but_one(plan, observer)
    with plan.phase("the unmoved voter stops"):
        plan.do(stop(unmoved), count_right_addresses(observer))
        plan.guard(has_leader(), follows_leader(observer), within="30s")
    with plan.phase("the leader restarts"):
        plan.do(restart(cluster.leader), count_right_addresses(observer))
        plan.guard(leader_is_moved_and_registered(), voters_caught_up(), within="30s")
        voter_moves.expect_recovery(plan, observer)
