"""A tool from before topic ids adds partitions in ZooKeeper, and a controller makes a new id."""

from harness.scenario import (
    answered,
    check_ids,
    has_logged,
    ids_are,
    is_up,
    out_of_sync,
    plan_repair,
    put_back_ids,
    repair_brokers,
    restart,
    runs_line,
    scenario,
    topic_id_moves,
    write,
    zookeeper,
)

TOPIC = topic_id_moves.TOPIC
OLD_TOOL = ("old_topic_tool",)
REFUSES = " does not match the topic I"  # `Topic ID in memory: X …` of 3.9, `Topic Id in memory: X …` of 2.8


@scenario(zookeeper(brokers=3), suite="topic-ids", budget="6m", needs=OLD_TOOL, properties=topic_id_moves.SHORT)
def topic_id_lost(plan, cluster, *_):
    """Does the lost id show after a controller change and a restart (3.9), and does putting it back heal all of it?"""
    first, second, controller = topic_id_moves.begin(plan)
    with plan.phase("partitions are added"):
        topic_id_moves.lose_id(plan)
        topic_id_moves.ask_all(plan)
        with plan.only_if(runs_line("3.9")):
            plan.expect(
                ids_are(TOPIC, zookeeper="none", first="old", added="old"), within="15s", named="nobody_notices"
            )
    with plan.phase("another controller"):
        topic_id_moves.change(plan)
        topic_id_moves.ask_all(plan)
        with plan.only_if(runs_line("3.9")):
            plan.expect(
                ids_are(TOPIC, zookeeper="new", first="old", added="old"), within="15s", named="all_keep_the_old"
            )
            plan.expect(answered(f"reading {TOPIC}-0", "INCONSISTENT"), within="1s", named="new_clients_cannot_read")
            plan.expect(answered(f"old reading {TOPIC}", "read"), within="1s", named="old_clients_can")
        with plan.only_if(runs_line("2.8")):
            plan.expect(ids_are(TOPIC, zookeeper="new", first="new", added="new"), within="15s", named="immune")
        plan.do(check_ids())
    with plan.phase("a broker restarts"):
        plan.do(restart(first))
        plan.guard(is_up(), within="90s")
        with plan.only_if(runs_line("2.8")):
            plan.expect(out_of_sync(TOPIC, first, "no"), within="30s", named="immune_to_restarts")
        with plan.only_if(runs_line("3.9")):
            plan.expect(has_logged(first, REFUSES), within="20s", named="broker_refuses_its_partitions")
            plan.expect(out_of_sync(TOPIC, first, "all"), within="40s", named="out_of_sync_for_all")
            topic_id_moves.ask_all(plan)
    with plan.only_if(runs_line("3.9")):
        with plan.phase("the old id is put back"):
            plan.expect(answered("check", "exit 1: "), within="1s", named="check_finds_it")
            plan.do(plan_repair())
            plan.expect(answered("plan", "put the old id back"), within="1s", named="plan_puts_back")
            plan.do(put_back_ids())
        topic_id_moves.expect_healed(plan, first, second, controller, ids="old", named="put_back")
        plan.do(check_ids())
        plan.expect(answered("check", "exit 0: Healthy"), within="1s", named="check_is_content")


@scenario(zookeeper(brokers=3), suite="topic-ids", budget="6m", needs=OLD_TOOL, properties=topic_id_moves.SHORT)
def topic_id_mixed(plan, cluster, *_):
    """Do old directories beside new ones take their partitions down at a restart (2.8), and does our repair heal them?"""
    with plan.only_if(runs_line("2.8")):
        first, second, controller = topic_id_moves.make_mix(plan)
        with plan.phase("a broker restarts"):
            topic_id_moves.ask_all(plan)
            plan.do(restart(first))
            plan.guard(is_up(), within="90s")
            plan.expect(has_logged(first, REFUSES), within="20s", named="broker_refuses_its_partitions")
            plan.expect(out_of_sync(TOPIC, first, "old"), within="40s", named="out_of_sync_for_the_old")
            plan.do(write(TOPIC, 50))
        with plan.phase("repaired, broker after broker"):
            plan.do(check_ids(), plan_repair())
            plan.expect(answered("check", "exit 1: "), within="1s", named="check_finds_it")
            plan.expect(answered("plan", "delete the files with the old id"), within="1s", named="plan_deletes")
            plan.do(repair_brokers())
        topic_id_moves.expect_healed(plan, first, second, controller, ids="new", named="repair")
        plan.do(check_ids())
        plan.expect(answered("check", "exit 0: Healthy"), within="1s", named="check_is_content")
