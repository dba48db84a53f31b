"""The ways in which acknowledged records can be lost: each is counted, and none more than theory allows."""

from harness.scenario import (
    count_lost,
    create_partition,
    cut,
    election_moves,
    has_no_partition_leader,
    has_truncated,
    heal,
    in_sync,
    is_up,
    kill,
    kraft,
    led_by,
    let_pass,
    lose_unflushed,
    lost,
    offer,
    partition_cuts,
    scenario,
    start,
    took,
    wipe,
    write,
)

# Kafka writes down once a minute how far it has flushed, and first half a minute after its start.
PROPERTIES = {
    **partition_cuts.IN_KRAFT,
    "log.flush.offset.checkpoint.interval.ms": "1000",
    "log.initial.task.delay.ms": "500",
}
NEVER_FLUSHED = {"flush_messages": str(2**63 - 1), "flush_ms": str(2**63 - 1)}  # Kafka's own defaults
BACK, ISR, ELECTION = "40s", "15s", "20s"


def expect_lost(plan, topic, records):
    """Expect that exactly so many of the acknowledged records are gone, and that everybody has the same left."""
    plan.do(count_lost(topic))
    plan.expect(lost(topic, records), within="1s", named=f"{topic.replace('-', '_')}_lost_{records}")
    election_moves.expect_same_replicas(plan, topic)


@scenario(
    kraft(controllers=1, observers=3, combined=False, network=True), suite="faults", budget="8m", properties=PROPERTIES
)
def lost_data(plan, cluster, *_):
    """Is exactly that lost which acks=1 left with a dead leader, which nobody flushed, or which one disk alone had?"""
    first, second, third = election_moves.begin(plan)
    with plan.phase("acks=1, and the leader changes"):
        plan.do(create_partition("one-ack", first, second, third), write("one-ack", 20))
        plan.do(cut(first, (second, third)), offer("one-ack", first, 15, acks="1"))
        plan.guard(took("one-ack", 15), in_sync("one-ack", first, second, third), within="1s")
        # Healed before, a follower would still get what the kernel of the dead leader's host had not yet sent.
        plan.do(kill(first))
        plan.expect(led_by("one-ack", second), within=ELECTION, named="one_ack_another_leads")
        plan.do(heal(), write("one-ack", 5), start(first))
        plan.guard(is_up(), in_sync("one-ack", first, second, third), within=BACK)
        plan.expect(has_truncated(first, "one-ack"), within="5s", named="one_ack_truncates")
        expect_lost(plan, "one-ack", 15)
    with plan.phase("every replica fails before it flushes"):
        plan.do(create_partition("flushed", first, second, third, flush_messages="1"), write("flushed", 20))
        plan.do(
            create_partition("unflushed", first, second, third, **NEVER_FLUSHED), write("unflushed", 20), let_pass("3s")
        )
        for act in (kill, lose_unflushed, start):
            plan.do(*(act(broker) for broker in (first, second, third)))
        plan.guard(is_up(), in_sync("flushed", first, second, third), within=BACK)
        plan.guard(in_sync("unflushed", first, second, third), within=BACK)
        expect_lost(plan, "flushed", 0)
        expect_lost(plan, "unflushed", 20)
    for identity in ("same", "new"):
        topic = f"{identity}-disk"
        with plan.phase(f"the last one in sync returns with nothing, by the {identity} directory id"):
            leave_alone(plan, topic, first, second)
            plan.do(wipe(first, identity=identity), start(first))
            plan.guard(is_up(), within=BACK)
            plan.do(
                start(second)
            )  # with another directory id the next broker that is unfenced brings an election about
            plan.guard(is_up(), within=BACK)
            plan.expect(led_by(topic, first), within=BACK, named=f"{identity}_disk_leads_with_nothing")
            plan.guard(in_sync(topic, first, second), within=BACK)
            expect_lost(plan, topic, 35)


def leave_alone(plan, topic, first, second):
    """Write to both, then to the first alone, and kill that: what the second lacks is on one disk."""
    plan.do(create_partition(topic, first, second), write(topic, 20))
    plan.guard(led_by(topic, first), in_sync(topic, first, second), within=ISR)
    plan.do(kill(second))
    plan.guard(in_sync(topic, first), within=ELECTION)
    plan.do(write(topic, 15), kill(first))
    plan.guard(has_no_partition_leader(topic), within=ELECTION)
