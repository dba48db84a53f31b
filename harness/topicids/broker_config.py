"""What a broker's server.properties says of its disks, of its cluster, and of what a repair has to know; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.cluster.config import METADATA_LOG, parse_properties

UNCLEAN = "unclean.leader.election.enable"
ON, OFF = "true", "false"
_DEFAULT_DATA = "/tmp/kafka-logs"  # noqa: S108 - Kafka's own default
_ZOOKEEPER_PORT = 2181
_REMEDY = "Name a broker's server.properties by --config."


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """Data directories, the ZooKeeper or the metadata log (one of both), and settings."""

    data: tuple[Path, ...]
    zookeeper: str
    metadata_log: Path | None
    settings: Mapping[str, str]


def read_broker_config(path: Path) -> BrokerConfig:
    """Return what a server.properties says. Raises HarnessError where it cannot be read, or is none."""
    try:
        return parse_broker_config(path.read_text(encoding="latin-1"))  # as java.util.Properties.load does
    except OSError as error:
        raise HarnessError(f"{path} cannot be read: {error.strerror}.", _REMEDY) from error
    except ValueError as error:
        raise HarnessError(f"{path} cannot be read: {error}.", _REMEDY) from error


def parse_broker_config(text: str) -> BrokerConfig:
    """Return what the text of a server.properties says, with Kafka's defaults.

    Raises ValueError where it is none of a broker, or where its folders depend on where the broker was started.
    """
    found = {key: value.strip() for key, value in parse_properties(text).items()}
    in_kraft, zookeeper = bool(found.get("process.roles")), found.get("zookeeper.connect", "")
    if not in_kraft and not zookeeper:
        raise ValueError("it has neither zookeeper.connect nor process.roles, one of which every broker has")
    data = _folders(found.get("log.dirs") or found.get("log.dir") or _DEFAULT_DATA)
    settings = {UNCLEAN: found.get(UNCLEAN, OFF)}
    if not in_kraft:
        return BrokerConfig(data, zookeeper, None, settings)
    log = _folders(found.get("metadata.log.dir") or str(data[0]))[0] / METADATA_LOG
    return BrokerConfig(data, "", log, settings)  # a zookeeper.connect beside roles is that of a migration


def same_ensemble(one: str, other: str) -> bool:
    """Whether two `zookeeper.connect` may be one ensemble and chroot: brokers need not all name the same servers."""
    (servers, chroot), (others, other_chroot) = map(_servers, (one, other))
    return chroot == other_chroot and not servers.isdisjoint(others)


def _servers(connect: str) -> tuple[set[str], str]:
    servers, _, chroot = connect.partition("/")
    named = (each.strip() for each in servers.split(","))
    return {each if ":" in each else f"{each}:{_ZOOKEEPER_PORT}" for each in named}, chroot.strip("/ ")


def is_unclean(setting: str | None) -> bool | None:
    """Return whether a setting allows unclean elections; None where that is not known.

    Only what is plainly off counts as off: a value may stand for another, as one of a config provider does (`${…}`).
    """
    if setting is None:
        return None
    return {ON: True, OFF: False}.get(setting.strip())


def _folders(listed: str) -> tuple[Path, ...]:
    """Return the folders of a list, as kafka.utils.CoreUtils.parseCsvList reads it. Raises ValueError."""
    named = tuple(Path(each.strip()) for each in listed.split(",") if each.strip())
    if not named:
        raise ValueError(f"log.dirs is {listed!r}, which names no folder")
    relative = next((each for each in named if not each.is_absolute()), None)
    if relative is not None:
        raise ValueError(f"the folder {relative} depends on where the broker was started: write it from / on")
    return named
