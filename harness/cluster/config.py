"""What a node's server.properties says, and which of its keys belong to the cluster and not to the user."""

from __future__ import annotations

import re
import struct
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError, reason_of
from harness.cluster.address import Address, listed
from harness.kafka.release_lines import Line

_MOST_BYTES = 2**20  # of a user's server.properties; Kafka's own has 6 KB
_FOUR_DIGITS = re.compile("[0-9a-fA-F]{4}")
_LINE_ENDS = re.compile(r"\r\n|\n|\r")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_VALUE_SIGNS = re.compile(r"\\|^[ \t]")
_KEY_SIGNS = re.compile(r"[\\=: \t]|^[#!]")
BROKER_LISTENER = "BROKER"
METADATA_TOPIC = "__cluster_metadata"
METADATA_LOG = f"{METADATA_TOPIC}-0"  # the folder of its only partition, in a node's `log.dirs`
CONTROLLER_LISTENER = "CONTROLLER"
SECURE_BROKER_LISTENER = "SECURE_BROKER"
SECURE_CONTROLLER_LISTENER = "SECURE_CONTROLLER"
_SECURED = (SECURE_BROKER_LISTENER, SECURE_CONTROLLER_LISTENER)

# Kafka's default layout (config/log4j.properties of 3.9), for every line; the log diff reads node logs by it.
LOG_PATTERN = "[%d] %p %m (%c)%n"

# Keys that make the topology what it is: a user's --config must not pull it from under the scenario.
OWNED_KEYS = frozenset(
    {
        "process.roles",
        "node.id",
        "broker.id",
        "listeners",
        "advertised.listeners",
        "inter.broker.listener.name",
        "security.inter.broker.protocol",
        "controller.listener.names",
        "listener.security.protocol.map",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
        "log.dir",
        "log.dirs",
        "metadata.log.dir",
        "zookeeper.connect",
        "metadata.max.idle.interval.ms",  # the no-ops by which an observer's progress is seen
    }
)


@dataclass(frozen=True, slots=True)
class SecureListeners:
    """Where a node of a secured cluster listens for other nodes, by which protocol; None as in NodeConfig."""

    broker: Address | None
    controller: Address | None
    protocol: str = "SASL_SSL"


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """Where a node listens and whom it asks for the quorum.

    `controller` is None on a broker-only node (an observer), `broker` on a dedicated controller. `voters` maps a
    voter's id to the controller address that this node's `controller.quorum.voters` names for it, right or wrong. With
    `voters_by_log` they are only where it asks first (`controller.quorum.bootstrap.servers`), and who votes is what the
    log says: a controller whose log is empty must not believe that it votes. In a `secure` cluster nodes speak to each
    other on listeners of their own, the harness on the plain ones. A broker that asks `zookeeper` asks no quorum.
    Others know its controller by the host `name`, where it has one.
    """

    node: int
    broker: Address | None
    controller: Address | None
    voters: Mapping[int, Address]
    voters_by_log: bool = False
    secure: SecureListeners | None = None
    zookeeper: Address | None = None
    name: str = ""

    @property
    def listeners(self) -> tuple[Address, ...]:
        """Where it can be asked; the first is where it answers questions about itself."""
        return tuple(address for address in (self.broker, self.controller) if address is not None)

    @property
    def broker_listeners(self) -> dict[str, Address]:
        """Where it listens as a broker, by the listener's name; other brokers use the first."""
        secure = self.secure.broker if self.secure else None
        return _present({SECURE_BROKER_LISTENER: secure, BROKER_LISTENER: self.broker})

    @property
    def controller_listeners(self) -> dict[str, Address]:
        """Where it listens as a controller, by the listener's name; other nodes use the first."""
        secure = self.secure.controller if self.secure else None
        return _present({SECURE_CONTROLLER_LISTENER: secure, CONTROLLER_LISTENER: self.controller})

    @property
    def announced(self) -> dict[str, Address]:
        """Where it says that it listens as a controller, by the listener's name: what a voter set names."""
        listeners = self.controller_listeners
        return {each: replace(address, host=self.name or address.host) for each, address in listeners.items()}

    @property
    def roles(self) -> str:
        """Its `process.roles`."""
        named = {"broker": self.broker, "controller": self.controller}
        return ",".join(role for role, address in named.items() if address is not None)


def server_properties(node: NodeConfig, log_dir: Path, overlay: Mapping[str, str], *, formatting: bool = False) -> str:
    """Return the text of server.properties.

    With `formatting`, the quorum is given as bootstrap servers: StorageTool refuses `--initial-controllers`
    beside `controller.quorum.voters` (KIP-853).
    """
    listeners = {**node.broker_listeners, **node.controller_listeners}
    in_mode = _in_zookeeper(node, node.zookeeper) if node.zookeeper else _in_kraft(node, formatting)
    own = {
        "listeners": _listed(listeners),
        **({"advertised.listeners": _listed({**node.broker_listeners, **node.announced})} if node.name else {}),
        **({"inter.broker.listener.name": next(iter(node.broker_listeners))} if node.broker is not None else {}),
        "listener.security.protocol.map": _protocol_map(listeners, node),
        "log.dirs": str(log_dir),
        **in_mode,
    }
    # A broker-only node must not advertise a listener it does not have; the default is its listeners.
    return properties_text({**overlay, **own})


def _in_zookeeper(node: NodeConfig, zookeeper: Address) -> dict[str, str]:
    return {"broker.id": str(node.node), "zookeeper.connect": str(zookeeper)}


def _in_kraft(node: NodeConfig, formatting: bool) -> dict[str, str]:
    controllers = [SECURE_CONTROLLER_LISTENER, CONTROLLER_LISTENER] if node.secure else [CONTROLLER_LISTENER]
    return {
        "process.roles": node.roles,
        "node.id": str(node.node),
        "controller.listener.names": ",".join(controllers),
        "listener.security.protocol.map": _protocol_map(
            [*node.broker_listeners, *node.controller_listeners, *controllers], node
        ),
        **_quorum(node, formatting),
    }


def _protocol_map(listeners: Iterable[str], node: NodeConfig) -> str:
    secure = node.secure.protocol if node.secure else ""
    named = {name: secure if name in _SECURED else "PLAINTEXT" for name in listeners}
    return ",".join(f"{name}:{protocol}" for name, protocol in named.items())


def _listed(listeners: Mapping[str, Address]) -> str:
    return ",".join(f"{name}://{address}" for name, address in listeners.items())


def _present(listeners: Mapping[str, Address | None]) -> dict[str, Address]:
    return {name: address for name, address in listeners.items() if address is not None}


def _quorum(node: NodeConfig, formatting: bool) -> dict[str, str]:
    if formatting or node.voters_by_log:
        return {"controller.quorum.bootstrap.servers": listed(node.voters.values())}
    voters = ",".join(f"{voter}@{address}" for voter, address in sorted(node.voters.items()))
    return {"controller.quorum.voters": voters}


def properties_text(properties: Mapping[str, str]) -> str:
    """Return properties as java.util.Properties reads them, whose files are Latin-1."""
    return "".join(f"{_escape(key, _KEY_SIGNS)}={_escape(value, _VALUE_SIGNS)}\n" for key, value in properties.items())


def _escape(text: str, signs: re.Pattern[str]) -> str:
    """Escape a key or a value, in which these signs mean something."""
    plain = signs.sub(lambda found: f"\\{found[0]}", text)
    plain = plain.replace("\n", "\\n").replace("\r", "\\r").replace("\f", "\\f")
    return _BEYOND_ASCII.sub(lambda found: "".join(f"\\u{unit:04x}" for unit in _units(found[0])), plain)


def _units(text: str) -> tuple[int, ...]:
    """Return the UTF-16 units of a text."""
    encoded = text.encode("utf-16-be", "surrogatepass")
    return struct.unpack(f">{len(encoded) // 2}H", encoded)


def parse_properties(text: str) -> dict[str, str]:
    """Parse java.util.Properties text: comments, `=`/`:`/blank separators, continuation lines, escapes.

    Later keys win, as in Java.
    """
    parsed: dict[str, str] = {}
    for line in _logical_lines(text):
        key, value = _split(line)
        parsed[_unescape(key)] = _unescape(value)
    return parsed


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    pending = ""
    for raw in _LINE_ENDS.split(text):  # Java knows no other ends of lines
        line = raw.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        lines.append(pending + line)
        pending = ""
    return [*lines, pending] if pending else lines


def _split(line: str) -> tuple[str, str]:
    escaped = False
    for position, character in enumerate(line):
        if not escaped and character in "=: \t\f":
            rest = line[position:].lstrip(" \t\f")
            return line[:position], rest[1:].lstrip(" \t\f") if rest[:1] in ("=", ":") else rest
        escaped = character == "\\" and not escaped
    return line, ""


def _unescape(text: str) -> str:
    simple = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}
    out: list[str] = []
    characters = iter(text)
    for character in characters:
        if character != "\\":
            out.append(character)
            continue
        following = next(characters, "")
        if following == "u":
            digits = "".join(next(characters, "") for _ in range(4))
            if not _FOUR_DIGITS.fullmatch(digits):
                raise ValueError(f"\\u{digits} is no character: \\u wants four hex digits")
            out.append(chr(int(digits, 16)))
        else:
            out.append(simple.get(following, following))
    units = "".join(out).encode("utf-16-le", "surrogatepass")  # a character beyond the first 65,536 is two escapes
    return units.decode("utf-16-le", "surrogatepass")


def load_overlay(path: Path, arm_keys: frozenset[str]) -> dict[str, str]:
    """Read a user's `--config` file to lay over server.properties.

    `arm_keys` are the keys in which the arms differ (the feature flag). Raises HarnessError naming every key
    that the cluster or the arms own, or when the file cannot be read.
    """
    try:
        overlay = parse_properties(_text_of(path))
    except (OSError, ValueError) as error:
        raise HarnessError(
            f"--config {path} cannot be read as a properties file: {reason_of(error)}.",
            "Give key=value lines.",
        ) from error
    owned = sorted(key for key in overlay if key in OWNED_KEYS | arm_keys)
    if owned:
        raise HarnessError(
            f"--config {path} sets {', '.join(owned)}, which the harness sets itself for every node and arm.",
            "Remove these keys; every other key of server.properties may stay.",
        )
    return overlay


def _text_of(path: Path) -> str:
    """Return a file as java.util.Properties reads it; a byte order mark is left out. Raises ValueError for no text."""
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1).removeprefix(BOM_UTF8)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES // 2**20} MiB")
    if b"\0" in content:
        raise ValueError("it is no text")
    return content.decode("latin-1")


def logging_text(line: Line) -> str:
    """Return a node's logging configuration: everything at INFO, the raft package at DEBUG, one file."""
    return line.logging.text.replace("{pattern}", LOG_PATTERN)
