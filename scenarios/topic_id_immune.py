"""Who keeps a topic's id: the release's own tool, and an inter.broker.protocol from before topic ids."""

from harness.scenario import (
    add_partitions,
    add_partitions_by_old_tool,
    add_partitions_by_own_tool,
    all_in_sync,
    answered,
    check_ids,
    count_lost,
    ids_are,
    lost,
    runs_line,
    topic_id_moves,
    write,
)
from harness.scenario.topic_id_moves import TOPIC


@topic_id_moves.incident()
def topic_id_kept(plan, cluster, *_):
    """Does the id stay where the release's own tool adds partitions, also straight in ZooKeeper (2.8)?"""
    first, second, third = topic_id_moves.begin(plan)
    with plan.phase("partitions are added"):
        topic_id_moves.change(plan)
        with plan.only_if(runs_line("2.8")):
            plan.do(add_partitions_by_own_tool(TOPIC, 6))
        with plan.only_if(runs_line("3.9")):
            plan.do(add_partitions(TOPIC, 6))
        # 2.8 writes the files of added partitions when the next controller speaks of them.
        plan.expect(ids_are(TOPIC, zookeeper="old", first="old", added="old/none"), within="15s", named="id_is_kept")
        topic_id_moves.keep_account(plan)
        topic_id_moves.change(plan)
        plan.expect(ids_are(TOPIC, zookeeper="old", first="old", added="old"), within="15s", named="and_spreads")
    topic_id_moves.expect_healed(plan, first, second, third, ids="old", named="own_tool")


@topic_id_moves.incident(inter_broker_protocol_version="2.7")
def topic_id_before_ids(plan, cluster, *_):
    """At inter.broker.protocol 2.7 nobody speaks of ids: is there none, and does the old tool do no harm?"""
    brokers = topic_id_moves.begin_without_ids(plan)
    with plan.phase("partitions are added"):
        topic_id_moves.change(plan)
        plan.do(add_partitions_by_old_tool(TOPIC, 6))
        topic_id_moves.change(plan)
        plan.expect(ids_are(TOPIC, zookeeper="none", first="none"), within="15s", named="there_are_no_ids")
        plan.do(check_ids(), write(TOPIC, 100))
        plan.expect(answered("check", "exit 0: Healthy"), within="1s", named="check_is_content")
    with plan.phase("a restart of each broker"):
        topic_id_moves.restart_each(plan, *brokers)
        plan.expect(all_in_sync(TOPIC), within="40s", named="immune_to_restarts")
        plan.do(count_lost(TOPIC))
        plan.expect(lost(TOPIC, 0), within="1s", named="nothing_is_lost_without_ids")
