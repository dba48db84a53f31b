"""Every voter moves, then the leader stops: every address that the observer was configured with is stale."""

from harness.scenario import (
    fails,
    has_new_leader,
    is_up,
    kraft,
    leader_is_moved_and_registered,
    register_endpoint,
    restart,
    scenario,
    stop,
    voter_moves,
)


@scenario(
    kraft(controllers=3, observers=1),
    suite=("bootstrap", "standard"),
    budget="4m",
    expected=fails("observer_recovers", known=voter_moves.ASKS_CONFIGURED_ONLY),
)
def turn2(plan, cluster, observer):
    """Does the observer find the new leader when every address it was configured with is stale?"""
    voter_moves.start_all(plan, observer)
    unmoved = voter_moves.move_all_voters_but_one(plan, observer)
    with plan.phase("the last voter moves"):
        plan.do(restart(unmoved, ports="new"))
        plan.guard(is_up(), within="60s")
        plan.do(register_endpoint(unmoved))
        voter_moves.guard_that_a_moved_voter_leads(plan, observer)
    with plan.phase("the leader stops"):
        plan.do(stop(cluster.leader))
        plan.guard(has_new_leader(), leader_is_moved_and_registered(), within="30s")
        voter_moves.expect_recovery(plan, observer)
