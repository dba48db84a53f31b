"""What ZooKeeper's nodes of a Kafka cluster say, from their bytes; pure (kafka.zk.ZkData)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.base.errors import HarnessError
from harness.base.json import parse_json
from harness.base.text import cut, visible
from harness.topicids.records import Topic
from harness.topicids.topic_id import is_topic_id

_SHOWN = 80
_PARTITION = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Who leads a partition (-1: nobody), and who is in sync."""

    leader: int
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Controller:
    """Who is the controller; `kraft_epoch` is that of a KRaft controller that has taken ZooKeeper over, or -1."""

    broker: int
    kraft_epoch: int


def parse_topic(name: str, data: bytes, created: float) -> Topic:
    """Return what `/brokers/topics/<name>` says; never raises: what cannot be read is the topic's problem."""
    try:
        document = _object(data)
        reassigned = any(document.get(each) for each in ("adding_replicas", "removing_replicas"))
        return Topic(name, _topic_id(document), _replicas(document), created, reassigned=reassigned)
    except HarnessError as error:
        return Topic(name, "", {}, created, error.message.rstrip("."))


def parse_state(data: bytes) -> PartitionState:
    """Return what `/brokers/topics/<name>/partitions/<p>/state` says. Raises HarnessError."""
    document = _object(data)
    isr = document.get("isr")
    if not isinstance(isr, list):
        raise HarnessError("it has no isr")
    return PartitionState(_number(document.get("leader"), "leader"), tuple(_number(each, "isr") for each in isr))


def parse_cluster_id(data: bytes) -> str:
    """Return what `/cluster/id` says. Raises HarnessError."""
    found = _object(data).get("id")
    if not isinstance(found, str) or not found:
        raise HarnessError(f"its node holds no id but {_quoted(data)}")
    return found


def parse_config(data: bytes) -> Mapping[str, str]:
    """Return the settings of a `/config/…` node. Raises HarnessError."""
    found = _object(data).get("config", {})
    if not isinstance(found, dict):
        raise HarnessError("its config is no object")
    return {key: str(value) for key, value in found.items()}


def parse_controller(data: bytes) -> Controller:
    """Return what `/controller` says. Raises HarnessError."""
    document = _object(data)
    kraft_epoch = _number(document.get("kraftControllerEpoch", -1), "kraftControllerEpoch")
    return Controller(_number(document.get("brokerid"), "brokerid"), kraft_epoch)


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = parse_json(data.decode("utf-8"))
    except (UnicodeDecodeError, HarnessError) as error:
        raise HarnessError(f"its node holds no JSON but {_quoted(data)}") from error
    if not isinstance(found, dict):
        raise HarnessError(f"its node holds no JSON object but {_quoted(data)}")
    return found


def _topic_id(document: Mapping[str, Any]) -> str:
    found = document.get("topic_id", "")
    if found == "":
        return ""
    if not isinstance(found, str) or not is_topic_id(found):
        raise HarnessError(f"its topic_id is {cut(visible(str(found)), _SHOWN)!r}")
    return found


def _replicas(document: Mapping[str, Any]) -> dict[int, tuple[int, ...]]:
    partitions = document.get("partitions")
    if not isinstance(partitions, dict):
        raise HarnessError("its node has no partitions")
    found = {}
    for number, brokers in partitions.items():
        if not _PARTITION.fullmatch(number) or not isinstance(brokers, list):
            raise HarnessError(f"its partition {cut(visible(number), _SHOWN)!r} is none")
        found[int(number)] = tuple(_number(broker, "replicas") for broker in brokers)
    return found


def _number(value: Any, what: str) -> int:
    if type(value) is not int:
        raise HarnessError(f"its {what} has {cut(visible(str(value)), _SHOWN)!r}, which is no number")
    return value


def _quoted(data: bytes) -> str:
    return f"“{cut(visible(data[:1000].decode('utf-8', 'replace')), _SHOWN)}”"
