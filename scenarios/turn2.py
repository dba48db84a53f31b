"""Every voter moves, then the leader stops: every address that the observer was configured with is stale."""

from harness.scenario import kraft, rolls, scenario


@scenario(kraft(controllers=3, observers=1), suite="bootstrap", budget="4m")
def turn2(plan, cluster, observer):
    """Does the observer find the new leader when every address it was configured with is stale?"""
    rolls.start_all(plan, cluster, observer)
    unmoved = rolls.move_all_voters_but_one(plan, cluster, observer)
    with plan.phase("the last voter moves"):
        plan.do(unmoved.restart(ports="new"))
        plan.guard(cluster.is_up(), within="60s")
        plan.do(unmoved.register_endpoint())
        rolls.guard_that_a_moved_voter_leads(plan, cluster, observer)
    with plan.phase("the leader stops"):
        plan.do(cluster.leader.stop())
        plan.guard(cluster.has_new_leader(), cluster.leader_is_moved_and_registered(), within="30s")
        rolls.expect_recovery(plan, cluster, observer)
