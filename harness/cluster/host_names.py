"""Host names of controllers, and the file by which a node's JVM resolves them (jdk.net.hosts.file, Java 9 and later).

A JVM with such a file asks no other name service, and reads it at every lookup; it keeps an answer for 30 s
(networkaddress.cache.ttl).
"""

from __future__ import annotations

from pathlib import Path

_DOMAIN = "kafka.test"  # RFC 2606: `test` is nobody's


def host_name_of(node: int) -> str:
    """Return the host name by which a controller is known."""
    return f"controller-{node}.{_DOMAIN}"


class HostNames:
    """The names of a cluster, with what each resolves to at present."""

    def __init__(self, folder: Path) -> None:
        self._file = folder.absolute() / "hosts"
        self._hosts: dict[str, str] = {}

    @property
    def flag(self) -> str:
        """The JVM flag of every node."""
        return f"-Djdk.net.hosts.file={self._file}"

    def resolve(self, name: str, host: str) -> None:
        """Have a name resolve to a host from now on."""
        self._hosts[name] = host
        self._file.parent.mkdir(parents=True, exist_ok=True)
        lines = (f"{host} {name}\n" for name, host in {"localhost": "127.0.0.1", **self._hosts}.items())
        made = self._file.with_suffix(".new")
        made.write_text("".join(lines), encoding="utf-8")
        made.replace(self._file)
