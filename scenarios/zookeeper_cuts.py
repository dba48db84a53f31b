"""Cuts that exist in ZooKeeper mode only: from ZooKeeper, and of a controller that is a broker."""

from harness.scenario import election_moves, keep_ledger, leads, partition_cuts, scenario, written_topics, zookeeper

CLUSTER = zookeeper(brokers=3, network=True)
SUITES = ("faults", "zookeeper")


@scenario(CLUSTER, suite=SUITES, budget="8m", properties=partition_cuts.IN_ZOOKEEPER)
def zookeeper_cuts(plan, cluster, *_):
    """What becomes of a follower and of a leader that cannot reach ZooKeeper, and is exactly its own share lost?"""
    brokers = election_moves.begin(plan)
    first = brokers[0]
    plan.background(keep_ledger("ledger"))
    partition_cuts.ask_of_a_follower_without_coordinator(plan, cluster, *brokers, epoch_changes=True)
    partition_cuts.ask_of_a_deposed_leader(plan, cluster.coordinator, "coordinator", *brokers)
    everybody = (cluster.all_but(first), cluster.coordinator)
    partition_cuts.ask_of_a_deposed_leader(plan, everybody, "whole-cluster", *brokers)
    written_topics.expect_whole(plan)


@scenario(CLUSTER, suite=SUITES, budget="6m", properties=partition_cuts.IN_ZOOKEEPER)
def zookeeper_controller_cuts(plan, cluster, *_):
    """Does a controller that brokers cannot hear change nothing for them, and one without ZooKeeper end as a broker?"""
    first, second, controller = election_moves.begin(plan)
    plan.background(keep_ledger("ledger"))
    partition_cuts.ask_of_an_unheard_controller(plan, controller, (first, second))
    with plan.phase("who is the controller now"):
        survivor, victim, old = plan.name_brokers("surviving broker", "killed broker", "old controller")
    partition_cuts.ask_of_a_deposed_controller(plan, cluster.coordinator, survivor, victim, old)
    with plan.phase("the old controller is a broker"):
        plan.expect(leads(survivor), within="20s", named="old_controller_is_a_broker")
    written_topics.expect_whole(plan)
