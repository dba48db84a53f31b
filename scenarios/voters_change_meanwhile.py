"""Voters come and go while an observer is down."""

from harness.scenario import (
    add_controller,
    fails,
    follows_leader,
    has_leader,
    is_up,
    kraft,
    leads,
    only_vote,
    remove_controller,
    restart,
    scenario,
    start,
    stop,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import RecoveryBound

WITH_RESERVE = kraft(controllers=3, observers=1, spares=1)


@scenario(
    WITH_RESERVE,
    suite="gaps",
    budget="5m",
    properties=voter_moves.SHORT_SESSIONS,
    expected=fails("observer_finds_changed_voters", known=voter_moves.ASKS_CONFIGURED_ONLY),
)
def voters_change_meanwhile(plan, cluster, observer):
    """Does an observer find the leader after a voter was added and the one that it knew as leader removed meanwhile?

    No address of its configuration is right, and two of the three voters that its disk knows are still there.
    """
    leader, known, other = voter_moves.start_with_stale_addresses(plan, observer)
    (new,) = cluster.spares
    with plan.phase("voters change while the observer is down"):
        plan.do(stop(observer), start(new))
        plan.guard(is_up(), within="60s")
        plan.do(add_controller(new), restart(leader))
        plan.guard(has_leader(), is_up(), voters_caught_up(), within="60s")
        plan.do(restart(leader), when=leads(leader))
        plan.guard(has_leader(), is_up(), voters_caught_up(), within="60s")
        plan.do(remove_controller(leader), stop(leader))
    with plan.phase("the observer starts"):
        plan.guard(only_vote(known, other, new), voters_caught_up(), within="30s")
        plan.do(start(observer))
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_finds_changed_voters")
