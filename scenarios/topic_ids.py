"""A tool from before topic ids adds partitions in ZooKeeper, and a later controller makes a new id."""

from harness.scenario import (
    answered,
    check_ids,
    has_later_controller,
    has_logged,
    ids_are,
    is_up,
    out_of_sync,
    restart,
    runs_line,
    topic_id_moves,
)
from harness.scenario.topic_id_moves import TOPIC


@topic_id_moves.incident()
def topic_id_lost(plan, cluster, *_):
    """Does 3.9 lose partitions at a restart, is 2.8 immune, and does the old id, put back, heal it all?"""
    first, second, third = topic_id_moves.begin(plan)
    with plan.phase("partitions are added"):
        topic_id_moves.lose_id(plan)
        topic_id_moves.keep_account(plan)
        topic_id_moves.ask_all(plan)
        plan.expect(answered(f"reading {TOPIC}-0", "read"), within="1s", named="nobody_notices")
        with plan.only_if(runs_line("3.9")):
            plan.expect(ids_are(TOPIC, zookeeper="none", first="old", added="old"), within="15s", named="id_is_lost")
    with plan.phase("another controller"):
        topic_id_moves.change(plan)
        with plan.only_if(runs_line("3.9")):
            plan.guard(has_logged(first, topic_id_moves.REFUSES), within="15s")
        topic_id_moves.ask_all(plan)
        plan.do(check_ids())
        with plan.only_if(runs_line("3.9")):
            plan.expect(ids_are(TOPIC, zookeeper="new", first="old", added="old"), within="15s", named="disks_keep_old")
            plan.expect(answered(f"reading {TOPIC}-0", "INCONSISTENT"), within="1s", named="new_clients_cannot_read")
            plan.expect(answered(f"old reading {TOPIC}", "read"), within="1s", named="old_clients_can_read")
            plan.expect(answered("check", "exit 1: "), within="1s", named="check_finds_it")
        with plan.only_if(runs_line("2.8")):
            plan.expect(ids_are(TOPIC, zookeeper="new", first="new", added="new"), within="15s", named="immune")
            plan.expect(answered("check", "exit 0: Healthy"), within="1s", named="check_finds_nothing")
    with plan.phase("a broker restarts"):
        plan.do(restart(first))
        plan.guard(is_up(), within="90s")
        with plan.only_if(runs_line("2.8")):
            plan.expect(out_of_sync(TOPIC, first, "no"), within="30s", named="immune_to_restarts")
        with plan.only_if(runs_line("3.9")):
            plan.expect(has_logged(first, topic_id_moves.REFUSES), within="20s", named="broker_refuses_its_partitions")
            topic_id_moves.ask_all(plan)
            plan.expect(out_of_sync(TOPIC, first, "all"), within="1s", named="out_of_sync_for_all")
            topic_id_moves.put_back(plan, first, second, third)


@topic_id_moves.incident()
def topic_id_mixed(plan, cluster, *_):
    """With a controller change before, does 2.8 mix old and new ids? Is nothing lost by repair, restore and repair?"""
    first, second, third = topic_id_moves.come_about(plan)
    with plan.phase("a broker restarts"):
        topic_id_moves.ask_all(plan)
        plan.do(restart(first))
        plan.guard(is_up(), within="90s")
        topic_id_moves.ask_all(plan)
        with plan.only_if(runs_line("2.8")):  # its peers are those that refuse: they do not lead in the new epoch
            plan.expect(out_of_sync(TOPIC, first, "old"), within="30s", named="out_of_sync_for_the_old")
        with plan.only_if(runs_line("3.9")):
            plan.expect(has_logged(first, topic_id_moves.REFUSES), within="1s", named="broker_refuses_its_partitions")
            plan.expect(out_of_sync(TOPIC, first, "all"), within="1s", named="out_of_sync_for_all")
    topic_id_moves.repair_and_restore(plan)
    topic_id_moves.repair_as_planned(plan, first, second, third)


@topic_id_moves.incident()
def topic_id_controller_restarted(plan, cluster, *_):
    """Is a restart of the controller enough for the incident, and does our repair heal what it leaves?"""
    brokers = topic_id_moves.begin(plan)
    with plan.phase("another controller, partitions are added, the controller restarts"):
        topic_id_moves.change(plan)
        plan.guard(ids_are(TOPIC, zookeeper="old", first="old"), within="15s")
        topic_id_moves.lose_id(plan)
        topic_id_moves.keep_account(plan)
        plan.do(restart(*plan.name_voters("controller until now")))
        plan.guard(has_later_controller(), is_up(), within="90s")
        # A controller that stops in good order hands its partitions over, and tells their old id with that.
        spread = ids_are(TOPIC, zookeeper="new", first="old", added="old/none")
        plan.expect(spread, within="15s", named="old_id_spreads")
    with plan.phase("repaired"):
        topic_id_moves.put_back(plan, *brokers)
