"""The voter set names an endpoint at which nobody listens, as a mistake in somebody's automation registers it."""

from harness.scenario import (
    follows_leader,
    has_leader,
    has_new_leader,
    kraft,
    register_wrong_endpoint,
    scenario,
    stop,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import RecoveryBound


@scenario(kraft(controllers=3, observers=1), suite="gaps", budget="4m", properties=voter_moves.SHORT_SESSIONS)
def wrong_endpoint(plan, cluster, observer):
    """Does an observer find the next leader where the voter set is wrong about one voter, and its configuration right?

    The voters that are left are reached by the leader's own word and by connections that are open.
    """
    voter_moves.start_all(plan, observer)
    leader, wrong, _ = plan.name_voters("leader", "voter with a wrong endpoint", "other voter")
    with plan.phase("a wrong endpoint is registered"):
        plan.do(register_wrong_endpoint(wrong))
        plan.guard(has_leader(), voters_caught_up(), follows_leader(observer), within="30s")
    with plan.phase("the leader stops"):
        plan.do(stop(leader))
        plan.guard(has_new_leader(), voters_caught_up(), within="30s")
        bound = RecoveryBound(voters=3)
        plan.expect(follows_leader(observer), within=bound, named="observer_follows_beside_wrong_endpoint")
