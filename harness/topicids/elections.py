"""Unclean elections: who allows them, and what a repair would make of one that was made, or could be; pure.

The controller elects by its own settings (kafka.controller.KafkaController), and any broker may become it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.base.text import listed
from harness.topicids.broker_config import UNCLEAN, is_unclean
from harness.topicids.live_state import NOBODY, LiveState
from harness.topicids.records import DataDirectory, Topic
from harness.topicids.sentences import brokers as named_brokers
from harness.topicids.zookeeper_nodes import PartitionState

_WHILE_DOWN = "a replica that holds less would lead while the last broker is down, and records be lost."
_NAMED = 5  # partitions that a refusal names


def settings_of(data: Sequence[DataDirectory]) -> Mapping[int, str]:
    """Return what the server.properties of each broker says of unclean elections; empty where nobody has seen it."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    for disk in data:
        found[disk.broker].add(disk.settings.get(UNCLEAN, "").strip())
    return {broker: ", ".join(sorted(said)) for broker, said in found.items()}


def unclean_dangers(
    topic: Topic, files: Mapping[int, str], live: LiveState, asked: Iterable[int], why: str = _WHILE_DOWN
) -> Iterator[str]:
    """Yield who allows unclean elections of a topic: its own settings, or those of brokers where it has none.

    `files` is what `settings_of` returned, `asked` are brokers that may become the controller.
    """
    own = live.topic_unclean.get(topic.name)
    if own:
        yield f"{UNCLEAN} is on for topic {topic.name}, by its own settings: {why}"
    if own is None:
        allowing = [broker for broker in _asked(topic, asked) if _said(broker, files, live)]
        if allowing:
            yield f"{UNCLEAN} is on for topic {topic.name}, by the settings of {named_brokers(allowing)}: {why}"


def unseen_settings(topic: Topic, files: Mapping[int, str], live: LiveState, asked: Iterable[int]) -> Iterator[str]:
    """Yield whose settings would say whether unclean elections are on, and were not seen, or say neither."""
    unseen = [broker for broker in _asked(topic, asked) if _said(broker, files, live) is None]
    if topic.name not in live.topic_unclean and unseen:
        yield (
            f"Whether {UNCLEAN} is on for topic {topic.name}, the settings of {named_brokers(unseen)} would say: name "
            "server.properties by --config, here or with --export; what is there must be true or false."
        )


def put_back_dangers(topic: Topic, files: Mapping[int, str], live: LiveState, asked: Iterable[int]) -> Iterator[str]:
    """Yield why an old id is not to be put back: it would make an unclean election effective.

    Who was elected by one is alone in sync, and stays so: its followers refuse what they are told of it by another id.
    """
    doubtful = [number for number in sorted(topic.replicas) if _is_doubtful(number, topic, live)]
    if not doubtful:
        return
    names, ask = listed([f"{topic.name}-{number}" for number in doubtful], _NAMED), sorted(asked)
    yield from unclean_dangers(
        topic,
        files,
        live,
        ask,
        f"nobody leads {names}, or one replica alone is in sync, which may hold less than others. They refuse it for "
        "its id; with the old one back they would follow it, and cut off what it lacks. Compare the ends of their logs "
        "first.",
    )
    yield from unseen_settings(topic, files, live, ask)


def _is_doubtful(number: int, topic: Topic, live: LiveState) -> bool:
    """Whether a partition's leader may be one of an unclean election, or another controller would hold one."""
    state: PartitionState | None = live.states.get(topic.name, {}).get(number)
    if state is None or state.leader == NOBODY or not live.brokers & set(state.isr):
        return True
    return len(state.isr) == 1 < len(topic.replicas[number])


def _asked(topic: Topic, asked: Iterable[int]) -> list[int]:
    return sorted({*asked, *(broker for replicas in topic.replicas.values() for broker in replicas)})


def _said(broker: int, files: Mapping[int, str], live: LiveState) -> bool | None:
    """Return what a broker's settings say of unclean elections, dynamic ones before its file; None: nobody knows."""
    if broker in live.broker_unclean:
        return live.broker_unclean[broker]
    if live.default_unclean is not None:
        return live.default_unclean
    return is_unclean(files.get(broker))
