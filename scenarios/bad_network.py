"""A network that is slow, narrow, lossy, and closed to clients here and there."""

from harness.scenario import (
    cut,
    degrade,
    heal,
    keep_ledger,
    kraft,
    let_pass,
    mend,
    scenario,
    voter_moves,
    written_topics,
)


@scenario(
    kraft(controllers=3, observers=1, network=True),
    suite="faults",
    budget="4m",
    properties=voter_moves.SHORT_SESSIONS,
)
def bad_network(plan, cluster, observer):
    """Does the observer follow over a link of 100 ms and 3 Mbit/s, and do clients lose nothing that half the brokers
    were out of their reach for?
    """
    voter_moves.start_all(plan, observer)
    plan.background(keep_ledger("ledger"))
    with plan.phase("a far observer"):
        plan.do(degrade(observer, cluster.all_but(observer), delay="50ms", bandwidth="3mbit"))
        voter_moves.expect_whole(plan, observer, "over_a_slow_link")
    with plan.phase("packets are lost"):
        plan.do(mend(), degrade(observer, cluster.all_but(observer), loss=0.1))
        voter_moves.expect_whole(plan, observer, "over_a_lossy_link")
    with plan.phase("clients reach half the brokers"):
        plan.do(mend())
        leader, follower, _ = plan.name_voters("leader", "one follower", "other follower")
        plan.do(cut(cluster.clients, (leader, follower)), let_pass("4s"), heal())
        voter_moves.expect_whole(plan, observer, "after_clients_were_cut")
    written_topics.expect_whole(plan)
