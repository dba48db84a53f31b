"""The quickest question that a cluster can be asked: for tests whose subject is everything around it."""

from harness.scenario import follows_leader, kraft, scenario, voter_moves


@scenario(kraft(controllers=3, observers=1), suite="quick", budget="3m")
def comes_up(plan, cluster, observer):
    """Does the observer follow the leader of a cluster that has just come up?"""
    voter_moves.start_all(plan, observer)
    with plan.phase("the cluster serves"):
        plan.expect(follows_leader(observer), within="30s", named="observer_follows")
