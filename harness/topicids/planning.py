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
from harness.topicids.elections import put_back_dangers, settings_of, unclean_dangers, unseen_settings
from harness.topicids.live_state import NOBODY, LiveState
from harness.topicids.records import UNKNOWN_BROKER, ClusterTopics, DataDirectory, Topic
from harness.topicids.sentences import brokers as named_brokers
from harness.topicids.sentences import sentence

INTERNAL = ("__consumer_offsets", "__transaction_state")  # org.apache.kafka.common.internals.Topic
_REPAIRED = (IdState.DIFFERENT, IdState.MISSING_IN_CLUSTER)


def harmed(check: TopicIdCheck) -> tuple[str, ...]:
    """Return the topics that a broker would refuse when it restarts."""
    return tuple(sorted({each.topic for each in check.findings if each.answer is Answer.MISMATCH}))


def plan_repair(
    check: TopicIdCheck, cluster: ClusterTopics, data: Sequence[DataDirectory], live: LiveState, zookeeper: str
) -> RepairPlan:
    """Return the repair of everything that a check found, or why there is none.

    It is all or nothing: a restart for one topic would take another down that is left as it is.
    """
    refusals = [*_unclear(check), *(_of_controllers(live) if harmed(check) else ())]
    topics = []
    asked = live.brokers | {broker for broker in check.brokers if broker != UNKNOWN_BROKER}
    for name in harmed(check):
        findings = [each for each in check.findings if each.topic == name]
        if all(each.state in _REPAIRED for each in findings if each.answer is Answer.MISMATCH):
            repair = _repair(cluster.topics[name], findings, data)
            topics += [repair] if repair else []
            refusals += _dangers(repair, cluster.topics[name], data, live, asked) if repair else [_no_id(name)]
    order = _order(topics, live)
    return RepairPlan(
        zookeeper,
        check.cluster_id,
        check.brokers,
        order,
        tuple(topics),
        tuple(dict.fromkeys(refusals)),
        unclean=settings_of(data),
    )


def _unclear(check: TopicIdCheck) -> Iterator[str]:
    """Yield what nobody can repair who has not seen it, and what is none of the repairs' kind."""
    yield from (f"Not everything was looked at. {gap}" for gap in check.gaps)
    if not check.compared and not check.gaps:
        yield sentence(check)
    for each in check.findings:
        if each.state is IdState.UNREADABLE:
            yield f"Topic {each.topic} has directories that cannot be read: {each.reason}."
        elif each.state is IdState.SHARED:
            yield (
                f"Topic {each.topic} and another have one id, {each.found or each.expected}: {each.reason}. No "
                "controller loads two topics of one id, and whose records these are nobody can say."
            )
        elif each.state is IdState.RECREATED:
            yield (
                f"Topic {each.topic} was probably deleted and created again: {each.reason}. That is as sure as the "
                "clocks of two hosts are, and as nobody having written the file anew. If it was, see whether anybody "
                "needs the old one's records, then move its directories away by hand while their broker is down."
            )


def _of_controllers(live: LiveState) -> Iterator[str]:
    """Yield that a KRaft controller leads, or that nobody does: who comes last is not known then."""
    yield from kraft_leads(live)
    if live.controller == NOBODY:
        yield "Nobody is the controller: wait until a broker is, and make the plan again."


def kraft_leads(live: LiveState) -> Iterator[str]:
    """Yield why nothing is to be repaired while a KRaft controller leads: its log counts, and it writes ZooKeeper."""
    if live.kraft_epoch > NOBODY:
        yield (
            f"A KRaft controller leads (epoch {live.kraft_epoch} of its quorum): the cluster is being migrated, and "
            "its metadata log is what brokers believe."
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
        return TopicRepair(topic.name, Choice.PUT_BACK, topic.topic_id, tuple(ids), places, topic.replicas)
    if not topic.topic_id:
        return None
    old = tuple(sorted(ids - {topic.topic_id}))
    return TopicRepair(topic.name, Choice.DELETE, topic.topic_id, old, places, topic.replicas)


def _no_id(name: str) -> str:
    return f"Directories of topic {name} have different ids, and ZooKeeper has none: nothing says which is right."


def _dangers(
    repair: TopicRepair, topic: Topic, data: Sequence[DataDirectory], live: LiveState, asked: Iterable[int]
) -> Iterator[str]:
    """Yield why a repair of one topic is not safe now; `asked` are brokers that may become the controller."""
    files = settings_of(data)
    yield from _age_dangers(repair, topic, data)
    yield from standing_dangers(repair, data, live)
    if repair.choice is Choice.PUT_BACK:
        yield from put_back_dangers(topic, files, live, asked)
        return
    yield from unclean_dangers(topic, files, live, asked)
    yield from unseen_settings(topic, files, live, asked)
    yield from _isr_dangers(repair, topic, data, live)


def standing_dangers(repair: TopicRepair, data: Sequence[DataDirectory], live: LiveState) -> Iterator[str]:
    """Yield what forbids a repair of one topic when it is planned, and again at each turn."""
    if repair.topic in live.deleted:
        yield f"Topic {repair.topic} waits for its deletion."
    if repair.choice is Choice.PUT_BACK:
        return
    if repair.topic in INTERNAL:
        yield f"{repair.topic} is Kafka's own: offsets or transactions would be unavailable for every client."
    if repair.topic in live.tiered:
        yield (
            f"Older records of topic {repair.topic} lie in remote storage, where they are kept under the id that its "
            "directories have: with another one nobody would find them."
        )
    if live.reassigning:
        yield f"Partitions are being reassigned: wait for it, and make the plan of topic {repair.topic} again."
    yield from _moves(repair, data)
    yield from _links(repair, data)
    yield from _epoch_dangers(repair, data)


def _age_dangers(repair: TopicRepair, topic: Topic, data: Sequence[DataDirectory]) -> Iterator[str]:
    """Yield whether directories may be of an earlier topic of that name: its node is younger than their files."""
    old = [each for disk in data for each in disk.partitions if each.topic == topic.name and each.topic_id]
    old = [each for each in old if each.topic_id in repair.on_disk]
    younger = [each.partition for each in old if each.written and topic.created > each.written]
    if younger:
        yield (
            f"{counted(len(younger), 'file')} of topic {topic.name} {_is(younger)} older than its node in ZooKeeper, "
            "if only a little: it may have been deleted and created again, or the clocks of two hosts differ."
        )
    if not all(each.written for each in old):
        yield (
            f"When files of topic {topic.name} were written, nobody knows: copied files have other times, and whether "
            "the topic was created again depends on them. Name the brokers' own disks by --config, or their exports."
        )


def _moves(repair: TopicRepair, data: Sequence[DataDirectory]) -> Iterator[str]:
    """Yield which broker moves a partition of a topic between its data directories."""
    for disk in data:
        moved = sorted({each.partition for each in disk.partitions if each.topic == repair.topic and each.folder})
        if moved:
            yield (
                f"Broker {disk.broker} moves {repair.topic}-{moved[0]} between data directories: wait until it has, or "
                "cancel it."
            )


def _links(repair: TopicRepair, data: Sequence[DataDirectory]) -> Iterator[str]:
    """Yield which directories are links, or their files: what they lead to may be somebody else's too."""
    for disk in data:
        linked = [each.name for each in disk.partitions if each.topic == repair.topic and each.linked]
        if linked:
            yield f"Broker {disk.broker} has {linked[0]} in {disk.path} by a link: nothing is deleted through links."


def _isr_dangers(repair: TopicRepair, topic: Topic, data: Sequence[DataDirectory], live: LiveState) -> Iterator[str]:
    """Yield partitions that have too few replicas in sync.

    One that a broker has refused since its restart is out of sync for that; nothing else may be.
    """
    old = {(place.broker, partition) for place in repair.places for partition in place.partitions}
    new = set(_with_id(topic, data))
    for number, replicas in sorted(topic.replicas.items()):
        name, state = f"{topic.name}-{number}", live.states.get(topic.name, {}).get(number)
        if state is None or state.leader == NOBODY:
            yield f"Nobody leads {name}."
            continue
        for broker in sorted(set(replicas) - live.brokers):
            yield f"Broker {broker}, a replica of {name}, does not run."
        behind = [each for each in sorted(set(replicas) - set(state.isr)) if (each, number) not in old]
        barred = [each for each in behind if (each, number) in new and (state.leader, number) in old]
        if barred:
            yield (
                f"{_capital(named_brokers(barred))} {_is(barred)} not in sync for {name}, with ZooKeeper's id already, "
                f"by which nobody follows broker {state.leader}, which has an old one: waiting does not help. Where a "
                "repair was begun, go on by its own plan, which is in its backup (plan.json); else see “Repairs by "
                "hand” in docs/topic-ids.md."
            )
        if waiting := [each for each in behind if each not in barred]:
            yield f"{_capital(named_brokers(waiting))} {_is(waiting)} not in sync for {name}, and not for its id: wait."
        if len(state.isr) == 1 < len(replicas):
            yield f"Only broker {state.isr[0]} is in sync for {name}: no other has all of its records."


def _with_id(topic: Topic, data: Sequence[DataDirectory]) -> Iterator[tuple[int, int]]:
    """Yield who has a partition whose directory has the id that the topic has in ZooKeeper: broker and number."""
    for disk in data:
        for each in disk.partitions:
            if each.topic == topic.name and each.topic_id == topic.topic_id and not each.folder:
                yield disk.broker, each.partition


def _epoch_dangers(repair: TopicRepair, data: Sequence[DataDirectory]) -> Iterator[str]:
    for disk in data:
        bare = [each.partition for each in disk.partitions if each.topic == repair.topic and each.epochless]
        if bare:
            yield (
                f"Broker {disk.broker} has {counted(len(bare), 'partition')} of topic {repair.topic} with records and "
                "without leader epochs that can be read: without them it cuts its log off at its high watermark when "
                "it starts, which may be 0."
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
