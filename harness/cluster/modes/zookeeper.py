"""ZooKeeper: a server that is no node keeps the metadata, and one of the brokers is the controller."""

from __future__ import annotations

import json
from collections.abc import Mapping

from harness.cluster.address import Address
from harness.cluster.modes.zookeeper_server import TICK_MS, ZooKeeperServer
from harness.cluster.modes.zookeeper_tree import ZooKeeperTree
from harness.cluster.node import Node, NodeState
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable

CONTROLLER, CONTROLLER_EPOCH, BROKERS = "/controller", "/controller_epoch", "/brokers/ids"
SESSION_TIMEOUT = "zookeeper.session.timeout.ms"
_DEFAULT_SESSION_MS = 18_000  # KafkaConfig, ZkConfigs
_TICKS = 10  # a loaded host is late
_LOOKS = 3


class InZooKeeper:
    """A cluster's metadata in one ZooKeeper server; `session_ms` is how long it keeps a broker that was killed."""

    def __init__(self, server: ZooKeeperServer, session_ms: int) -> None:
        self._server = server
        self._session_ms = session_ms

    @property
    def tree(self) -> ZooKeeperTree:
        """What ZooKeeper holds."""
        return self._server.tree

    @property
    def address(self) -> Address:
        """Where it listens."""
        return self._server.address

    def format(self, node: Node) -> None:
        """Leave it to the broker, which takes the cluster's id from ZooKeeper."""
        node.data_dir.mkdir(parents=True)

    wipe = format

    def before_start(self, node: Node) -> None:
        """Have ZooKeeper up; of a broker that did not take its leave, wait until its session has ended.

        It would die of a NodeExistsException otherwise. Raises Unreachable when the session does not end.
        """
        self._server.start()
        if node.state not in (NodeState.KILLED, NodeState.DIED):
            return
        patience = (self._session_ms + _TICKS * TICK_MS) / 1000
        if not self._server.await_gone(f"{BROKERS}/{node.id}", patience):
            raise Unreachable(
                f"ZooKeeper still has the session of broker {node.id}, which ended without taking its leave, "
                f"{patience:g} s later ({SESSION_TIMEOUT} is {self._session_ms}): started now, it would die of a "
                "NodeExistsException"
            )

    def quorum(self) -> Quorum:
        """Ask ZooKeeper who is the controller, and in which epoch; without one nobody leads."""
        try:
            return self._controller()
        except Unreachable:
            return Quorum()

    def _controller(self) -> Quorum:
        """Read the epoch on both sides of the controller: the two are written at once, and read one by one."""
        tree = self._server.tree
        for _ in range(_LOOKS):
            epoch, controller = tree.get(CONTROLLER_EPOCH), tree.get(CONTROLLER)
            if epoch is not None and epoch == tree.get(CONTROLLER_EPOCH):
                return controller_of(epoch, controller)
        return Quorum()

    def look(self) -> None:
        """See that ZooKeeper runs. Raises HarnessError."""
        self._server.check()

    def move_controller(self) -> bool:
        """Have another election of a controller, in which the present one may win; return whether there was one.

        Raises Unreachable.
        """
        return self._server.tree.delete(CONTROLLER)

    def close(self) -> None:
        """End ZooKeeper."""
        self._server.close()


def controller_of(epoch: bytes, controller: bytes | None) -> Quorum:
    """Return who leads by what stands in /controller_epoch and /controller; None where that is missing. Pure.

    What cannot be read names nobody.
    """
    try:
        if controller is None:
            return Quorum(epoch=int(epoch))
        leader = int(json.loads(controller)["brokerid"])
        return Quorum(leader, int(epoch), leaders=((int(epoch), leader),))
    except (ValueError, KeyError, TypeError):
        return Quorum()


def session_ms(settings: Mapping[str, str]) -> int:
    """Return how long ZooKeeper keeps a broker that was killed, by its server properties. Pure."""
    return int(settings.get(SESSION_TIMEOUT, _DEFAULT_SESSION_MS))
