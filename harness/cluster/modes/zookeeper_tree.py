"""The tree of one ZooKeeper server: the few questions that the harness puts to it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from harness.cluster.address import Address
from harness.cluster.protocol import Unreachable

if TYPE_CHECKING:  # a quarter of a second to load, and KRaft needs none of it
    from kazoo.client import KazooClient

_T = TypeVar("_T", covariant=True)
_SESSION_SECONDS = 10.0
_TIMEOUT_SECONDS = 2.0
_RECONNECT = {"max_tries": -1, "delay": 0.05, "backoff": 1, "max_delay": 0.1}
_SILENT = logging.getLogger("harness.cluster.modes.zookeeper_tree")  # what goes wrong is said by Unreachable
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


class _Answer(Protocol[_T]):
    def get(self, *, timeout: float) -> _T:
        """Wait for it."""


class ZooKeeperTree:
    """What a server holds; the first question opens the session. Thread-safe; every method raises Unreachable."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._client: KazooClient | None = None

    def get(self, path: str) -> bytes | None:
        """Return the content of a node of the tree, None where there is none."""
        found: tuple[bytes, object] | None = self._asked(lambda client: client.get_async(path))
        return found[0] if found else None

    def children(self, path: str) -> tuple[str, ...]:
        """Return the names of a node's children, none where there is no such node."""
        names: list[str] | None = self._asked(lambda client: client.get_children_async(path))
        return tuple(sorted(names or ()))

    def delete(self, path: str) -> bool:
        """Delete a node of the tree; return whether it was there."""
        return self._asked(lambda client: client.delete_async(path)) is not None

    def close(self) -> None:
        """End the session, so that the server needs not wait for it."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.stop()
            client.close()

    def _asked(self, ask: Callable[[KazooClient], _Answer[_T]]) -> _T | None:
        """Return the answer, None where there is no such node."""
        from kazoo.exceptions import KazooException, NoNodeError
        from kazoo.handlers.threading import KazooTimeoutError

        try:
            return ask(self._connected()).get(timeout=_TIMEOUT_SECONDS)
        except NoNodeError:
            return None
        except (KazooException, KazooTimeoutError, OSError) as error:
            raise Unreachable(f"ZooKeeper at {self._address}: {error or type(error).__name__}") from error

    def _connected(self) -> KazooClient:
        with self._lock:
            if self._client is None:
                self._client = _connect(self._address)
            return self._client


def _connect(address: Address) -> KazooClient:
    from kazoo.client import KazooClient

    options: dict[str, Any] = {"connection_retry": _RECONNECT, "logger": _SILENT}
    client = KazooClient(hosts=str(address), timeout=_SESSION_SECONDS, **options)
    client.start(timeout=_TIMEOUT_SECONDS)
    return client
