"""Repairs of topic ids by hand, as they are passed around: what each heals, and what it costs."""

from harness.scenario import (
    all_in_sync,
    answered,
    ask_reader,
    ask_writer,
    count_lost,
    delete_id_files,
    is_up,
    kill,
    plan_repair,
    runs_line,
    some_lost,
    start,
    topic_id_moves,
)
from harness.scenario.topic_id_moves import TOPIC


@topic_id_moves.incident()
def topic_id_file_deleted(plan, cluster, *_):
    """Only partition.metadata deleted, the leader epochs left, the controller restarted first: is that enough?"""
    first, second, third = topic_id_moves.come_about(plan)
    with plan.phase("file deleted, brokers restarted, the controller first"):
        plan.do(delete_id_files(TOPIC, first, second, third))
        topic_id_moves.restart_each(plan, third, first, second)
    topic_id_moves.expect_healed(plan, first, second, third, ids="new", named="one_file_deleted")


@topic_id_moves.incident()
def topic_id_both_deleted(plan, cluster, *_):
    """Both files deleted under live brokers, the controller restarted last, unclean elections off: is nothing lost?"""
    first, second, third = topic_id_moves.come_about(plan)
    with plan.phase("a broker has fallen out"):
        topic_id_moves.restart_each(plan, first)
    with plan.phase("files deleted, brokers restarted, the controller last"):
        plan.do(delete_id_files(TOPIC, first, second, third, epochs=True))
        topic_id_moves.restart_each(plan, first, second, third)
    topic_id_moves.expect_healed(plan, first, second, third, ids="new", named="both_files_deleted")


@topic_id_moves.incident()
def topic_id_restarts_only(plan, cluster, *_):
    """Does a rolling restart alone take down what still served, and what heals that?"""
    first, second, third = topic_id_moves.come_about(plan)
    with plan.phase("brokers restarted, the controller last"):
        topic_id_moves.restart_each(plan, first, second, third)
        plan.do(ask_writer(TOPIC), ask_reader(TOPIC))
        plan.expect(answered(f"writing {TOPIC}-0", "TIMED_OUT"), within="1s", named="nobody_can_write")
    with plan.only_if(runs_line("3.9")), plan.phase("repaired"):
        plan.expect(answered(f"reading {TOPIC}-0", "INCONSISTENT"), within="1s", named="nobody_can_read")
        topic_id_moves.put_back(plan, first, second, third)
    with plan.only_if(runs_line("2.8")), plan.phase("file deleted, the only broker in sync restarted first"):
        plan.expect(answered(f"reading {TOPIC}-0", "nothing"), within="1s", named="nobody_can_read")
        plan.do(plan_repair())
        plan.expect(answered("plan", "refused: Only broker"), within="1s", named="plan_refuses")
        plan.do(delete_id_files(TOPIC, first, second, third))
        topic_id_moves.restart_each(plan, third, second, first)
        topic_id_moves.expect_healed(plan, first, second, third, ids="new", named="last_in_sync_first")


@topic_id_moves.incident()
def topic_id_unclean(plan, cluster, *_):
    """With unclean elections on, does our plan refuse to delete (2.8), and put back where nothing has to go (3.9)?"""
    first, *_others = topic_id_moves.come_about(plan, loses=True, unclean_leader_election_enable="true")
    with plan.phase("a broker has fallen out"):
        topic_id_moves.restart_each(plan, first)
        plan.do(plan_repair())
        plan.expect(answered("plan", "exit "), within="1s", named="plan_answers")
        with plan.only_if(runs_line("2.8")):
            plan.expect(answered("plan", "is on for topic orders, by its own"), within="1s", named="plan_refuses")
        with plan.only_if(runs_line("3.9")):
            plan.expect(answered("plan", "put the old id back"), within="1s", named="plan_puts_back")


# By default a crash costs high watermarks of five seconds. Without leader epochs a replica is cut off where its own is.
@topic_id_moves.incident(replica_high_watermark_checkpoint_interval_ms="600000")
def topic_id_unclean_by_hand(plan, cluster, *_):
    """With unclean elections on, does the repair by hand lose records once two brokers have crashed?"""
    first, second, third = topic_id_moves.come_about(plan, loses=True, unclean_leader_election_enable="true")
    with plan.phase("two brokers have crashed"):
        for broker in (first, second):
            plan.do(kill(broker), start(broker))
            plan.guard(is_up(), within="90s")
    with plan.phase("files deleted, brokers restarted, the controller last"):
        plan.do(delete_id_files(TOPIC, first, second, third, epochs=True))
        topic_id_moves.restart_each(plan, first, second, third)
        plan.expect(all_in_sync(TOPIC), within="40s", named="looks_healed")
        plan.do(count_lost(TOPIC))
        plan.expect(some_lost(TOPIC), within="1s", named="records_are_lost")
