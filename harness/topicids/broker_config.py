"""What a broker's server.properties says of its disks, of its cluster, and of what a repair has to know; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.topicids.disks import parse_properties

UNCLEAN = "unclean.leader.election.enable"
_DEFAULT_DATA = "/tmp/kafka-logs"  # noqa: S108 - Kafka's own default
_METADATA_LOG = "__cluster_metadata-0"


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """Data directories, the ZooKeeper or the metadata log (one of both), and settings."""

    data: tuple[Path, ...]
    zookeeper: str
    metadata_log: Path | None
    settings: Mapping[str, str]


def read_broker_config(path: Path) -> BrokerConfig:
    """Return what a server.properties says. Raises HarnessError where it cannot be read."""
    try:
        return parse_broker_config(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise HarnessError(
            f"{path} cannot be read: {error.strerror}.", "Name a broker's server.properties by --config."
        ) from error


def parse_broker_config(text: str) -> BrokerConfig:
    """Return what the text of a server.properties says, with Kafka's defaults."""
    found = parse_properties(text)
    named = found.get("log.dirs") or found.get("log.dir") or _DEFAULT_DATA
    data = tuple(Path(each.strip()) for each in named.split(","))
    zookeeper = found.get("zookeeper.connect", "")
    log = None if zookeeper else Path(found.get("metadata.log.dir") or data[0]) / _METADATA_LOG
    return BrokerConfig(data, zookeeper, log, {UNCLEAN: found.get(UNCLEAN, "false").lower()})
