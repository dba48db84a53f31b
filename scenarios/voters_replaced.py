"""The incident: controllers with new ids take the place of all that a broker is configured with."""

from harness.scenario import (
    add_controller,
    count_right_addresses,
    create_topics,
    fails,
    fetches_from_leader,
    finds_leader,
    follows_leader,
    has_leader,
    has_new_leader,
    is_up,
    knows_the_living,
    kraft,
    leads,
    log_connections,
    only_vote,
    remove_controller,
    restart,
    scenario,
    sees_topic,
    start,
    stop,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import RecoveryBound

BY_ADDRESS = kraft(controllers=3, observers=1, spares=3, combined=False)
BY_NAME = kraft(controllers=3, observers=1, spares=3, combined=False, names=True)


@scenario(
    BY_ADDRESS,
    suite="incident",
    budget="5m",
    expected=fails("observer_recovers", known=voter_moves.ASKS_CONFIGURED_ONLY),
)
def voters_replaced(plan, cluster, observer):
    """Does a broker that stayed up find the next leader when every controller that it is configured with was replaced?

    Controllers with new ids join by AddRaftVoter, every configured one leaves by RemoveRaftVoter and stops, and then
    the leader stops.
    """
    _replace_voters(plan, cluster, observer)
    _stop_leader(plan, cluster, observer)


@scenario(
    BY_NAME,
    suite="incident",
    budget="5m",
    expected=fails("observer_recovers", known=voter_moves.ASKS_CONFIGURED_ONLY),
)
def voters_replaced_by_name(plan, cluster, observer):
    """Does the broker find the next leader, too, where configuration and voter set have names, not addresses?"""
    _replace_voters(plan, cluster, observer)
    _stop_leader(plan, cluster, observer)


def _replace_voters(plan, cluster, observer):
    voter_moves.start_all(plan, observer)
    with plan.phase("new controllers join"):
        plan.do(*map(start, cluster.spares))
        plan.guard(is_up(), within="60s")
        plan.do(*map(add_controller, cluster.spares))
        plan.guard(voters_caught_up(), follows_leader(observer), within="30s")
    for leaving in plan.name_voters("first leader", "second configured voter", "third configured voter"):
        with plan.phase(f"{leaving.description} leaves"):
            # Who leads is not removed: the others might never elect again (docs/upstream).
            plan.do(restart(leaving), when=leads(leaving))
            plan.guard(has_leader(), is_up(), voters_caught_up(), follows_leader(observer), within="60s")
            plan.do(remove_controller(leaving), stop(leaving), count_right_addresses(observer))
    with plan.phase("only new controllers are left"):
        plan.guard(only_vote(*cluster.spares), voters_caught_up(), follows_leader(observer), within="30s")


def _stop_leader(plan, cluster, observer):
    bound = RecoveryBound(voters=3)
    with plan.phase("the leader stops"):
        plan.do(log_connections(observer), stop(cluster.leader))
        plan.guard(has_new_leader(), within="30s")
        plan.expect(finds_leader(observer), within=bound, named="observer_recovers")
        plan.expect(fetches_from_leader(observer), within="10s", named="leader_answers_observer")
        plan.do(create_topics("after-recovery", 1))
        plan.expect(sees_topic(observer, "after-recovery-0"), within=bound, named="metadata_reaches_observer")
        plan.expect(knows_the_living(observer), within="10s", named="observer_knows_the_living")
