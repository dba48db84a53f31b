"""Every voter goes elsewhere: one after the other behind its name, and all at once."""

from harness.scenario import (
    change_host,
    follows_leader,
    has_leader,
    is_up,
    kraft,
    move_voters,
    scenario,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import FetchTimeouts, RecoveryBound

BY_NAME = kraft(controllers=3, observers=1, names=True)


@scenario(BY_NAME, suite="gaps", budget="6m", properties=voter_moves.SHORT_SESSIONS)
def all_voters_move(plan, cluster, observer):
    """Does the observer follow voters whose names lead to other hosts, and do voters that all move at once elect?

    Who moves at once is not where the voter set says: a vote arrives only by a connection to the same id that was made
    for another reason, to an address of `controller.quorum.voters`. Two of three find each other so; whether the third
    finds them is chance on every build (docs/gaps.md), and is not asked.
    """
    voter_moves.start_all(plan, observer)
    voters = plan.name_voters("first leader", "second voter", "third voter")
    with plan.phase("names lead to other hosts"):
        for voter in voters:
            plan.do(change_host(voter))
            plan.guard(has_leader(), is_up(), voters_caught_up(), within="60s")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_follows_changed_hosts")
    with plan.phase("all voters move at once"):
        plan.do(move_voters())
        plan.expect(has_leader(), within=FetchTimeouts(10), named="moved_quorum_elects")
