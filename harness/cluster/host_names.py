"""Host names of controllers, and the file by which a node's JVM resolves them (jdk.net.hosts.file, Java 9 and later).

A JVM with such a file asks no other name service, and reads it at every lookup. It would keep an answer for 30 s
(networkaddress.cache.ttl), and here does for one, so that a change shows at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

_DOMAIN = "kafka.test"  # RFC 2606: `test` is nobody's


def host_name_of(node: int) -> str:
    """Return the host name by which a controller is known."""
    return f"controller-{node}.{_DOMAIN}"


class HostNames:
    """The names of a cluster, with what each resolves to at present; every node has a file of its own for them."""

    def __init__(self, folder: Path, nodes: Iterable[int]) -> None:
        self._files = {node: folder.absolute() / str(node) / "hosts" for node in nodes}
        self._hosts = {"localhost": "127.0.0.1"}

    def flags(self, node: int) -> tuple[str, ...]:
        """Return the JVM flags of a node."""
        return f"-Djdk.net.hosts.file={self._files[node]}", "-Dsun.net.inetaddr.ttl=1"

    def resolve(self, name: str, host: str) -> None:
        """Have a name resolve to a host from now on, but for nodes that forgot all names."""
        self._hosts[name] = host
        for file in self._files.values():
            _write(file, self._hosts)

    def forget(self, node: int) -> None:
        """Have no name of a controller resolve for a node any more."""
        if file := self._files.pop(node, None):
            _write(file, {})


def _write(file: Path, hosts: Mapping[str, str]) -> None:
    """Replace a file at once: a JVM may read it at this moment."""
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_name(f"{file.name}.new")
    made.write_text("".join(f"{host} {name}\n" for name, host in hosts.items()), encoding="utf-8")
    made.replace(file)
