"""Whom a node asks for the leader, and whom it could not reach, by what it logs; pure.

org.apache.kafka.clients.NetworkClient warns of every connection that is refused; the patch series log each new list of
servers (KafkaRaftClient.maybeUpdateBootstrapServers, refreshBootstrapServers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from harness.cluster.address import Address
from harness.scenario.log_times import is_since

LIST_UPDATED = "Updated bootstrap servers to: "
_UNREACHABLE = re.compile(
    rb"Connection to node -?\d+ \((?P<name>[^/)]*)/(?P<host>[^/)]+):(?P<port>\d+)\) could not be established"
)
_SERVER = re.compile(rb"(?P<host>[^\s\[,]+):(?P<port>\d+) \(id: -?\d+ ")


def unreachable(lines: Iterable[bytes], since: float) -> set[Address]:
    """Return the addresses, by host and by host name, to which no connection could be made since that time."""
    found: set[Address] = set()
    for line in lines:
        told = _UNREACHABLE.search(line)
        if told is not None and is_since(line, since):
            hosts = filter(None, (told["name"], told["host"]))
            found |= {Address(host.decode(), int(told["port"])) for host in hosts}
    return found


def lists_of_servers(lines: Iterable[bytes]) -> Iterator[frozenset[Address]]:
    """Yield each list of servers that the node says it asks from then on."""
    mark = LIST_UPDATED.encode()
    for line in lines:
        if mark in line:
            told = _SERVER.finditer(line.partition(mark)[2])
            yield frozenset(Address(each["host"].decode(), int(each["port"])) for each in told)
