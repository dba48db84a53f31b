"""Voters announce endpoints that lead nowhere from where an observer is, as names of another network's DNS."""

from harness.scenario import follows_leader, has_leader, kraft, scenario, start_without_names, stop, voter_moves
from harness.scenario.bounds import RecoveryBound


@scenario(kraft(controllers=3, observers=1, names=True), suite="gaps", budget="4m")
def unroutable_endpoints(plan, cluster, observer):
    """Does an observer still fetch by the right addresses of its configuration where announced names do not resolve?

    Kafka 3.9.1 goes on through its bootstrap servers between failures (KAFKA-20514 is of a leader that it sticks to).
    """
    voter_moves.start_all(plan, observer)
    with plan.phase("names do not resolve any more"):
        plan.do(stop(observer), start_without_names(observer))
        plan.guard(has_leader(), within="10s")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_follows_by_address")
