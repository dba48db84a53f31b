"""Which repair fits what a check has found, and why there is none that is safe; pure.

Put back: where every directory of a topic has the same id, and ZooKeeper another one or none, ZooKeeper is the odd one.
Delete: where some directories already have ZooKeeper's id, the file of the others goes while their broker is down.
Kafka takes a log without `partition.metadata` under whatever id it is told (ReplicaManager.becomeLeaderOrFollower), and
keeps its leader epochs, by which it truncates exactly. From its broker's restart on a replica cannot follow leaders
that have the old id, so that the last broker alone holds what was written meanwhile: an unclean election loses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.base.text import counted
from harness.model.topic_ids import Answer, Finding, IdState, Place, TopicIdCheck
from harness.model.topic_repair import Choice, RepairPlan, TopicRepair
from harness.topicids.broker_config import UNCLEAN
from harness.topicids.live_state import LiveState
from harness.topicids.records import ClusterTopics, DataDirectory, Topic
from harness.topicids.sentences import brokers as named_brokers

INTERNAL = ("__consumer_offsets", "__transaction_state")  # org.apache.kafka.common.internals.Topic
_REPAIRED = (IdState.DIFFERENT, IdState.MISSING_IN_CLUSTER)
_NOBODY = -1


def harmed(check: TopicIdCheck) -> tuple[str, ...]:
    """Return the topics that a broker would refuse when it restarts."""
    return tuple(sorted({each.topic for each in check.findings if each.answer is Answer.MISMATCH}))


def plan_repair(
    check: TopicIdCheck, cluster: ClusterTopics, data: Sequence[DataDirectory], live: LiveState, zookeeper: str
) -> RepairPlan:
    """Return the repair of everything that a check found, or why there is none.

    It is all or nothing: a restart for one topic would take another down that is left as it is.
    """
    refusals = [*_unclear(check)]
    topics = []
    for name in harmed(check):
        findings = [each for each in check.findings if each.topic == name]
        if all(each.state in _REPAIRED for each in findings if each.answer is Answer.MISMATCH):
            repair = _repair(cluster.topics[name], findings, data)
            topics += [repair] if repair else []
            refusals += _dangers(repair, cluster.topics[name], data, live) if repair else [_no_id(name)]
    order = _order(topics, live)
    return RepairPlan(zookeeper, check.cluster_id, check.brokers, order, tuple(topics), tuple(refusals))


def _unclear(check: TopicIdCheck) -> Iterator[str]:
    """Yield what nobody can repair who has not seen it, and what is none of the repairs' kind."""
    if not harmed(check):
        return
    yield from (f"Not everything was looked at. {gap}" for gap in check.gaps)
    for each in check.findings:
        if each.state is IdState.UNREADABLE:
            yield f"Topic {each.topic} has directories that cannot be read: {each.reason}."
        elif each.state is IdState.RECREATED:
            yield (
                f"Topic {each.topic} was deleted and created again, and directories of the old one are there: see "
                "whether anybody needs their records, then move them away by hand while their broker is down."
            )


def _repair(topic: Topic, findings: Sequence[Finding], data: Sequence[DataDirectory]) -> TopicRepair | None:
    """Return what fits a topic; None where directories disagree and ZooKeeper takes no side."""
    ids = {
        each.topic_id
        for disk in data
        for each in disk.partitions
        if each.topic == topic.name and each.topic_id and disk.broker in topic.replicas.get(each.partition, ())
    }
    places = tuple(place for each in findings if each.state in _REPAIRED and each.found for place in each.places)
    if len(ids) == 1 and topic.topic_id not in ids:
        return TopicRepair(topic.name, Choice.PUT_BACK, topic.topic_id, tuple(ids), places)
    if not topic.topic_id:
        return None
    return TopicRepair(topic.name, Choice.DELETE, topic.topic_id, tuple(sorted(ids - {topic.topic_id})), places)


def _no_id(name: str) -> str:
    return f"Directories of topic {name} have different ids, and ZooKeeper has none: nothing says which is right."


def _dangers(repair: TopicRepair, topic: Topic, data: Sequence[DataDirectory], live: LiveState) -> Iterator[str]:
    """Yield why a repair of one topic is not safe now."""
    if topic.name in live.deleted:
        yield f"Topic {topic.name} waits for its deletion."
    if repair.choice is Choice.PUT_BACK:
        return
    if topic.name in INTERNAL:
        yield f"{topic.name} is Kafka's own: offsets or transactions would be unavailable for every client."
    if live.reassigning:
        yield f"Partitions are being reassigned: wait for it, and make the plan of topic {topic.name} again."
    yield from unclean_dangers(topic, data, live)
    yield from _unseen_settings(topic, data, live)
    yield from _isr_dangers(repair, topic, live)
    yield from _epoch_dangers(repair, data)


def unclean_dangers(topic: Topic, data: Iterable[DataDirectory], live: LiveState) -> Iterator[str]:
    """Yield who allows unclean elections of a topic: its own settings, or those of brokers where it has none."""
    why = "a replica that holds less would lead while the last broker is down, and records be lost."
    own = live.topic_unclean.get(topic.name)
    if own:
        yield f"{UNCLEAN} is on for topic {topic.name}, by its own settings: {why}"
    if own is None:
        said = {broker: _said(broker, data, live) for broker in _holders(topic)}
        allowing = [broker for broker, each in said.items() if each]
        if allowing:
            yield f"{UNCLEAN} is on for topic {topic.name}, by the settings of {named_brokers(allowing)}: {why}"


def _unseen_settings(topic: Topic, data: Iterable[DataDirectory], live: LiveState) -> Iterator[str]:
    """Yield whose settings would say whether unclean elections are on, and were not seen."""
    unseen = [broker for broker in _holders(topic) if _said(broker, data, live) is None]
    if topic.name not in live.topic_unclean and unseen:
        yield (
            f"Whether {UNCLEAN} is on for topic {topic.name}, the settings of {named_brokers(unseen)} would say: name "
            "server.properties by --config, here or with --export."
        )


def _holders(topic: Topic) -> list[int]:
    return sorted({broker for replicas in topic.replicas.values() for broker in replicas})


def _said(broker: int, data: Iterable[DataDirectory], live: LiveState) -> bool | None:
    """Return what a broker's settings say of unclean elections, dynamic ones before its file; None: nobody knows."""
    if broker in live.broker_unclean:
        return live.broker_unclean[broker]
    static = next((disk.settings[UNCLEAN] for disk in data if disk.broker == broker and UNCLEAN in disk.settings), None)
    return None if static is None else static == "true"


def _isr_dangers(repair: TopicRepair, topic: Topic, live: LiveState) -> Iterator[str]:
    """Yield partitions that have too few replicas in sync.

    One that a broker has refused since its restart is out of sync for that; nothing else may be.
    """
    refused = {(place.broker, partition) for place in repair.places for partition in place.partitions}
    for number, replicas in sorted(topic.replicas.items()):
        name, state = f"{topic.name}-{number}", live.states.get(topic.name, {}).get(number)
        if state is None or state.leader == _NOBODY:
            yield f"Nobody leads {name}."
            continue
        for broker in sorted(set(replicas) - live.brokers):
            yield f"Broker {broker}, a replica of {name}, does not run."
        behind = [each for each in sorted(set(replicas) - set(state.isr)) if (each, number) not in refused]
        if behind:
            yield f"{_capital(named_brokers(behind))} {_is(behind)} not in sync for {name}, and not for its id: wait."
        if len(state.isr) == 1 < len(replicas):
            yield f"Only broker {state.isr[0]} is in sync for {name}: no other has all of its records."


def _epoch_dangers(repair: TopicRepair, data: Sequence[DataDirectory]) -> Iterator[str]:
    for disk in data:
        bare = [each.partition for each in disk.partitions if each.topic == repair.topic and each.epochless]
        if bare:
            yield (
                f"Broker {disk.broker} has {counted(len(bare), 'partition')} of topic {repair.topic} with records and "
                "without leader epochs: when it starts it cuts them off at its high watermark, which may be 0."
            )


def _order(topics: Sequence[TopicRepair], live: LiveState) -> tuple[int, ...]:
    """Return the brokers that must be restarted: first those that have fallen out, last the controller."""
    places = [(each.topic, place) for each in topics if each.choice is Choice.DELETE for place in each.places]
    concerned = {place.broker for _, place in places}
    fallen = {place.broker for topic, place in places if _is_behind(topic, place, live)}
    return tuple(sorted(concerned, key=lambda broker: (broker == live.controller, broker not in fallen, broker)))


def _is_behind(topic: str, place: Place, live: LiveState) -> bool:
    states = live.states.get(topic, {})
    return any(number in states and place.broker not in states[number].isr for number in place.partitions)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is(several: Sequence[int]) -> str:
    return "is" if len(several) == 1 else "are"
