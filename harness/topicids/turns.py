"""Whether it is one broker's turn in a repair; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.model.topic_repair import Choice, RepairPlan, TopicRepair
from harness.topicids.live_state import LiveState
from harness.topicids.planning import unclean_dangers
from harness.topicids.records import ClusterTopics, DataDirectory

_NOBODY = -1


def objections(
    plan: RepairPlan, broker: int, cluster: ClusterTopics, data: Sequence[DataDirectory], live: LiveState
) -> Iterator[str]:
    """Yield why a broker's files are not to be deleted now. `data` are its own disks and exports of those before it."""
    if plan.refusals:
        yield f"The plan itself is a refusal: {plan.refusals[0]}"
    if plan.chosen(Choice.PUT_BACK):
        yield "Some topics get their old id back in ZooKeeper: do that first, and make the plan again."
    if broker not in plan.order:
        yield f"Broker {broker} has nothing to repair by this plan."
        return
    yield from _not_repaired(plan, broker, data)
    if broker in live.brokers:
        yield f"Broker {broker} runs, by ZooKeeper's account: stop it, or wait until its session has ended."
    for other in sorted(set(plan.brokers) - live.brokers - {broker}):
        yield f"Broker {other} does not run: one broker at a time."
    for repair in plan.chosen(Choice.DELETE):
        yield from _of_topic(repair, broker, cluster, data, live)


def _not_repaired(plan: RepairPlan, broker: int, data: Sequence[DataDirectory]) -> Iterator[str]:
    """Yield the brokers whose turn was before, and whose export does not show that they are repaired."""
    old = {each.topic: each.on_disk for each in plan.chosen(Choice.DELETE)}
    for earlier in plan.order[: plan.order.index(broker)]:
        disks = [disk for disk in data if disk.broker == earlier]
        if not disks:
            yield f"Broker {earlier} comes first: name by --merge what it exported after its repair."
        elif any(each.topic_id in old.get(each.topic, ()) for disk in disks for each in disk.partitions):
            yield f"Broker {earlier} comes first: by its export it still has directories with an old id."


def _of_topic(
    repair: TopicRepair, broker: int, cluster: ClusterTopics, data: Sequence[DataDirectory], live: LiveState
) -> Iterator[str]:
    topic = cluster.topics.get(repair.topic)
    if topic is None or topic.topic_id != repair.in_zookeeper:
        yield f"Topic {repair.topic} has another id in ZooKeeper than when the plan was made: make it again."
        return
    yield from unclean_dangers(topic, data, live)
    for number, replicas in sorted(topic.replicas.items()):
        state = live.states.get(repair.topic, {}).get(number)
        alone = state is not None and state.isr == (broker,)
        if broker in replicas and not alone and (state is None or state.leader == _NOBODY):
            yield f"Nobody leads {repair.topic}-{number}, and broker {broker} is not the one that could."
