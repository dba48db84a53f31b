"""A follower behind a cut: from its leader, from everybody, from the controllers alone."""

from harness.scenario import election_moves, keep_ledger, kraft, partition_cuts, scenario, written_topics

CLUSTER = kraft(controllers=1, observers=3, combined=False, network=True)


@scenario(CLUSTER, suite="faults", budget="6m", properties=partition_cuts.IN_KRAFT)
def follower_cuts(plan, cluster, *_):
    """Does a follower that is cut off leave the ISR and come back to it, while nothing is refused and nothing lost?"""
    brokers = election_moves.begin(plan)
    plan.background(keep_ledger("ledger"))
    partition_cuts.ask_of_followers(plan, cluster, *brokers)
    partition_cuts.ask_of_a_follower_without_coordinator(plan, cluster, *brokers, epoch_changes=False)
    written_topics.expect_whole(plan)
