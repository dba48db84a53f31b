"""Voters announce endpoints that lead nowhere from where an observer is, as names of another network's DNS."""

from harness.scenario import (
    follows_leader,
    has_leader,
    has_new_leader,
    kraft,
    let_pass,
    restart,
    scenario,
    start_without_names,
    stop,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import RecoveryBound

# Configured as voters they would have the ids of the voters, and a connection that is open serves both.
BY_NAME = kraft(controllers=3, observers=1, bootstrap_servers=True, names=True)


@scenario(BY_NAME, suite="gaps", budget="4m", properties=voter_moves.SHORT_SESSIONS)
def unroutable_endpoints(plan, cluster, observer):
    """Does an observer still fetch by the right addresses of its configuration where announced names do not resolve?

    Kafka 3.9.1 goes on through its bootstrap servers between failures (KAFKA-20514 is of a leader that it sticks to).
    """
    bound = RecoveryBound(voters=3)
    voter_moves.start_all(plan, observer)
    with plan.phase("names do not resolve any more"):
        # What it catches up with says nothing: whether it goes on does.
        plan.do(stop(observer), start_without_names(observer), let_pass("8s"))
        plan.guard(has_leader(), within="10s")
        plan.expect(follows_leader(observer), within=bound, named="observer_follows_by_address")
    with plan.phase("the leader restarts"):
        plan.do(restart(cluster.leader))
        plan.guard(has_new_leader(), voters_caught_up(), within="60s")
        plan.expect(follows_leader(observer), within=bound, named="observer_follows_next_leader_by_address")
