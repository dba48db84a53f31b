"""The ids on disks held against those of the cluster; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.base.errors import HarnessError
from harness.base.text import counted
from harness.model.topic_ids import Finding, IdState, Place, TopicIdCheck
from harness.topicids.records import UNKNOWN_BROKER, ClusterTopics, DataDirectory, PartitionDirectory, Topic
from harness.topicids.sentences import moment

_CLOCKS_DIFFER_SECONDS = 60.0
_QUIET = (IdState.EQUAL, IdState.WITHOUT_ID)
_NAMED = 5  # partitions that a gap names
# LogManager.isStrayKraftReplica (KAFKA-16814); before it the broker ended.
_SET_ASIDE = "in KRaft mode a broker that restarts sets a log without an id aside, as <name>-stray, or does not start"


class _Kind(NamedTuple):
    """What directories of one finding share."""

    state: IdState
    topic: str
    expected: str
    found: str
    reason: str = ""
    refused: bool = False


def compare(cluster: ClusterTopics, data: Sequence[DataDirectory]) -> TopicIdCheck:
    """Return how the ids on disks compare with those of the cluster, every directory in one state.

    Raises HarnessError where disks are those of another cluster, or two brokers' of one id.
    """
    _check_same_cluster(cluster, data)
    owners = _owners(cluster, data)
    counts: Counter[IdState] = Counter()
    grouped: defaultdict[_Kind, defaultdict[tuple[int, str], list[int]]] = defaultdict(lambda: defaultdict(list))
    for disk in data:
        for each in disk.partitions:
            kind = _kind(each, disk.broker, cluster, owners)
            counts[kind.state] += 1
            if kind.state not in _QUIET:
                grouped[kind][disk.broker, disk.path].append(each.partition)
    order = {state: number for number, state in enumerate(IdState)}
    findings = sorted(map(_finding, grouped.items()), key=lambda each: (order[each.state], each.topic, each.found))
    passed_over: Counter[str] = Counter()
    for disk in data:
        passed_over.update(disk.passed_over)
    return TopicIdCheck(
        cluster.source,
        cluster.in_zookeeper,
        cluster.cluster_id,
        tuple(sorted({disk.broker for disk in data})),
        len(cluster.topics),
        {state: counts[state] for state in IdState if counts[state]},
        tuple(findings),
        (
            *(problem for disk in data for problem in problems(disk)),
            *_twice(data),
            *_unseen(cluster, data),
            *_unread_topics(cluster),
        ),
        dict(passed_over),
    )


def _check_same_cluster(cluster: ClusterTopics, data: Sequence[DataDirectory]) -> None:
    seen: set[tuple[int, str]] = set()
    for disk in data:
        if disk.cluster_id and cluster.cluster_id and disk.cluster_id != cluster.cluster_id:
            raise HarnessError(
                f"{disk.path} belongs to cluster {disk.cluster_id}, and {cluster.source} to {cluster.cluster_id}.",
                "Name the data directories and the ZooKeeper (with its chroot) of one cluster.",
            )
        if (disk.broker, disk.path) in seen:
            raise HarnessError(f"{disk.path} of broker {disk.broker} is there twice.", "Name each data directory once.")
        seen.add((disk.broker, disk.path))


class _Owners(NamedTuple):
    """Which topics have an id, by the id: in the cluster, and in a directory that is theirs."""

    in_cluster: Mapping[str, set[str]]
    on_disks: Mapping[str, set[str]]
    with_ids: set[str]

    def others(self, topic: str, own: str, found: str) -> set[str]:
        """Return the other topics that have the id of a topic's directory (else `own`, the topic's in the cluster).

        Of a directory that agrees with the cluster the disks of others say nothing: it is they that are odd.
        """
        named = found or own
        sharing = self.in_cluster.get(named, set())
        return (sharing if named == own else sharing | self.on_disks.get(named, set())) - {topic}


def _owners(cluster: ClusterTopics, data: Sequence[DataDirectory]) -> _Owners:
    in_cluster, on_disks = defaultdict(set), defaultdict(set)
    for topic in cluster.topics.values():
        if topic.topic_id:
            in_cluster[topic.topic_id].add(topic.name)
    for disk in data:
        for each in disk.partitions:
            known = cluster.topics.get(each.topic) if each.topic_id else None
            if known and _stray(each, disk.broker, known) is None:
                on_disks[each.topic_id].add(each.topic)
    return _Owners(in_cluster, on_disks, set().union(*on_disks.values()))


def _kind(each: PartitionDirectory, broker: int, cluster: ClusterTopics, owners: _Owners) -> _Kind:
    """Return the state of one directory, every case spelled out."""
    topic = cluster.topics.get(each.topic)
    if each.refused:  # before all else: Kafka loads it, whether anybody serves it or not
        where = f" (in {each.folder})" if each.folder else ""
        expected = topic.topic_id if topic else ""
        return _Kind(IdState.UNREADABLE, each.topic, expected, "", f"{each.problem}{where}", True)
    if each.problem:
        return _Kind(IdState.UNREADABLE, each.topic, topic.topic_id if topic else "", "", each.problem)
    if topic is None:
        return _Kind(IdState.ORPHAN, each.topic, "", each.topic_id, "the cluster has no such topic")
    if topic.problem:
        reason = f"its topic cannot be read in {_where(cluster)}: {topic.problem}"
        return _Kind(IdState.UNREADABLE, each.topic, "", each.topic_id, reason)
    if (stray := _stray(each, broker, topic)) is not None:
        return _Kind(IdState.ORPHAN, each.topic, topic.topic_id, each.topic_id, stray)
    if others := owners.others(each.topic, topic.topic_id, each.topic_id):
        reason = f"{', '.join(sorted(others)[:_NAMED])} {'has' if len(others) == 1 else 'have'} that id too"
        return _Kind(IdState.SHARED, each.topic, topic.topic_id, each.topic_id, reason)
    if not topic.topic_id:
        state = IdState.MISSING_IN_CLUSTER if each.topic in owners.with_ids else IdState.WITHOUT_ID
        return _Kind(state, each.topic, "", each.topic_id)
    if not each.topic_id:
        harm = "" if cluster.in_zookeeper else _SET_ASIDE
        return _Kind(IdState.MISSING_FILE, each.topic, topic.topic_id, "", harm, refused=bool(harm))
    if each.topic_id == topic.topic_id:
        return _Kind(IdState.EQUAL, each.topic, topic.topic_id, each.topic_id)
    earlier = _of_an_earlier_topic(each, topic, cluster)
    state = IdState.RECREATED if earlier else IdState.DIFFERENT
    return _Kind(state, each.topic, topic.topic_id, each.topic_id, earlier)


def _stray(each: PartitionDirectory, broker: int, topic: Topic) -> str | None:
    """Return why a directory is none of its topic's: the topic has no such partition, or not on that broker."""
    replicas = topic.replicas.get(each.partition)
    if replicas is None:
        return f"the topic has {counted(len(topic.replicas), 'partition')}"
    if broker not in (UNKNOWN_BROKER, *replicas):
        return f"broker {broker} is no replica of it"
    return None


def _of_an_earlier_topic(each: PartitionDirectory, topic: Topic, cluster: ClusterTopics) -> str:
    """Return what shows that a directory is of a topic of the same name that was deleted; empty where nothing does.

    A topic that lost its id keeps its node in ZooKeeper; one that was created again has a younger node than the file.
    """
    if each.topic_id in cluster.removed:
        return "the metadata log has the removal of the topic with that id"
    if each.written and topic.created - each.written > _CLOCKS_DIFFER_SECONDS:
        return f"the topic was created at {moment(topic.created)}, after its file was written"
    return ""


def _finding(item: tuple[_Kind, Mapping[tuple[int, str], list[int]]]) -> Finding:
    kind, places = item
    found = tuple(Place(broker, path, tuple(sorted(set(each)))) for (broker, path), each in sorted(places.items()))
    return Finding(kind.state, kind.topic, kind.expected, kind.found, kind.reason, found, kind.refused)


def problems(disk: DataDirectory) -> Iterator[str]:
    """Yield what could not be looked at in a data directory, and that nobody knows whose it is."""
    yield from disk.problems
    if disk.broker == UNKNOWN_BROKER:
        yield f"{disk.path} names no broker: it has no meta.properties with a broker.id or node.id."


def _unread_topics(cluster: ClusterTopics) -> Iterator[str]:
    for topic in cluster.topics.values():
        if topic.problem:
            yield f"Topic {topic.name} cannot be read in {_where(cluster)}: {topic.problem}."


def _twice(data: Sequence[DataDirectory]) -> Iterator[str]:
    """Yield which partitions lie in two data directories of one broker (kafka.log.LogManager.loadLog)."""
    places: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for disk in data:
        for each in disk.partitions:
            if not each.folder and disk.broker != UNKNOWN_BROKER:
                places[disk.broker, f"{each.topic}-{each.partition}"].append(disk.path)
    for (broker, name), paths in sorted(places.items()):
        if len(paths) > 1:
            yield f"Broker {broker} has {name} in {' and in '.join(paths)}: with both it does not start."


def _unseen(cluster: ClusterTopics, data: Sequence[DataDirectory]) -> Iterator[str]:
    """Yield whose disks were not seen, and which replicas have no directory on disks that were."""
    seen = {(disk.broker, each.topic, each.partition) for disk in data for each in disk.partitions if not each.folder}
    brokers = {disk.broker for disk in data}
    absent: Counter[int] = Counter()
    lacking: defaultdict[int, list[str]] = defaultdict(list)
    for topic in cluster.topics.values():
        for partition, replicas in topic.replicas.items():
            for broker in replicas:
                if broker not in brokers:
                    absent[broker] += 1
                elif (broker, topic.name, partition) not in seen and topic.name not in cluster.deleting:
                    lacking[broker].append(f"{topic.name}-{partition}")
    if UNKNOWN_BROKER in brokers:  # whose they are, nobody can say
        return
    for broker, count in sorted(absent.items()):
        yield f"The disks of broker {broker} were not seen: {counted(count, 'replica')}."
    for broker, names in sorted(lacking.items()):
        shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        yield f"Broker {broker} has no directory for {counted(len(names), 'replica')} in what was named: {shown}."


def _where(cluster: ClusterTopics) -> str:
    return "ZooKeeper" if cluster.in_zookeeper else "the metadata log"
