"""Voters behind a cut: a leader alone with what it cannot commit, then each voter in turn under load."""

from harness.scenario import (
    cut,
    has_given_up,
    has_leader,
    has_new_leader,
    has_uncommitted_tail,
    heal,
    keep_ledger,
    kraft,
    let_pass,
    quorum_is_described,
    scenario,
    voter_moves,
    written_topics,
)
from harness.scenario.bounds import AN_ELECTION, FetchTimeouts


@scenario(
    kraft(controllers=3, observers=1, network=True),
    suite="faults",
    budget="5m",
    properties=voter_moves.SHORT_SESSIONS,
)
def partitions(plan, cluster, observer):
    """Does a cut leave one leader and lose nothing, when it isolates the leader, and then each voter in turn?

    The isolated leader must give up after 1.5 fetch time-outs (KIP-595) and, once healed, cut off its uncommitted tail;
    that it does so is what the watch of the metadata logs promises in every run.
    """
    voter_moves.start_all(plan, observer)
    plan.background(keep_ledger("idempotent", keys=20))
    plan.background(keep_ledger("transactional", transactional=True))
    plan.background(keep_ledger("one-ack", acks="1", idempotent=False))
    with plan.phase("the leader is isolated"):
        first, *_ = plan.name_voters("isolated leader", "second voter", "third voter")
        plan.do(cut(first, cluster.all_but(first)))
        plan.guard(has_uncommitted_tail(first), within="3s")
        plan.expect(has_given_up(first), within=FetchTimeouts(1.5), named="isolated_leader_gives_up")
        plan.expect(has_new_leader(), within=AN_ELECTION, named="new_leader_without_the_isolated")
    with plan.phase("the isolated leader comes back"):
        plan.do(heal())
        voter_moves.expect_whole(plan, observer, "after_isolation")
        plan.expect(quorum_is_described(), within="10s", named="quorum_is_described_after_isolation")
    for at, called in enumerate(("first follower", "second follower"), 1):
        with plan.phase(f"the {called} is cut off"):
            # Who was cut off asks for votes when it is back, so that another one may lead by now.
            voter = plan.name_voters(f"leader without the {called}", "first follower", "second follower")[at]
            named = called.replace(" ", "_")
            plan.do(cut(voter, cluster.all_but(voter)), let_pass("4s"))
            plan.expect(has_leader(), within=AN_ELECTION, named=f"leader_without_the_{named}")
            plan.do(heal())
            voter_moves.expect_whole(plan, observer, f"after_{named}_was_cut_off")
    with plan.phase("the leader is cut off"):
        leads, *_ = plan.name_voters("leader that is cut off", "first follower", "second follower")
        plan.do(cut(leads, cluster.all_but(leads)), let_pass("4s"))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="leader_without_the_leader")
        plan.expect(has_given_up(leads), within=FetchTimeouts(1.5), named="leader_gives_up")
        plan.do(heal())
        voter_moves.expect_whole(plan, observer, "after_leader_was_cut_off")
    written_topics.expect_whole(plan)
