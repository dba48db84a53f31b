"""A Kafka cluster's ZooKeeper, read: many requests under way at once."""

from __future__ import annotations

import tomllib
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import HarnessError
from harness.base.json import record_of
from harness.topicids.records import ClusterTopics
from harness.topicids.zookeeper_nodes import parse_cluster_id, parse_topic

if TYPE_CHECKING:  # a quarter of a second to load
    from kazoo.client import KazooClient

TOPICS = "/brokers/topics"
_IDENTITY = "/cluster/id"
_UNDER_WAY = 500  # requests: a server answers in order, and an answer of all topics would be too large for it
_CONNECT_SECONDS = 15.0
_SESSION_SECONDS = 10.0
_SECURITY = "Name a file with [tls], [sasl] or [digest] by --zookeeper-security (docs/topic-ids.md)."


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files: whom to trust, and who we are."""

    ca: Path
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """Who we are to SASL (`mechanism` DIGEST-MD5 or GSSAPI) or to ZooKeeper's own digest scheme."""

    username: str = ""
    password: str = ""
    mechanism: str = "DIGEST-MD5"


@dataclass(frozen=True, slots=True)
class ZooKeeperSecurity:
    """How an ensemble is to be talked to; nothing is plain text without a login."""

    tls: Tls | None = None
    sasl: Login | None = None
    digest: Login | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node's content; `version` is that of the content, `created` in seconds since 1970."""

    path: str
    data: bytes
    version: int
    created: float
    mzxid: int = 0


def read_security(path: Path) -> ZooKeeperSecurity:
    """Return what a TOML file says. Raises HarnessError."""
    try:
        return record_of(ZooKeeperSecurity, tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, HarnessError) as error:
        raise HarnessError(f"{path} does not say how ZooKeeper is to be talked to: {error}", _SECURITY) from error


class ZooKeeper:
    """A connection that reads. Every method raises HarnessError, with the connect string in its sentence."""

    def __init__(self, client: KazooClient, connect: str) -> None:
        self.client = client
        self.connect = connect

    @property
    def name(self) -> str:
        """What it is called."""
        return f"ZooKeeper at {self.connect}"

    def get_all(self, paths: Iterable[str]) -> Iterator[Node]:
        """Yield the nodes of these paths that there are, in order, with many requests under way."""
        waiting: deque[tuple[str, Any]] = deque()
        for path in paths:
            waiting.append((path, self.client.get_async(path)))
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
                return sorted(self.client.get_children(path))
            except NoNodeError:
                return []

    def catch_up(self) -> None:
        """Have the server answer from now on with all that the ensemble has agreed on."""
        with self.asked("/"):
            self.client.sync("/")

    def _answered(self, path: str, answer: Any) -> Iterator[Node]:
        from kazoo.exceptions import NoNodeError

        with self.asked(path):
            try:
                data, stat = answer.get(timeout=_CONNECT_SECONDS)
            except NoNodeError:  # it was deleted since it was listed
                return
        yield Node(path, data or b"", stat.version, stat.ctime / 1000, stat.mzxid)

    @contextmanager
    def asked(self, path: str) -> Iterator[None]:
        """Make a sentence of what goes wrong."""
        from kazoo.exceptions import AuthFailedError, KazooException, NoAuthError
        from kazoo.handlers.threading import KazooTimeoutError

        try:
            yield
        except (NoAuthError, AuthFailedError) as error:
            raise HarnessError(f"{self.name} refuses access to {path}.", _SECURITY) from error
        except (KazooException, KazooTimeoutError) as error:
            why = str(error) or type(error).__name__
            raise HarnessError(f"{self.name} did not answer for {path}: {why}.") from error


@contextmanager
def connected(connect: str, security: ZooKeeperSecurity, *, current: bool = False) -> Iterator[ZooKeeper]:
    """Yield a connection to an ensemble (`host:port,host:port/chroot`). Raises HarnessError where there is none.

    With `current` it is one that may write, to a server that has caught up with the leader (`sync`): any other may be
    cut off, and answer with what was so before.
    """
    client = _client(connect, security, current)
    try:
        _start(client, connect)
        zookeeper = ZooKeeper(client, connect)
        if current:
            zookeeper.catch_up()
        yield zookeeper
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
    return ClusterTopics(
        zookeeper.name,
        True,
        cluster_id,
        {topic.name: topic for topic in topics},
    )


def read_cluster_id(zookeeper: ZooKeeper) -> str:
    """Return whose ensemble it is; empty where it does not say. Raises HarnessError where that cannot be read."""
    node = zookeeper.get(_IDENTITY)
    try:
        return parse_cluster_id(node.data) if node else ""
    except HarnessError as error:
        raise HarnessError(f"{_IDENTITY} cannot be read in {zookeeper.name}: {error.message}.") from error


def _client(connect: str, security: ZooKeeperSecurity, current: bool) -> KazooClient:
    from kazoo.client import KazooClient
    from kazoo.exceptions import ConfigurationError

    tls = security.tls
    try:
        return KazooClient(
            hosts=connect,
            timeout=_SESSION_SECONDS,
            handler=_handler(),
            read_only=not current,
            auth_data=_auth_data(security.digest),
            sasl_options=_sasl_options(security.sasl),
            use_ssl=tls is not None,
            ca=_pem(tls.ca) if tls else None,
            certfile=_pem(tls.certificate) if tls else None,
            keyfile=_pem(tls.key) if tls else None,
            verify_certs=True,
            check_hostname=tls is not None,
        )
    except (ConfigurationError, ValueError, TypeError, AssertionError) as error:
        raise HarnessError(
            f"{connect!r} is no address of a ZooKeeper: {error}.", "Write host:port, … and the chroot behind the last."
        ) from error


def _handler() -> Any:
    """Return what runs the client's threads: one that ends by an error keeps it, and prints no traceback."""
    from kazoo.exceptions import KazooException
    from kazoo.handlers.threading import SequentialThreadingHandler

    class Handler(SequentialThreadingHandler):  # type: ignore[misc]  # the library has no types
        ended_by: KazooException | None = None

        def spawn(self, work: Any, *given: Any, **named: Any) -> Any:
            def kept() -> None:
                try:
                    work(*given, **named)
                except KazooException as error:
                    self.ended_by = error

            return super().spawn(kept)

    return Handler()


def _start(client: KazooClient, connect: str) -> None:
    from kazoo.exceptions import AuthFailedError, ConfigurationError, KazooException
    from kazoo.handlers.threading import KazooTimeoutError

    try:
        with warnings.catch_warnings(action="ignore"):  # of a chroot that is not there: we say so ourselves
            client.start(timeout=_CONNECT_SECONDS)
    except (AuthFailedError, ConfigurationError) as error:
        raise HarnessError(f"ZooKeeper at {connect} refuses the login: {error}.", _SECURITY) from error
    except (KazooException, KazooTimeoutError, OSError) as error:
        raise HarnessError(
            f"ZooKeeper at {connect} cannot be reached within {_CONNECT_SECONDS:g} s: {_why(client, error)}.",
            "Is the address that of the brokers' zookeeper.connect, and does the port want TLS (--zookeeper-security)?",
        ) from error


def _why(client: KazooClient, error: Exception) -> str:
    """Return what ended the connection, where it was ended, else what the client says."""
    cause = client.handler.ended_by or error
    return str(cause) or type(cause).__name__


def _auth_data(login: Login | None) -> Sequence[tuple[str, str]]:
    return [("digest", f"{login.username}:{login.password}")] if login else []


def _sasl_options(login: Login | None) -> dict[str, str] | None:
    if login is None:
        return None
    named = {"mechanism": login.mechanism}
    if login.username:
        named |= {"username": login.username, "password": login.password}
    return named


def _pem(path: Path | None) -> str | None:
    if path is None:
        return None
    if not path.expanduser().is_file():
        raise HarnessError(f"There is no file {path} (--zookeeper-security).", _SECURITY)
    return str(path.expanduser())
