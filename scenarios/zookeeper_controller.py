"""The controller of a cluster in ZooKeeper mode goes, and comes back."""

from harness.scenario import (
    election_moves,
    has_leader,
    has_new_leader,
    is_up,
    kill,
    produce,
    scenario,
    start,
    start_all,
    stop,
    written_topics,
    zookeeper,
)


@scenario(zookeeper(brokers=3), suite=("elections", "zookeeper"), budget="4m", properties=election_moves.IN_ZOOKEEPER)
def zookeeper_controller_lost(plan, cluster, first, second, third):
    """Does another broker become the controller when that is killed, and when it stops, and does each come back?"""
    with plan.phase("start"):
        plan.do(start_all())
        plan.guard(is_up(), has_leader(), within="90s")
        plan.background(produce("orders"))
    with plan.phase("the controller is killed"):
        (killed,) = plan.name_voters("first controller")
        plan.do(kill(killed))
        plan.expect(has_new_leader(), within="20s", named="another_controller_after_kill")
        plan.do(start(killed))
        plan.expect(is_up(), within="30s", named="killed_controller_comes_back")
    with plan.phase("the controller stops"):
        (stopped,) = plan.name_voters("second controller")
        plan.do(stop(stopped))
        plan.expect(has_new_leader(), within="10s", named="another_controller_after_stop")
        plan.do(start(stopped))
        plan.expect(is_up(), within="30s", named="stopped_controller_comes_back")
    written_topics.expect_whole(plan)
