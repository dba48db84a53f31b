"""Repairs of topic ids by hand, as operators have published them, and what each is worth."""

from harness.scenario import (
    answered,
    check_ids,
    count_lost,
    delete_id_files,
    is_up,
    lost_some,
    plan_repair,
    restart,
    runs_line,
    scenario,
    topic_id_moves,
    write_if_possible,
    zookeeper,
)

TOPIC = topic_id_moves.TOPIC
OLD_TOOL = ("old_topic_tool",)
BROKERS = zookeeper(brokers=3)


@scenario(BROKERS, suite="topic-ids", budget="6m", needs=OLD_TOOL, properties=topic_id_moves.SHORT)
def topic_id_files_deleted(plan, cluster, *_):
    """Both files of each directory deleted under live brokers, all restarted, the controller last: what is lost?"""
    brokers = topic_id_moves.come_about(plan)
    with plan.phase("files deleted, brokers restarted"):
        plan.do(delete_id_files(TOPIC, *brokers))
        topic_id_moves.restart_each(plan, *brokers)
    topic_id_moves.expect_healed(plan, *brokers, ids="new", named="both_files_deleted")


@scenario(BROKERS, suite="topic-ids", budget="6m", needs=OLD_TOOL, properties=topic_id_moves.SHORT)
def topic_id_file_deleted(plan, cluster, *_):
    """Only partition.metadata deleted, the leader epochs left, the controller restarted first: is that enough?"""
    first, second, third = topic_id_moves.come_about(plan)
    with plan.phase("file deleted, brokers restarted, the controller first"):
        plan.do(delete_id_files(TOPIC, first, second, third, epochs=False))
        topic_id_moves.restart_each(plan, third, first, second)
    topic_id_moves.expect_healed(plan, first, second, third, ids="new", named="one_file_deleted")


@scenario(BROKERS, suite="topic-ids", budget="6m", needs=OLD_TOOL, properties=topic_id_moves.SHORT)
def topic_id_unclean(plan, cluster, *_):
    """With unclean elections on, does our plan refuse to delete, and what does deleting by hand lose?"""
    brokers = topic_id_moves.come_about(plan, unclean_leader_election_enable="true")
    with plan.phase("a broker has fallen out"):
        plan.do(restart(brokers[0]))
        plan.guard(is_up(), within="90s")
        plan.do(plan_repair())
        with plan.only_if(runs_line("2.8")):
            plan.expect(answered("plan", "is on for topic orders, by its own"), within="1s", named="plan_refuses")
        with plan.only_if(runs_line("3.9")):  # whatever elections are like, nothing has to be deleted
            plan.expect(answered("plan", "put the old id back"), within="1s", named="plan_puts_back")
    with plan.phase("files deleted, brokers restarted"):
        plan.do(write_if_possible(TOPIC, 50), delete_id_files(TOPIC, *brokers))
        topic_id_moves.restart_each(plan, *brokers, writing=50)
        plan.do(count_lost(TOPIC))
        plan.expect(lost_some(TOPIC), within="1s", named="records_are_lost_by_hand")


@scenario(BROKERS, suite="topic-ids", budget="6m", needs=OLD_TOOL, properties=topic_id_moves.SHORT)
def topic_id_rolled(plan, cluster, *_):
    """A plain rolling restart as the repair: does it heal anything?"""
    brokers = topic_id_moves.come_about(plan)
    with plan.phase("every broker restarts"):
        topic_id_moves.restart_each(plan, *brokers)
        topic_id_moves.ask_all(plan)
        plan.do(check_ids())
        plan.expect(answered("check", "exit 1: "), within="1s", named="nothing_is_healed")
