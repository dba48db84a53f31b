"""Repairs of topic ids: one by hand, and one that is refused."""

from harness.scenario import (
    answered,
    delete_id_files,
    is_up,
    plan_repair,
    restart,
    runs_line,
    scenario,
    topic_id_moves,
    zookeeper,
)

TOPIC = topic_id_moves.TOPIC
OLD_TOOL = ("old_topic_tool",)
BROKERS = zookeeper(brokers=3)


@scenario(BROKERS, suite="topic-ids", budget="6m", needs=OLD_TOOL, properties=topic_id_moves.SHORT)
def topic_id_file_deleted(plan, cluster, *_):
    """Only partition.metadata deleted, the leader epochs left, the controller restarted first: is that enough?"""
    first, second, third = topic_id_moves.come_about(plan)
    with plan.phase("file deleted, brokers restarted, the controller first"):
        plan.do(delete_id_files(TOPIC, first, second, third))
        for broker in (third, first, second):
            plan.do(restart(broker))
            plan.guard(is_up(), within="90s")
    topic_id_moves.expect_healed(plan, first, second, third, ids="new", named="one_file_deleted")


@scenario(BROKERS, suite="topic-ids", budget="4m", needs=OLD_TOOL, properties=topic_id_moves.SHORT)
def topic_id_unclean(plan, cluster, *_):
    """With unclean elections on, does our plan refuse to delete (2.8), and put back where nothing has to go (3.9)?"""
    first, *_others = topic_id_moves.come_about(plan, unclean_leader_election_enable="true")
    with plan.phase("a broker has fallen out"):
        plan.do(restart(first))
        plan.guard(is_up(), within="90s")
        plan.do(plan_repair())
        plan.expect(answered("plan", "exit "), within="1s", named="plan_answers")
        with plan.only_if(runs_line("2.8")):
            plan.expect(answered("plan", "is on for topic orders, by its own"), within="1s", named="plan_refuses")
        with plan.only_if(runs_line("3.9")):
            plan.expect(answered("plan", "put the old id back"), within="1s", named="plan_puts_back")
