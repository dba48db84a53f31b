"""Where nothing happens, and nobody ever joins: what a fix for moving voters does there."""

from harness.scenario import (
    asks_as_configured,
    follows_leader,
    has_new_leader,
    kraft,
    restart,
    scenario,
    seldom_replaces_servers,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import RecoveryBound

STATIC = kraft(controllers=3, observers=1, static_voters=True)


@scenario(STATIC, suite="gaps", budget="4m", properties=voter_moves.SHORT_SESSIONS)
def quiet_cluster(plan, cluster, observer):
    """Does a cluster with static voters (kraft.version 0) stay as configured, and is an idle one left undisturbed?"""
    voter_moves.start_all(plan, observer)
    with plan.phase("the leader restarts"):
        plan.do(restart(cluster.leader))
        plan.guard(has_new_leader(), voters_caught_up(), within="60s")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_follows_static_voters")
        plan.expect(asks_as_configured(observer), within="1s", named="list_stays_as_configured")
    with plan.phase("nothing happens"):
        plan.measure("idle", "20s")
        quiet = seldom_replaces_servers(observer, most=1, lately="20s")
        plan.expect(quiet, within="1s", named="list_is_replaced_on_change_only")
