"""Nodes that speak to each other by TLS and SASL, each controller with two listeners."""

from harness.scenario import (
    add_controller,
    create_user,
    follows_leader,
    is_up,
    kill,
    kraft,
    produce,
    quorum_is_described,
    remove_controller,
    restart,
    scenario,
    start,
    start_all,
    voter_moves,
    votes,
    votes_no_more,
)

SECURED = kraft(controllers=3, observers=1, secured=True)


@scenario(SECURED, suite="standard", budget="4m", properties=voter_moves.SHORT_SESSIONS)
def secured(plan, cluster, observer):
    """Do nodes with two controller listeners, TLS and SASL find the next leader, and can a voter leave and return?"""
    with plan.phase("start"):
        plan.do(start_all())
        plan.guard(is_up(), follows_leader(observer), within="90s")
        plan.do(create_user())
        plan.background(produce("orders"))
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described")
    with plan.phase("the leader is killed"):
        first, *_ = plan.name_voters("first leader", "second voter", "third voter")
        plan.do(kill(first))
        voter_moves.expect_new_leader(plan, observer, "after_kill")
        plan.do(start(first))
        voter_moves.expect_whole(plan, observer, "after_kill")
    with plan.phase("a voter leaves and comes back"):
        plan.do(remove_controller(first))
        plan.expect(votes_no_more(first), within="5s", named="removed_voter_is_unlisted")
        plan.do(add_controller(first))
        plan.expect(votes(first), within="5s", named="added_voter_is_listed")
    with plan.phase("the observer restarts"):
        plan.do(restart(observer))
        voter_moves.expect_whole(plan, observer, "after_observer_restart")
    with plan.phase("nothing happens"):
        plan.measure("idle", "20s")
