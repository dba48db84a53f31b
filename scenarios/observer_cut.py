"""An observer is cut from its leader, and every address that it was configured with is stale when the cut heals."""

from harness.scenario import (
    cut,
    fails,
    has_leader,
    heal,
    is_up,
    kraft,
    let_pass,
    register_endpoint,
    restart,
    scenario,
    voter_moves,
    voters_caught_up,
)


@scenario(
    kraft(controllers=3, observers=1, network=True),
    suite=("faults", "gaps"),
    budget="4m",
    expected=fails("observer_recovers", known="KAFKA-19354", before="4.2"),
)
def observer_cut(plan, cluster, observer):
    """Does the observer find the same leader again, once a cut between them heals, with only stale addresses to ask?

    The cut outlasts its fetch time-out, so that it asks others for the leader. In 3.9.1 it asks only those addresses
    that it was configured with, and never the leader that it knew (KAFKA-19354 made it ask that one, in 4.2.0).
    """
    voter_moves.start_all(plan, observer)
    unmoved = voter_moves.move_all_voters_but_one(plan, observer)
    with plan.phase("the last voter moves"):
        plan.do(restart(unmoved, ports="new"))
        plan.guard(is_up(), within="60s")
        plan.do(register_endpoint(unmoved))
        voter_moves.guard_that_a_moved_voter_leads(plan, observer)
    with plan.phase("the observer is cut from the leader"):
        leader, *_ = plan.name_voters("cut leader", "one follower", "other follower")
        plan.do(cut(observer, leader), let_pass("6s"))
    with plan.phase("the cut heals"):
        plan.do(heal())
        plan.guard(has_leader(), voters_caught_up(), within="30s")
        voter_moves.expect_recovery(plan, observer)
