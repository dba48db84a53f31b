"""Which configuration keys an operator's files set in vain, or otherwise, or that a node refuses; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher

from harness.model.kafka_inventory import REQUIRED, ConfigOwner, DeclaredKey
from harness.model.operator_changes import Area, Change, Weight
from harness.upgrade.accepted_values import narrowing

Keys = Mapping[str, DeclaredKey]

# What people call the files and requests in which keys are set, by the simple name of the class that declares them.
_PLACES = {
    "AbstractKafkaConfig": "server.properties",
    "KafkaConfig": "server.properties",
    "LogConfig": "topic",
    "LogConfig#CONFIG": "topic",
    "ProducerConfig": "producer",
    "ConsumerConfig": "consumer",
    "AdminClientConfig": "admin client",
    "StreamsConfig": "Kafka Streams",
    "DistributedConfig": "Connect, distributed worker",
    "StandaloneConfig": "Connect, standalone worker",
    "SourceConnectorConfig": "Connect, source connector",
    "SinkConnectorConfig": "Connect, sink connector",
    "MirrorMakerConfig": "MirrorMaker",
    "MirrorSourceConfig": "MirrorMaker, source connector",
    "MirrorCheckpointConfig": "MirrorMaker, checkpoint connector",
    "MirrorHeartbeatConfig": "MirrorMaker, heartbeat connector",
}
_IN_ORDER = list(dict.fromkeys(_PLACES.values()))
_OWN = ("kafka.", "org.apache.kafka.")
_WRITTEN_BY_CONNECT = "TaskConfig"  # by a connector for its tasks, and by nobody else
_WIDENED = {
    ("SHORT", "INT"),
    ("SHORT", "LONG"),
    ("INT", "LONG"),
    ("INT", "DOUBLE"),
    ("STRING", "LIST"),
    ("STRING", "PASSWORD"),
}
_ALIKE = 0.8
_IGNORED = "A file that still sets it has no effect: an unknown key is passed over with a line in the log."
# AbstractConfig.logUnused is called by clients and by Connect, and by no node: not even a line tells of such a key.
_IGNORED_SILENTLY = "A file that still sets it has no effect, and nothing in the log says so."
_REFUSED = "Making or altering a topic with it is refused."
_UNKNOWN_TO = {"topic": _REFUSED, "server.properties": _IGNORED_SILENTLY}
_PAIR = re.compile(r"[^:,]+:[^:,]+")


def config_changes(base: Iterable[ConfigOwner], candidate: Iterable[ConfigOwner]) -> tuple[Change, ...]:
    """Return what changes in the keys of every place; what several places share is one change."""
    before, after = _by_place(base), _by_place(candidate)
    found: dict[tuple[str, str, str, str], list[Change]] = defaultdict(list)
    for place in {**before, **after}:
        for change in _in_place(place, before, after):
            found[change.subject, change.base, change.candidate, change.means].append(change)
    return tuple(_together(each) for each in found.values())


def _together(same: Iterable[Change]) -> Change:
    """Return one change that several places share; what more people set comes first."""
    ordered = sorted(same, key=lambda change: (_order(change.where), change.where))
    first = ordered[0]
    return replace(first, where=", ".join(each.where for each in ordered), rank=100 * first.rank + _order(first.where))


def _order(place: str) -> int:
    return _IN_ORDER.index(place) if place in _IN_ORDER else len(_IN_ORDER)


def _by_place(owners: Iterable[ConfigOwner]) -> dict[str, Keys]:
    """Return the keys of each place; a class that is known by no other name has only those that no known place has."""
    places: dict[str, dict[str, DeclaredKey]] = defaultdict(dict)
    listed = [(name, each.keys) for each in owners if not (name := _called(each.owner)).endswith(_WRITTEN_BY_CONNECT)]
    for name, keys in listed:
        if name in _PLACES:
            places[_PLACES[name]] |= {key.name: key for key in keys}
    known = {name for keys in places.values() for name in keys}
    for name, keys in listed:
        own = {key.name: key for key in keys if name not in _PLACES and key.name not in known}
        if own:
            places[name] |= own
    return dict(places)


def _called(owner: str) -> str:
    """Return what a class is called: `DynamicConfig.Broker` is `kafka.server.DynamicConfig$Broker$`.

    One that is not Kafka's is called by its package, too: a plugin may have a KafkaConfig of its own.
    """
    name = owner.rstrip("$")
    return (name.rpartition(".")[2] if owner.startswith(_OWN) else name).replace("$", ".")


def _in_place(place: str, before: Mapping[str, Keys], after: Mapping[str, Keys]) -> Iterator[Change]:
    old, new = before.get(place, {}), after.get(place, {})
    anywhere = {name for keys in after.values() for name in keys}
    # Of a class that no place is known of only those keys are listed that no known place has, which may change.
    is_known = place in after and place in _PLACES.values()
    gone = [key for name, key in old.items() if name not in new and (is_known or name not in anywhere)]
    added = [key for name, key in new.items() if name not in old]
    for key in gone:
        yield _removed(place, key, _renamed(key, added))
    for key in added:
        yield _added(place, key, is_new_place=place not in before)
    for name in old.keys() & new.keys():
        yield from _altered(place, old[name], new[name])


def _renamed(key: DeclaredKey, added: Iterable[DeclaredKey]) -> str:
    """Return the new key that looks like another name of one that is gone: alike in all but its name."""
    alike = [each for each in added if (each.type, each.default) == (key.type, key.default)]
    near = {each.name: SequenceMatcher(None, each.name, key.name).ratio() for each in alike}
    return max((name for name in near if near[name] >= _ALIKE), key=lambda name: (near[name], name), default="")


def _removed(place: str, key: DeclaredKey, renamed: str) -> Change:
    was = "It was deprecated. " if key.deprecated else ""
    hint = f" It may be {renamed} now." if renamed else ""
    means = f"{was}{_UNKNOWN_TO.get(place, _IGNORED)}{hint}"
    weight = Weight.CHANGES if key.internal else Weight.BREAKS
    return _change(weight, key.name, place, _described(key), "", means, 40)


def _added(place: str, key: DeclaredKey, *, is_new_place: bool) -> Change:
    if key.default == REQUIRED and not is_new_place:
        means = "It must be set: there is no default."
        return _change(Weight.BREAKS, key.name, place, "", _described(key), means, 20, by_default=True)
    return _change(Weight.ADDS, key.name, place, "", _described(key), "New.", 90)


def _altered(place: str, old: DeclaredKey, new: DeclaredKey) -> Iterator[Change]:
    if old.type != new.type:
        weight = Weight.CHANGES if (old.type, new.type) in _WIDENED else Weight.BREAKS
        means = "Its type changed: a value may be read otherwise."
        yield _change(weight, new.name, place, old.type, new.type, means, 30)
    if not _act_alike(old, new):
        yield _defaults(place, old, new)
    if old.validator != new.validator and (narrows := narrowing(old.validator, new.validator)) is not None:
        weight = Weight.BREAKS if narrows.refuses else Weight.CHANGES
        before, after = old.validator or "anything", new.validator or "anything"
        yield _change(weight, new.name, place, before, after, narrows.sentence, 20 if narrows.refuses else 50)
    if new.deprecated and not old.deprecated:
        yield _change(Weight.CHANGES, new.name, place, "", "deprecated", "Deprecated: a later release removes it.", 60)


def _defaults(place: str, old: DeclaredKey, new: DeclaredKey) -> Change:
    values = _value(old.default), _value(new.default)
    if new.default == REQUIRED:
        return _change(Weight.BREAKS, new.name, place, *values, "It must be set now.", 20, by_default=True)
    if old.default == REQUIRED:
        return _change(Weight.ADDS, new.name, place, *values, "It need not be set any more.", 90, by_default=True)
    means = "Whoever does not set it gets another value."
    return _change(Weight.CHANGES, new.name, place, *values, means, 10, by_default=True)


def _act_alike(old: DeclaredKey, new: DeclaredKey) -> bool:
    """Whether two defaults are the same: a list of one is that one, no list is an empty one, and a map has no order."""
    if _pairs(old.default) and _pairs(old.default) == _pairs(new.default):
        return True
    defaults = {old.default, new.default}
    if len(defaults) > 1 and "LIST" in (old.type, new.type) and REQUIRED not in defaults:
        defaults = {"" if each == "null" else each.removeprefix("[").removesuffix("]") for each in defaults}
    return len(defaults) == 1


def _pairs(default: str) -> frozenset[str]:
    """Return the pairs of a map that is written as `name:value,…`; none of anything else."""
    parts = default.split(",")
    return frozenset(parts) if all(_PAIR.fullmatch(part) for part in parts) else frozenset()


def _value(default: str) -> str:
    return default if default != "" else '""'


def _described(key: DeclaredKey) -> str:
    default = REQUIRED if key.default == REQUIRED else f"default {_value(key.default)}"
    return f"{key.type.lower()}, {default}{', internal' if key.internal else ''}"


def _change(
    weight: Weight,
    key: str,
    place: str,
    base: str,
    candidate: str,
    means: str,
    rank: int,
    *,
    by_default: bool = False,
) -> Change:
    return Change(Area.CONFIGURATION, weight, key, place, base, candidate, means, rank, by_default)
