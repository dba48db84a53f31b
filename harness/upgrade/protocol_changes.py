"""Which clients, clusters and hosts the other Kafka no longer works with: requests, features, Java; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from harness.model.kafka_inventory import Api, Feature, KafkaInventory
from harness.model.operator_changes import Area, Change, Weight


def runtime_changes(base: KafkaInventory, candidate: KafkaInventory) -> tuple[Change, ...]:
    """Return what changes in the Java that is needed, and in the library that writes the log."""
    return tuple(_of_runtime(base, candidate))


def _of_runtime(base: KafkaInventory, candidate: KafkaInventory) -> Iterator[Change]:
    for who in base.java.keys() & candidate.java.keys():
        old, new = base.java[who], candidate.java[who]
        if old != new:
            weight = Weight.BREAKS if new > old else Weight.ADDS
            means = f"With an older Java than {new} it does not start." if new > old else f"Java {new} is enough."
            yield Change(Area.RUNTIME, weight, f"Java of {who}", who, f"Java {old}", f"Java {new}", means, 0)
    if base.logging != candidate.logging:
        before, after = (each.logging or "no known library" for each in (base, candidate))
        same_family = before.split(" (")[0] == after.split(" (")[0]
        other = "Your logging configuration is for another library: convert it, and see that log lines stay the same."
        means = "It reads the same logging configuration: see that log lines stay the same." if same_family else other
        lost = "None that is known is bound: a node may log nothing, and your logging configuration is read by nobody."
        weight = Weight.CHANGES if same_family else Weight.BREAKS
        yield Change(Area.RUNTIME, weight, "logging", "a node", before, after, means if candidate.logging else lost, 5)


def protocol_changes(base: KafkaInventory, candidate: KafkaInventory) -> tuple[Change, ...]:
    """Return what changes in what listeners serve, and in features."""
    return (*_of_apis(base.apis, candidate.apis), *_of_features(base.features, candidate.features))


def _of_apis(base: Iterable[Api], candidate: Iterable[Api]) -> Iterator[Change]:
    """Return what changes in requests; what does so on both listeners is one change."""
    found: dict[tuple[str, str, str, str], list[Change]] = defaultdict(list)
    for change in _on_each_listener(base, candidate):
        found[change.subject, change.base, change.candidate, change.means].append(change)
    for same in found.values():
        yield replace(same[0], where=" and ".join(sorted(change.where for change in same)))


def _on_each_listener(base: Iterable[Api], candidate: Iterable[Api]) -> Iterator[Change]:
    before, after = ({(each.listener, each.number): each for each in apis} for apis in (base, candidate))
    for key in before.keys() - after.keys():
        old = before[key]
        means = "Who sends it gets UNSUPPORTED_VERSION or is cut off."
        yield _change(Weight.BREAKS, old.name, _listener(old), _span(old), "", means, 30)
    for key in after.keys() - before.keys():
        new = after[key]
        yield _change(Weight.ADDS, new.name, _listener(new), "", _span(new), "New.", 90)
    for key in before.keys() & after.keys():
        yield from _of_versions(before[key], after[key])


def _of_versions(old: Api, new: Api) -> Iterator[Change]:
    spans, where = (_span(old), _span(new)), _listener(old)
    if new.lowest > old.lowest:
        means = f"Clients that know no version from {new.lowest} on are refused."
        rank = 29 - min(new.lowest - old.lowest, 9)  # the more versions go, the more clients do
        yield _change(Weight.BREAKS, old.name, where, *spans, means, rank)
    if new.highest < old.highest:
        means = f"Versions after {new.highest} are not served any more: clients lack what they brought."
        yield _change(Weight.CHANGES, old.name, where, *spans, means, 30)
    elif new.lowest <= old.lowest and spans[0] != spans[1]:
        yield _change(Weight.ADDS, old.name, where, *spans, "More versions are served.", 95)


def _of_features(base: Iterable[Feature], candidate: Iterable[Feature]) -> Iterator[Change]:
    before, after = ({each.name: each for each in features} for features in (base, candidate))
    for name in before.keys() - after.keys():
        means = f"A cluster on which it is above level {before[name].lowest} may not start."
        yield _change(Weight.BREAKS, name, "features", _levels(before[name]), "", means, 10)
    for name in after.keys() - before.keys():
        means = "New; once it is raised, nodes of base can no longer join."
        yield _change(Weight.ADDS, name, "features", "", _levels(after[name]), means, 80)
    for name in before.keys() & after.keys():
        yield from _of_levels(before[name], after[name])


def _of_levels(old: Feature, new: Feature) -> Iterator[Change]:
    levels = _levels(old), _levels(new)
    if new.lowest > old.lowest:
        means = f"A cluster below {_level(new, new.lowest, old)} does not start: raise it before you roll."
        yield _change(Weight.BREAKS, new.name, "features", *levels, means, 5)
    if new.highest < old.highest:
        means = f"A cluster above {_level(old, new.highest, new)} does not start."
        yield _change(Weight.BREAKS, new.name, "features", *levels, means, 5)
    if new.highest > old.highest:
        level = _level(old, old.highest, new)
        means = (
            f"Once it is raised above {level}, base does not start: it has to be lowered first, where that can be done."
        )
        yield _change(Weight.ADDS, new.name, "features", *levels, means, 20)
    if new.at_first != old.at_first:
        first = old.level(old.at_first), new.level(new.at_first)
        yield _change(
            Weight.CHANGES, new.name, "features", *first, "A newly formatted cluster begins at another level.", 20
        )


def _level(feature: Feature, number: int, other: Feature) -> str:
    return feature.level(number) if number in feature.names else other.level(number)


def _levels(feature: Feature) -> str:
    return f"{feature.level(feature.lowest)} to {feature.level(feature.highest)}"


def _span(api: Api) -> str:
    return f"{api.lowest} to {api.highest}"


def _listener(api: Api) -> str:
    return f"{api.listener} listener"


def _change(weight: Weight, subject: str, where: str, base: str, candidate: str, means: str, rank: int) -> Change:
    return Change(Area.PROTOCOL, weight, subject, where, base, candidate, means, rank)


def library_changes(base: Mapping[str, str], candidate: Mapping[str, str]) -> tuple[Change, ...]:
    """Return what changes in the jars beside Kafka's own, which plugins on the class path may meet."""
    both = {**base, **candidate}
    return tuple(
        _library(name, base.get(name, ""), candidate.get(name, ""))
        for name in both
        if base.get(name, "") != candidate.get(name, "")
    )


def _library(name: str, old: str, new: str) -> Change:
    weight = Weight.ADDS if not old else Weight.CHANGES
    means = "A plugin that needs it does not load." if not new else "New." if not old else "Another version."
    return Change(Area.LIBRARIES, weight, name, "libs", old, new, means, 90 if not old else 70 if not new else 80)
