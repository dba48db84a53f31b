"""Whether it is the turn of a part of a repair, everything looked at again; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.model.topic_ids import Answer, Finding, IdState
from harness.model.topic_repair import Choice, RepairPlan, TopicRepair
from harness.topicids.comparing import compare, problems
from harness.topicids.elections import put_back_dangers, settings_of, unclean_dangers, unseen_settings
from harness.topicids.live_state import NOBODY, LiveState
from harness.topicids.planning import kraft_leads, standing_dangers
from harness.topicids.records import UNKNOWN_BROKER, ClusterTopics, DataDirectory, Topic
from harness.topicids.sentences import brokers as named_brokers
from harness.topicids.sentences import places
from harness.topicids.zookeeper_nodes import PartitionState


def objections(
    plan: RepairPlan, broker: int, cluster: ClusterTopics, data: Sequence[DataDirectory], live: LiveState
) -> Iterator[str]:
    """Yield why a broker's files are not to be deleted now. `data` are its own disks and exports of those before it.

    Raises HarnessError where its disks are those of another cluster.
    """
    if plan.refusals:
        yield f"The plan itself is a refusal: {plan.refusals[0]}"
    if plan.chosen(Choice.PUT_BACK):
        yield "Some topics get their old id back in ZooKeeper: do that first, and make the plan again."
    if cluster.cluster_id != plan.cluster_id:
        yield f"The plan is of cluster {plan.cluster_id or 'unknown'}, and {cluster.source} has {cluster.cluster_id}."
    yield from kraft_leads(live)
    own = [disk for disk in data if disk.broker == broker]
    if broker == UNKNOWN_BROKER:
        yield from (problem for disk in own for problem in problems(disk))
        return
    if broker not in plan.order:
        yield f"Broker {broker} has nothing to repair by this plan."
        return
    yield from _not_repaired(plan, broker, data)
    yield from _runners(plan, broker, live)
    for repair in plan.chosen(Choice.DELETE):
        topic = cluster.topics.get(repair.topic)
        if topic is None or topic.problem or topic.topic_id != repair.in_zookeeper:
            yield f"{_changed(repair, topic)}: make the plan again."
            continue
        yield from standing_dangers(repair, own, live)
        yield from _election_objections(plan, topic, data, live)
        yield from _alone(plan, broker, topic, live.states.get(repair.topic, {}))
    yield from _found_meanwhile(plan, broker, cluster, own)


def unseen_disks(plan: RepairPlan, data: Sequence[DataDirectory]) -> str:
    """Return whose disks are not there, of the brokers that the plan was made of; empty where all are."""
    missing = sorted({*plan.brokers} - {disk.broker for disk in data})
    return f"The disks of {named_brokers(missing)} were not looked at." if missing else ""


def put_back_objections(
    plan: RepairPlan, cluster: ClusterTopics, data: Sequence[DataDirectory], live: LiveState
) -> Iterator[str]:
    """Yield why ids are not to be put back now. `data` are brokers' disks, as they are now."""
    for repair in plan.chosen(Choice.PUT_BACK):
        yield from standing_dangers(repair, data, live)
        if topic := cluster.topics.get(repair.topic):
            yield from put_back_dangers(topic, _settings(plan, data), live, live.brokers | set(plan.brokers))


def _election_objections(
    plan: RepairPlan, topic: Topic, data: Sequence[DataDirectory], live: LiveState
) -> Iterator[str]:
    """Yield who allows unclean elections by now, and who may: in the middle of a plan that does not say it, nobody."""
    asked, files = live.brokers | set(plan.brokers), _settings(plan, data)
    yield from unclean_dangers(topic, files, live, asked)
    if plan.unclean:
        yield from unseen_settings(topic, files, live, asked)


def _settings(plan: RepairPlan, data: Sequence[DataDirectory]) -> Mapping[int, str]:
    """Return what server.properties say of unclean elections: those that are seen now, else those of the plan."""
    return {**plan.unclean, **{broker: said for broker, said in settings_of(data).items() if said}}


def _changed(repair: TopicRepair, topic: Topic | None) -> str:
    if topic is None:
        return f"Topic {repair.topic} is not in ZooKeeper any more"
    if topic.problem:
        return f"Topic {repair.topic} cannot be read in ZooKeeper ({topic.problem})"
    return f"Topic {repair.topic} has another id in ZooKeeper than when the plan was made"


def _runners(plan: RepairPlan, broker: int, live: LiveState) -> Iterator[str]:
    """Yield who runs and should not, who does not and should, and who was not there when the plan was made."""
    if broker in live.brokers:
        yield f"Broker {broker} runs, by ZooKeeper's account: stop it, or wait until its session has ended."
    for other in sorted(set(plan.brokers) - live.brokers - {broker}):
        yield f"Broker {other} does not run: one broker at a time."
    for other in sorted(live.brokers - set(plan.brokers)):
        yield f"Broker {other} runs, and the plan knows nothing of it: make it again."


def _not_repaired(plan: RepairPlan, broker: int, data: Sequence[DataDirectory]) -> Iterator[str]:
    """Yield the brokers whose turn was before, and whose export does not show that they are repaired."""
    for earlier in plan.order[: plan.order.index(broker)]:
        disks = [disk for disk in data if disk.broker == earlier]
        if not disks:
            yield f"Broker {earlier} comes first: name by --merge what it exported after its repair."
        elif any(disk.cluster_id != plan.cluster_id for disk in disks):
            yield f"What was exported of broker {earlier} is of another cluster than the plan."
        elif _has_old(plan, earlier, disks):
            yield f"Broker {earlier} comes first: by its export it still has directories with an old id."
        elif lacking := _lacking(plan, earlier, disks):
            yield (
                f"Broker {earlier} comes first: its export does not show that {lacking[0]} is repaired. Once it "
                "serves again, export it again."
            )


def _has_old(plan: RepairPlan, broker: int, disks: Sequence[DataDirectory]) -> bool:
    old = plan.old_ids(broker)
    return any(each.topic_id in old.get((each.topic, each.partition), ()) for disk in disks for each in disk.partitions)


def _lacking(plan: RepairPlan, broker: int, disks: Sequence[DataDirectory]) -> list[str]:
    """Return the planned partitions of a broker whose directory does not show that it is repaired.

    It is there with ZooKeeper's id, or still without a file: Kafka 2.8 writes it only with the partition's next leader.
    """
    found = {(each.topic, each.partition): each for disk in disks for each in disk.partitions if not each.folder}
    new = {each.topic: each.in_zookeeper for each in plan.chosen(Choice.DELETE)}
    lacking = []
    for topic, number in sorted(plan.old_ids(broker)):
        each = found.get((topic, number))
        if each is None or each.problem or each.topic_id not in ("", new[topic]):
            lacking.append(f"{topic}-{number}")
    return lacking


def _found_meanwhile(
    plan: RepairPlan, broker: int, cluster: ClusterTopics, own: Sequence[DataDirectory]
) -> Iterator[str]:
    """Yield what a check of this broker alone finds, and the plan does not know."""
    check = compare(_seen_by(broker, cluster), own)
    yield from (f"Not everything was looked at. {gap}" for gap in check.gaps)
    planned = plan.old_ids(broker)
    for each in check.findings:
        if each.answer is not Answer.HEALTHY and not _is_planned(each, planned):
            why = f" ({each.reason})" if each.reason else ""
            yield (
                f"Directories of topic {each.topic} are “{each.state.value}”{why}, and the plan does not know of it: "
                f"{places(each)}."
            )


def _is_planned(finding: Finding, planned: Mapping[tuple[str, int], tuple[str, ...]]) -> bool:
    """Whether each directory of a finding is one whose file the plan deletes; a partition that came since is none."""
    numbers = (number for place in finding.places for number in place.partitions)
    return finding.state is IdState.DIFFERENT and all(
        finding.found in planned.get((finding.topic, number), ()) for number in numbers
    )


def _seen_by(broker: int, cluster: ClusterTopics) -> ClusterTopics:
    """Return the topics with one broker's replicas alone, so that nobody else's disks are missed."""
    topics = {
        name: replace(topic, replicas={number: (broker,) for number, of in topic.replicas.items() if broker in of})
        for name, topic in cluster.topics.items()
    }
    return replace(cluster, topics=topics)


def _alone(plan: RepairPlan, broker: int, topic: Topic, states: Mapping[int, PartitionState]) -> Iterator[str]:
    """Yield partitions that nobody else could lead, but for the last broker that is repaired.

    From its restart on a replica follows nobody who has the old id, so that the last has what nobody else has.
    """
    for number, replicas in sorted(topic.replicas.items()):
        if broker not in replicas:
            continue
        state = states.get(number)
        others = set(state.isr) - {broker} if state else set()
        is_last = [each for each in plan.order if each in replicas][-1] == broker
        if state and not others and is_last and broker in state.isr:
            continue
        if not others:
            yield f"Nobody but broker {broker} is in sync for {topic.name}-{number}: wait until others are."
        elif state is None or state.leader == NOBODY:
            yield f"Nobody leads {topic.name}-{number}, and broker {broker} is not the one that could."
