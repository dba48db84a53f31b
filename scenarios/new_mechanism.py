"""The observer starts with one right address only, and the voter behind it stops."""

from harness.scenario import (
    fails,
    follows_leader,
    has_leader,
    has_new_leader,
    is_up,
    kraft,
    produce,
    scenario,
    start,
    start_voters,
    stop,
    voter_moves,
    voters_caught_up,
)


@scenario(
    kraft(controllers=3, observers=1),
    suite=("bootstrap", "standard"),
    budget="4m",
    expected=fails("observer_recovers", known=voter_moves.ASKS_CONFIGURED_ONLY),
)
def new_mechanism(plan, cluster, observer):
    """Does an observer with only one right address in its configuration survive the stop of the voter behind it?"""
    with plan.phase("the voters start"):
        plan.do(start_voters())
        plan.guard(is_up(), has_leader(), within="90s")
        plan.background(produce("orders"))
    with plan.phase("the observer starts"):
        plan.do(start(observer, knows=cluster.leader))
        plan.guard(is_up(), voters_caught_up(), follows_leader(observer), within="60s")
    with plan.phase("the leader stops"):
        plan.do(stop(cluster.leader))
        plan.guard(has_new_leader(), within="30s")
        voter_moves.expect_recovery(plan, observer)
