"""A leader behind a cut: what it still takes, who leads meanwhile, and what is lost when it comes back."""

from harness.scenario import election_moves, keep_ledger, kraft, partition_cuts, scenario, written_topics

CLUSTER = kraft(controllers=1, observers=3, combined=False, network=True)


@scenario(CLUSTER, suite="faults", budget="8m", properties=partition_cuts.IN_KRAFT)
def leader_cuts(plan, cluster, *_):
    """Is exactly that lost which a deposed leader alone had acknowledged, and nothing that acks=all promised to two?"""
    brokers = election_moves.begin(plan)
    first = brokers[0]
    plan.background(keep_ledger("all-acks"))
    plan.background(keep_ledger("one-ack", acks="1", idempotent=False))
    partition_cuts.ask_of_a_leader_without_followers(plan, *brokers)
    partition_cuts.ask_of_a_deposed_leader(plan, cluster.coordinator, "coordinator", *brokers)
    partition_cuts.ask_of_a_deposed_leader(plan, cluster.all_but(first), "whole-cluster", *brokers)
    written_topics.expect_whole(plan)


@scenario(CLUSTER, suite="faults", budget="5m", properties=partition_cuts.IN_KRAFT)
def isr_of_one(plan, cluster, *_):
    """When the only replica in sync is cut off, does nobody else lead, and do only unclean elections lose anything?"""
    brokers = election_moves.begin(plan)
    plan.background(keep_ledger("ledger"))
    partition_cuts.ask_of_an_isr_of_one(plan, cluster, *brokers)
    written_topics.expect_whole(plan)
