"""Who leads a partition next, in KRaft and in ZooKeeper mode."""

from harness.scenario import election_moves, kraft, scenario, written_topics, zookeeper

_KRAFT = kraft(controllers=1, observers=3, combined=False)
_ZOOKEEPER = zookeeper(brokers=3)


@scenario(_KRAFT, suite="elections", budget="6m", properties=election_moves.IN_KRAFT)
def elections(plan, cluster, *brokers):
    """Does the first of the assignment that is alive and in sync lead, and is it logged how the leader went?"""
    election_moves.ask_for_clean_elections(plan)
    written_topics.expect_whole(plan)


@scenario(_KRAFT, suite="elections", budget="6m", properties=election_moves.IN_KRAFT)
def unclean_elections(plan, cluster, *brokers):
    """Does nobody lead while no replica in sync is alive, unless that is allowed, and is exactly the rest lost then?"""
    election_moves.ask_without_leaders(plan, by_setting_alone=False)


@scenario(_ZOOKEEPER, suite=("elections", "zookeeper"), budget="6m", properties=election_moves.IN_ZOOKEEPER)
def zookeeper_elections(plan, cluster, *brokers):
    """In ZooKeeper mode: does the first of the assignment that is alive and in sync lead, and is it logged why?"""
    election_moves.ask_for_clean_elections(plan)
    written_topics.expect_whole(plan)


@scenario(_ZOOKEEPER, suite=("elections", "zookeeper"), budget="6m", properties=election_moves.IN_ZOOKEEPER)
def zookeeper_unclean_elections(plan, cluster, *brokers):
    """In ZooKeeper mode: does nobody lead while no replica in sync is alive, unless allowed, and what is lost?"""
    election_moves.ask_without_leaders(plan, by_setting_alone=True)
