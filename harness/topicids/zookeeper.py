"""A Kafka cluster's ZooKeeper, read: many requests under way at once, and nothing here that could write."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

from harness.base.errors import HarnessError
from harness.topicids.records import ClusterTopics
from harness.topicids.zookeeper_nodes import parse_cluster_id, parse_topic
from harness.topicids.zookeeper_refusals import LastError, Refusal, refusal
from harness.topicids.zookeeper_security import REMEDY, ZooKeeperSecurity, client_options

if TYPE_CHECKING:  # a quarter of a second to load
    from kazoo.client import KazooClient

TOPICS = "/brokers/topics"
DELETED = "/admin/delete_topics"
_IDENTITY = "/cluster/id"
_UNDER_WAY = 500  # requests: a server answers in order, and an answer of all topics would be too large for it
_CONNECT_SECONDS = 15.0
ANSWER_SECONDS = 15.0  # of a request: while a connection is lost, its client keeps requests, for ever if need be
_SESSION_SECONDS = 10.0
_ENDING_SECONDS = 1.0  # until a client's thread that lost its connection has said why
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Node:
    """A node's content; `version` is that of the content, `created` in seconds since 1970."""

    path: str
    data: bytes
    version: int
    created: float


class ZooKeeper:
    """A connection that reads: of its client it keeps the three methods that do, and none that writes.

    Every method raises HarnessError, with the connect string in its sentence.
    """

    def __init__(self, client: KazooClient, connect: str, why: Callable[[Exception], Refusal] | None = None) -> None:
        self._get, self._children, self._sync = client.get_async, client.get_children_async, client.sync_async
        self.connect = connect
        self._why = why or refusal

    @property
    def name(self) -> str:
        """What it is called."""
        return f"ZooKeeper at {self.connect}"

    def get_all(self, paths: Iterable[str]) -> Iterator[Node]:
        """Yield the nodes of these paths that there are, in order, with many requests under way."""
        waiting: deque[tuple[str, Any]] = deque()
        for path in paths:
            waiting.append((path, self._get(path)))
            if len(waiting) >= _UNDER_WAY:
                yield from self._answered(*waiting.popleft())
        while waiting:
            yield from self._answered(*waiting.popleft())

    def get(self, path: str) -> Node | None:
        """Return a node, or None where there is none."""
        return next(self.get_all([path]), None)

    def children(self, path: str) -> list[str]:
        """Return the names below a node, sorted; none where there is no such node."""
        from kazoo.exceptions import NoNodeError

        with self.asked(path):
            try:
                return sorted(self._children(path).get(timeout=ANSWER_SECONDS))
            except NoNodeError:
                return []

    def catch_up(self) -> None:
        """Have the server answer from now on with all that the ensemble has agreed on."""
        with self.asked("/"):
            self._sync("/").get(timeout=ANSWER_SECONDS)

    def _answered(self, path: str, answer: Any) -> Iterator[Node]:
        from kazoo.exceptions import NoNodeError

        with self.asked(path):
            try:
                data, stat = answer.get(timeout=ANSWER_SECONDS)
            except NoNodeError:  # it was deleted since it was listed
                return
        yield Node(path, data or b"", stat.version, stat.ctime / 1000)

    @contextmanager
    def asked(self, path: str) -> Iterator[None]:
        """Make a sentence of what goes wrong."""
        from kazoo.exceptions import KazooException, NoAuthError
        from kazoo.handlers.threading import KazooTimeoutError

        try:
            yield
        except NoAuthError as error:
            raise HarnessError(f"{self.name} refuses access to {path}.", REMEDY) from error
        except (KazooException, KazooTimeoutError) as error:
            refused = self._why(error)
            raise HarnessError(f"{self.name} did not answer for {path}: {refused.why}.", refused.remedy) from error


@contextmanager
def connected(connect: str, security: ZooKeeperSecurity, *, current: bool = False) -> Iterator[ZooKeeper]:
    """Yield a connection to an ensemble (`host:port,host:port/chroot`). Raises HarnessError where there is none.

    With `current` it is one to a server that has caught up with the leader (`sync`): any other may be cut off, and
    answer with what was so before.
    """
    with session(connect, security, current=current) as (client, why):
        zookeeper = ZooKeeper(client, connect, why)
        if current:
            zookeeper.catch_up()
        yield zookeeper


@contextmanager
def session(
    connect: str, security: ZooKeeperSecurity, *, current: bool
) -> Iterator[tuple[KazooClient, Callable[[Exception | None], Refusal]]]:
    """Yield a client with a session, and what says why a request of it failed. Raises HarnessError where there is none.

    One that need not be `current` may be to a server that is cut off from the others.
    """
    met = LastError()
    client = _client(connect, security, current, met)

    def why(error: Exception | None = None) -> Refusal:
        client.handler.has_ended.wait(_ENDING_SECONDS)
        return refusal(met.error, error, hosts=client.hosts, tls=bool(security.tls), login=bool(security.sasl))

    try:
        if not _start(client):
            refused = why()
            raise HarnessError(f"ZooKeeper at {connect} gives no session: {refused.why}.", refused.remedy)
        yield client, why
    finally:
        client.stop()
        client.close()


def read_topics(zookeeper: ZooKeeper) -> ClusterTopics:
    """Return all topics. Raises HarnessError where there is no Kafka cluster, or where it cannot be read."""
    names = zookeeper.children(TOPICS)
    cluster_id = read_cluster_id(zookeeper)
    if not names and not cluster_id:
        raise HarnessError(
            f"{zookeeper.name} has no Kafka cluster: neither {TOPICS} nor {_IDENTITY} is there.",
            "Name the chroot of the brokers' zookeeper.connect too (host:port/chroot).",
        )
    nodes = zookeeper.get_all(f"{TOPICS}/{name}" for name in names)
    topics = (parse_topic(node.path.removeprefix(f"{TOPICS}/"), node.data, node.created) for node in nodes)
    by_name = {topic.name: topic for topic in topics}
    return ClusterTopics(zookeeper.name, True, cluster_id, by_name, deleting=frozenset(zookeeper.children(DELETED)))


def read_cluster_id(zookeeper: ZooKeeper) -> str:
    """Return whose ensemble it is; empty where it does not say. Raises HarnessError where that cannot be read."""
    node = zookeeper.get(_IDENTITY)
    try:
        return parse_cluster_id(node.data) if node else ""
    except HarnessError as error:
        raise HarnessError(f"{_IDENTITY} cannot be read in {zookeeper.name}: {error.message}.") from error


def _client(connect: str, security: ZooKeeperSecurity, current: bool, met: LastError) -> KazooClient:
    from kazoo.client import KazooClient
    from kazoo.exceptions import ConfigurationError

    options = client_options(security)
    try:
        return KazooClient(
            hosts=connect,
            timeout=_SESSION_SECONDS,
            handler=_handler(),
            read_only=not current,
            logger=met.logger,
            **options,
        )
    except (ConfigurationError, ValueError, TypeError, AssertionError) as error:
        raise HarnessError(
            f"{connect!r} is no address of a ZooKeeper: {error}.", "Write host:port, … and the chroot behind the last."
        ) from error


def _handler() -> Any:
    """Return what runs the client's threads: one that ends by an error prints no traceback, since the log has it."""
    from kazoo.handlers.threading import SequentialThreadingHandler

    class Handler(SequentialThreadingHandler):  # type: ignore[misc]  # the library has no types
        def __init__(self) -> None:
            super().__init__()
            self.has_ended = Event()

        def spawn(self, work: Any, *given: Any, **named: Any) -> Any:
            def kept() -> None:
                with suppress(Exception):
                    work(*given, **named)
                self.has_ended.set()

            return super().spawn(kept)

    return Handler()


def _start(client: KazooClient) -> bool:
    """Whether there is a session, logged in, within a while; what is in the way is in the client's log."""
    deadline = time.monotonic() + _CONNECT_SECONDS
    begun = client.start_async()
    while not begun.wait(_POLL_SECONDS):
        if client.handler.has_ended.is_set() or time.monotonic() > deadline:
            return False
    return True
