"""A cluster that works: a thousand topics, two thousand records a second, and a majority that dies of it."""

from harness.scenario import (
    create_topics,
    create_topics_steadily,
    follows_leader,
    has_leader,
    has_new_leader,
    is_up,
    isr_is_whole,
    kill,
    kraft,
    produce,
    quorum_is_described,
    raft_requests_are_checked,
    restart,
    scenario,
    sees_topic,
    start,
    start_all,
    voter_changes_are_refused,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import AN_ELECTION


@scenario(kraft(controllers=3, observers=1), suite="standard", budget="5m", properties=voter_moves.SHORT_SESSIONS)
def busy_cluster(plan, cluster, observer):
    """Does a busy cluster answer requests about its quorum, and survive restarts and the death of its majority?

    Two thousand records a second are written while each node is restarted. Two of three voters are killed while topics
    are created, and every topic and record that was acknowledged is there afterwards.
    """
    with plan.phase("start"):
        plan.do(start_all())
        plan.guard(is_up(), follows_leader(observer), voters_caught_up(), within="90s")
    with plan.phase("what is asked of the quorum"):
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described")
        plan.expect(voter_changes_are_refused(), within="10s", named="voter_changes_are_refused")
        plan.expect(raft_requests_are_checked(), within="10s", named="raft_requests_are_checked")
    with plan.phase("each node restarts"):
        plan.background(produce("orders", per_second=2000))
        _, first, second = plan.name_voters("first leader", "first follower", "second follower")
        for node, named in ((first, "first_follower"), (second, "second_follower"), (observer, "observer")):
            plan.do(restart(node))
            voter_moves.expect_whole(plan, observer, f"after_{named}_restart")
        leader, *_ = plan.name_voters("leader", "one follower", "other follower")
        plan.do(restart(leader))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_after_restart")
        voter_moves.expect_whole(plan, observer, "after_leader_restart")
    with plan.phase("a thousand topics"):
        plan.do(create_topics("many", 1000))
        plan.expect(sees_topic(observer, "many-999"), within="20s", named="topics_reach_observer")
    with plan.phase("a majority dies while topics are created"):
        plan.background(create_topics_steadily("steady"))
        dying, also_dying, _ = plan.name_voters("dying leader", "dying follower", "surviving follower")
        plan.do(kill(dying, also_dying, after="2s"), start(dying), start(also_dying))
        plan.expect(has_leader(), within="30s", named="leader_after_majority_died")
        voter_moves.expect_whole(plan, observer, "after_majority_died")
        plan.expect(isr_is_whole("orders"), within="30s", named="isr_is_whole_after_majority_died")
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described_after_majority_died")
    with plan.phase("nothing happens"):
        plan.measure("idle", "20s")
