"""Where a node listens: host and port. Only what launches nodes decides which hosts there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A host name or IP address, and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, order=True)
class SecuredAddress(Address):
    """Where only clients with the right `settings` are let in (librdkafka's names); they say a password."""

    settings: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)


def listed(addresses: Iterable[Address]) -> str:
    """Return addresses as Kafka's clients and tools take them: `host:port,host:port`."""
    return ",".join(map(str, addresses))
