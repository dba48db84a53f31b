"""The leader loses office in each way there is, one after another, in one cluster."""

from harness.scenario import (
    append_in_vain,
    has_leader,
    has_new_leader,
    has_no_leader,
    hold,
    hold_followers,
    is_up,
    isr_is_whole,
    kill,
    kraft,
    lag_is_described,
    leads,
    let_pass,
    quorum_is_described,
    release,
    release_followers,
    restart,
    scenario,
    start,
    stop,
    voter_moves,
)
from harness.scenario.bounds import AN_ELECTION, FetchTimeouts

# A node is given six seconds to come up before what it takes counts (harness.scenario.monitors.costs).
WAITING_FOR_A_LEADER = "10s"


@scenario(kraft(controllers=3, observers=1), suite="standard", budget="5m", properties=voter_moves.SHORT_SESSIONS)
def leader_loss(plan, cluster, observer):
    """Does the quorum elect another leader, and do all follow it, after a kill, a stop and the loss of its majority?

    Each time the observer has to find the next leader while the one before is away. Two leaders die back to back. One
    dies with records that no other voter has: it and the observer have to truncate them. The leader has lost its
    majority when both followers are held (KIP-595: it gives up after 1.5 fetch time-outs). The observer restarts while
    the leader that it followed is down, which is the only voter whose address its configuration has, and while nobody
    leads. When the clients have ended, nobody leads for long enough to measure what that costs.
    """
    voter_moves.start_all(plan, observer)
    with plan.phase("the leader is killed"):
        first, *_ = plan.name_voters("first leader", "second voter", "third voter")
        plan.do(kill(first))
        voter_moves.expect_new_leader(plan, observer, "after_kill")
    with plan.phase("the one after it is killed as soon as the first is back"):
        next_one, *_ = plan.name_voters("leader after it", "first leader or third voter", "third voter or first leader")
        plan.do(start(first))
        plan.guard(is_up(), within="45s")
        plan.guard(leads(next_one), within="5s")
        plan.do(kill(next_one))
        voter_moves.expect_new_leader(plan, observer, "after_second_kill")
        plan.do(start(next_one))
        voter_moves.expect_whole(plan, observer, "after_second_kill")
    with plan.phase("the next leader stops"):
        second, *_ = plan.name_voters("second leader", "one follower", "other follower")
        plan.do(stop(second))
        voter_moves.expect_new_leader(plan, observer, "after_stop")
        plan.do(start(second))
        voter_moves.expect_whole(plan, observer, "after_stop")
    with plan.phase("the leader dies with records that no voter has"):
        alone, *_ = plan.name_voters("leader with records of its own", "voter without them", "other voter without them")
        plan.do(hold_followers(), append_in_vain(alone, topics=20), kill(alone), release_followers())
        voter_moves.expect_new_leader(plan, observer, "after_lost_records")
        plan.do(start(alone))
        voter_moves.expect_whole(plan, observer, "after_lost_records")
    with plan.phase("the majority hangs"):
        plan.do(hold_followers())
        plan.expect(has_no_leader(), within=FetchTimeouts(1.5), named="leader_without_majority_gives_up")
    with plan.phase("the majority goes on"):
        plan.do(release_followers())
        plan.expect(has_leader(), within=AN_ELECTION, named="leader_after_majority_goes_on")
        voter_moves.expect_whole(plan, observer, "after_majority_goes_on")
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described_after_majority_goes_on")
    with plan.phase("the observer restarts while it is lost"):
        voters = plan.name_voters("last leader", "one voter", "other voter")
        plan.do(kill(observer), stop(voters[0]))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_while_observer_is_away")
        plan.do(start(observer, knows=voters[0]))
        plan.do(kill(observer, after="4s"), start(observer, knows=voters[0]), let_pass("2s"), start(voters[0]))
        voter_moves.expect_whole(plan, observer, "after_lost_observer_restarted")
        plan.do(restart(observer, knows=voters))
        voter_moves.expect_whole(plan, observer, "after_observer_knows_all")
    with plan.phase("nothing happens"):
        plan.measure("idle", "20s")
    with plan.phase("a follower hangs"):
        _, hung, _ = plan.name_voters("leader at rest", "follower that hangs", "other follower at rest")
        plan.do(hold(hung), let_pass("3s"))
        plan.expect(lag_is_described(hung), within="10s", named="lag_is_described")
        plan.do(release(hung))
        voter_moves.expect_whole(plan, observer, "after_follower_goes_on")
    with plan.phase("nobody leads"):
        plan.do(hold_followers())
        plan.guard(has_no_leader(), within="15s")
        # After some attempts a candidate backs off for longer than it waits for votes.
        plan.do(let_pass("5s"))
        plan.measure("leaderless", "8s")
        plan.do(kill(observer), start(observer), let_pass(WAITING_FOR_A_LEADER))
    with plan.phase("somebody leads again"):
        plan.do(release_followers())
        plan.expect(has_leader(), within=AN_ELECTION, named="leader_after_nobody_led")
        voter_moves.expect_whole(plan, observer, "after_nobody_led")
        plan.expect(isr_is_whole("orders"), within="30s", named="isr_is_whole_after_nobody_led")
