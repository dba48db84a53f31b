"""The active controller behind a cut: from the brokers, and from the other controllers."""

from harness.scenario import (
    has_given_up,
    has_leader,
    is_up,
    keep_ledger,
    kraft,
    partition_cuts,
    scenario,
    start_all,
    voters_caught_up,
    written_topics,
)

CLUSTER = kraft(controllers=3, observers=2, combined=False, network=True)


@scenario(CLUSTER, suite="faults", budget="6m", properties=partition_cuts.IN_KRAFT)
def controller_cuts(plan, cluster, *_):
    """Do brokers go on while the controller cannot tell them anything, and does a deposed one do nothing more?"""
    with plan.phase("start"):
        plan.do(start_all())
        plan.guard(is_up(), has_leader(), within="90s")
        first, second = plan.name_brokers("first broker", "second broker")
        active, *_ = plan.name_voters("active controller", "second controller", "third controller")
    plan.background(keep_ledger("ledger"))
    partition_cuts.ask_of_an_unheard_controller(plan, active, (first, second))
    with plan.phase("who is the controller now"):
        plan.guard(has_leader(), voters_caught_up(), within="20s")
        old, *others = plan.name_voters("old controller", "one of its like", "another of its like")
    partition_cuts.ask_of_a_deposed_controller(plan, tuple(others), first, second, old, gives_up=has_given_up(old))
    with plan.phase("the old controller follows"):
        plan.expect(voters_caught_up(), within="20s", named="old_controller_follows")
    written_topics.expect_whole(plan)
