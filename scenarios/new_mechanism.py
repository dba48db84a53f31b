"""The observer starts with one right address only, and the voter behind it stops."""

from harness.scenario import kraft, produce, rolls, scenario


@scenario(kraft(controllers=3, observers=1), suite="bootstrap", budget="4m")
def new_mechanism(plan, cluster, observer):
    """Does an observer that was told one right address only survive the stop of the voter behind it?"""
    with plan.phase("the voters start"):
        plan.do(cluster.start_voters())
        plan.guard(cluster.is_up(), cluster.has_leader(), within="90s")
        plan.background(produce(topic="orders", acks="all"))
    with plan.phase("the observer starts"):
        plan.do(observer.start(knows=cluster.leader))
        plan.guard(cluster.is_up(), cluster.voters_caught_up(), observer.follows_leader(), within="60s")
    with plan.phase("the leader stops"):
        plan.do(cluster.leader.stop())
        plan.guard(cluster.has_new_leader(), within="30s")
        rolls.expect_recovery(plan, cluster, observer)
