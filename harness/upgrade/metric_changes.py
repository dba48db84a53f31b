"""Which metrics that dashboards and alerts name are gone, or are something else; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from harness.model.kafka_inventory import Metric
from harness.model.operator_changes import Area, Change, Weight

_NAMED = re.compile(r"\bname=([^,]+)")
_FAMILY = 4  # metrics from which on they are told together
_UNIT = "unit:"
_WORDS = {"String", "Boolean"}
_NUMBERS = {"Integer", "Long", "Double", "Float"}


def metric_changes(base: Iterable[Metric], candidate: Iterable[Metric]) -> tuple[Change, ...]:
    """Return what changes in the metrics; one that only some boots had is never gone or new."""
    before, after = {each.name: each for each in base}, {each.name: each for each in candidate}
    gone = [metric for name, metric in before.items() if metric.steady and name not in after]
    added = [metric for name, metric in after.items() if metric.steady and name not in before]
    return (
        *(_removed(name, each, added) for name, each in _families(gone).items()),
        *(_added(name, each) for name, each in _families(added).items()),
        *(change for name in before.keys() & after.keys() for change in _altered(before[name], after[name])),
    )


def _families(metrics: Iterable[Metric]) -> dict[str, list[Metric]]:
    """Return metrics by name; many that differ in `name=` alone (one request's, KIP-188) are a family: `name=*`."""
    found: dict[str, list[Metric]] = defaultdict(list)
    for metric in metrics:
        found[_NAMED.sub("name=*", metric.name)].append(metric)
    return {
        name if family else metric.name: each if family else [metric]
        for name, each in found.items()
        for family in [len(each) >= _FAMILY]
        for metric in each
    }


def _removed(name: str, metrics: Sequence[Metric], added: Sequence[Metric]) -> Change:
    moved = _moved(metrics[0], added) if len(metrics) == 1 else ""
    hint = f" It may be {moved} now." if moved else ""
    means = f"An alert or a panel on it has no data, and most stay silent.{hint}"
    return _change(Weight.BREAKS, name, _described(metrics), "", means, 10)


def _moved(metric: Metric, added: Iterable[Metric]) -> str:
    """Return the new metric that looks like the one that is gone under another name; empty where several do."""
    like = [each.name for each in added if _key(each) == _key(metric)]
    return like[0] if len(like) == 1 else ""


def _key(metric: Metric) -> tuple[str, ...]:
    named = _NAMED.search(metric.name)
    return (named[1],) if named else tuple(sorted(metric.attributes))


def _added(name: str, metrics: Sequence[Metric]) -> Change:
    return _change(Weight.ADDS, name, "", _described(metrics), "New.", 90)


def _described(metrics: Sequence[Metric]) -> str:
    """Return what metrics are: a type, and of a family the names."""
    kinds = ", ".join(sorted({metric.kind for metric in metrics}))
    names = sorted(found[1] for metric in metrics if (found := _NAMED.search(metric.name)))
    return kinds if len(metrics) == 1 else f"{kinds}: {', '.join(names)}"


def _altered(old: Metric, new: Metric) -> Iterator[Change]:
    lost = _always(old, but_for=new)
    if old.kind != new.kind:
        without = f" Without {', '.join(lost)}." if lost else ""
        weight = Weight.BREAKS if lost else Weight.CHANGES
        yield _change(weight, new.name, old.kind, new.kind, f"It is another type of metric.{without}", 20)
    elif lost:
        means = "An alert or a panel on these attributes has no data."
        yield _change(Weight.BREAKS, new.name, ", ".join(lost), "", means, 20)
    for attribute in sorted(old.attributes.keys() & new.attributes.keys()):
        yield from _of_values(new.name, attribute, old.attributes[attribute], new.attributes[attribute])
    more = _always(new, but_for=old)
    if more and old.kind == new.kind:
        yield _change(Weight.ADDS, new.name, "", ", ".join(more), "New attributes.", 90)


def _always(metric: Metric, but_for: Metric) -> list[str]:
    """Return the attributes that a metric has in every boot, and another in none."""
    return sorted(metric.attributes.keys() - {*metric.by_chance} - but_for.attributes.keys()) if metric.steady else []


def _of_values(name: str, attribute: str, old: str, new: str) -> Iterator[Change]:
    """Return how an attribute's values changed; a gauge that could not be read has no type, which says nothing."""
    if old == new or not old or not new:
        return
    if old.startswith(_UNIT):
        units = old.removeprefix(_UNIT), new.removeprefix(_UNIT)
        yield _change(Weight.BREAKS, name, *units, f"{attribute}: thresholds are in another unit.", 15)
    elif {old, new} & _NUMBERS and {old, new} & _WORDS:
        found = _change(Weight.BREAKS, name, old, new, f"{attribute} is no number any more, or has become one.", 20)
        yield replace(found, other_names=(attribute,))


def _change(weight: Weight, name: str, base: str, candidate: str, means: str, rank: int) -> Change:
    return Change(Area.METRICS, weight, name, name.partition(":")[0], base, candidate, means, rank)
