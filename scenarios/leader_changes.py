"""One leader after another, under an observer whose bootstrap servers are stale."""

from harness.scenario import (
    fails,
    follows_leader,
    has_new_leader,
    kraft,
    restart,
    scenario,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import RecoveryBound

# controller.quorum.bootstrap.servers: Kafka numbers these -2, -3 and so on (RaftConfig of 3.9: QuorumConfig).
BY_SERVERS = kraft(controllers=3, observers=1, bootstrap_servers=True)


@scenario(
    BY_SERVERS,
    suite="gaps",
    budget="5m",
    properties=voter_moves.SHORT_SESSIONS,
    expected=fails("observer_follows_leader_1", known=voter_moves.ASKS_CONFIGURED_ONLY),
)
def ten_leaders(plan, cluster, observer):
    """Does an observer that has stale bootstrap servers, and no voters, in its configuration follow ten leaders?"""
    voter_moves.start_with_stale_addresses(plan, observer)
    _change_leader(plan, cluster, observer, 10)


@scenario(
    BY_SERVERS,
    suite="endurance",
    budget="25m",
    properties=voter_moves.SHORT_SESSIONS,
    expected=fails("observer_follows_leader_1", known=voter_moves.ASKS_CONFIGURED_ONLY),
)
def hundred_leaders(plan, cluster, observer):
    """Does an observer that has stale bootstrap servers, and no voters, in its configuration follow 100 leaders?"""
    voter_moves.start_with_stale_addresses(plan, observer)
    _change_leader(plan, cluster, observer, 100)


def _change_leader(plan, cluster, observer, times):
    for number in range(1, times + 1):
        with plan.phase(f"leader change {number}"):
            plan.do(restart(cluster.leader))
            plan.guard(has_new_leader(), voters_caught_up(), within="60s")
            named = f"observer_follows_leader_{number}"
            plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named=named)
