"""The metrics that a node lists of itself (NodeMetrics.java), by names that do not differ from run to run; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from harness.model.kafka_inventory import Metric

_PROPERTY = re.compile(r'([^=,:]+)=("(?:[^"\\]|\\.)*"|[^,]*)')
_LITERAL = ("type", "name")  # a digit in these belongs to the metric's name
_NUMBER = re.compile(r"\d+")
_ID = re.compile(r"(?=.*\d)[A-Za-z0-9_-]{22}")  # Kafka's ids: 16 bytes in base64
_PATH = re.compile(r'"?/.*')
_BY_CHANCE = {"error": "E"}  # which errors a start meets is chance: COORDINATOR_NOT_AVAILABLE, MEMBER_ID_REQUIRED
_BEAN = "bean"
_KINDS = {"KafkaMbean": "Kafka metrics"} | {
    kind: kind.lower() for kind in ("Counter", "Gauge", "Histogram", "Meter", "Timer")
}


def parse_metrics(text: str) -> dict[str, Metric]:
    """Return the metrics of a listing by name; beans whose names differ in numbers alone are one."""
    found: dict[str, Metric] = {}
    for bean, kind, attribute, value in _rows(text):
        name = general_name(bean)
        known = found.get(name, Metric(name, _kind(kind), {}))
        found[name] = Metric(name, known.kind, {attribute: value, **known.attributes})
    return found


def merged(listings: Sequence[Iterable[Metric]]) -> tuple[Metric, ...]:
    """Return the metrics of several boots by name, with the attributes that any boot saw; which not all did is said."""
    found: dict[str, list[Metric]] = defaultdict(list)
    for listing in listings:
        for name, metric in {metric.name: metric for metric in listing}.items():
            found[name].append(metric)
    return tuple(_of_boots(found[name], len(listings)) for name in sorted(found))


def _of_boots(seen: Sequence[Metric], boots: int) -> Metric:
    attributes = {name: value for metric in reversed(seen) for name, value in metric.attributes.items()}
    by_chance = sorted(name for name in attributes if any(name not in metric.attributes for metric in seen))
    return Metric(seen[0].name, seen[0].kind, attributes, len(seen) == boots, tuple(by_chance))


def general_name(bean: str) -> str:
    """Return a bean's name with `N` for numbers in the values of its keys, and the like.

    `ID` stands for Kafka's ids, `PATH` for a folder, `E` for an error.
    """
    domain, _, keys = bean.partition(":")
    return f"{domain}:{_PROPERTY.sub(_general_value, keys)}"


def _general_value(found: re.Match[str]) -> str:
    key, value = found.groups()
    masked = "ID" if _ID.fullmatch(value) else "PATH" if _PATH.fullmatch(value) else _NUMBER.sub("N", value)
    return f"{key}={value if key in _LITERAL else _BY_CHANCE.get(key, masked)}"


def _kind(bean_class: str) -> str:
    """Return what a bean is by its class: `gauge` of `com.yammer.metrics.reporting.JmxReporter$Gauge`."""
    return _KINDS.get(bean_class.rpartition("$")[2], _BEAN)


def is_kind(text: str) -> bool:
    """Whether a text says what beans are, as `Metric.kind` does."""
    return text in (*_KINDS.values(), _BEAN)


def _rows(text: str) -> Iterator[tuple[str, str, str, str]]:
    for line in text.splitlines():
        parts = line.split("\t")
        if len(parts) == 4:
            yield parts[0], parts[1], parts[2], parts[3]
