"""Controllers that are no brokers: the active one leaves the voters under load and comes back, dies, and hangs."""

from harness.scenario import (
    add_controller,
    create_topics_steadily,
    follows_leader,
    has_leader,
    has_new_leader,
    hold,
    is_up,
    kill,
    kraft,
    observes,
    produce,
    quorum_is_described,
    raft_requests_are_checked,
    release,
    remove_controller,
    scenario,
    start,
    start_voters,
    voter_moves,
    votes,
    votes_no_more,
)
from harness.scenario.bounds import AN_ELECTION, RecoveryBound

DEDICATED = kraft(controllers=3, observers=1, combined=False, bootstrap_servers=True)


@scenario(DEDICATED, suite="standard", budget="4m", properties=voter_moves.SHORT_SESSIONS)
def dedicated_controllers(plan, cluster, observer):
    """Can the active controller be removed and added again under load, and does the quorum survive its leader after it?

    Kafka's own system test lists who votes, and who observes, five seconds after each change
    (quorum_reconfiguration_test.py). A leader that hangs, in a pause of its JVM or its host, breaks no connection: who
    has a request under way to it has to give that up, and it has to learn that it leads no more.
    """
    # On 3.9.1 a broker that comes up before a leader is settled may read voters that are truncated then, and know none
    # (docs/upstream/unread-voters-after-truncation.md): with bootstrap servers alone it never registers.
    with plan.phase("the controllers start"):
        plan.do(start_voters())
        plan.guard(is_up(), has_leader(), within="90s")
    with plan.phase("the broker starts"):
        plan.do(start(observer))
        plan.guard(is_up(), follows_leader(observer), within="90s")
        plan.background(produce("orders"))
    with plan.phase("the active controller is removed"):
        active, *_ = plan.name_voters("active controller", "second controller", "third controller")
        plan.background(create_topics_steadily("steady"))
        plan.do(remove_controller(active))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_after_removal")
        plan.expect(votes_no_more(active), within="5s", named="removed_controller_is_unlisted")
        plan.expect(observes(active), within="5s", named="removed_controller_observes")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_follows_after_removal")
    with plan.phase("it is added again"):
        plan.do(add_controller(active))
        plan.expect(votes(active), within="5s", named="added_controller_is_listed")
        voter_moves.expect_whole(plan, observer, "after_addition")
    with plan.phase("the leader is killed"):
        leader, *_ = plan.name_voters("leader", "one follower", "other follower")
        plan.do(kill(leader))
        voter_moves.expect_new_leader(plan, observer, "after_kill")
        plan.do(start(leader))
        voter_moves.expect_whole(plan, observer, "after_kill")
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described_after_kill")
        plan.expect(raft_requests_are_checked(), within="10s", named="raft_requests_are_checked_after_kill")
    with plan.phase("the leader hangs"):
        hung, *_ = plan.name_voters("leader that hangs", "voter that goes on", "other voter that goes on")
        plan.do(hold(hung))
        voter_moves.expect_new_leader(plan, observer, "after_hang")
    with plan.phase("it goes on"):
        plan.do(release(hung))
        voter_moves.expect_whole(plan, observer, "after_hang")
    with plan.phase("nothing happens"):
        plan.measure("idle", "20s")
