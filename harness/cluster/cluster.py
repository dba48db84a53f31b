"""A cluster of processes: voters, combined or dedicated, and broker-only observers; or ZooKeeper and brokers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.base.errors import HarnessError
from harness.cluster.address import Address, SecuredAddress
from harness.cluster.config import CONTROLLER_LISTENER, NodeConfig, SecureListeners, properties_text
from harness.cluster.formatting import new_uuid
from harness.cluster.host_names import HostNames, host_name_of
from harness.cluster.install import Install
from harness.cluster.modes.base import ClusterMode
from harness.cluster.modes.kraft import Kraft
from harness.cluster.modes.zookeeper import InZooKeeper, session_ms
from harness.cluster.modes.zookeeper_server import ZooKeeperServer
from harness.cluster.node import Launch, Node, NodeState
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Wire
from harness.cluster.runtime.base import Runtime
from harness.cluster.runtime.loopback_runtime import OnLoopback
from harness.cluster.security import (
    client_properties,
    librdkafka_settings,
    make_secrets,
    security_properties,
    without_security,
)
from harness.cluster.topology import ZOOKEEPER, Topology
from harness.kafka.release_lines import Mode

_AFTER_A_NUMBER = (" ", ". ", ",", ":", ";", ")", "]")  # `broker 3.9.1` names none


class Cluster:
    """Formats and runs the nodes; use as a context manager, so that nothing outlives the run.

    They run in the `runtime`, which whoever made it closes; on loopback where none is given.
    """

    def __init__(
        self,
        topology: Topology,
        folder: Path,
        launch: Launch,
        install: Install,
        template: Path | None,
        observe: Callable[[Node], None],
        runtime: Runtime | None = None,
    ) -> None:
        self.topology = topology
        self.id = new_uuid()
        self.wire = Wire(launch.line.requests)
        self._owns_runtime = runtime is None
        self.runtime = runtime or OnLoopback()
        self._moved: set[int] = set()
        self._dead: list[Address] = []
        self._closed = False
        self._zookeeper = self.runtime.take(ZOOKEEPER) if topology.mode is Mode.ZOOKEEPER else None
        self._host_names = HostNames(folder, topology.node_ids)
        self.mode = self._mode(folder, launch, template)
        listening = {node: self._listening(node) for node in topology.node_ids}
        quorum = {node: _quorum_address(listening[node]) for node in topology.voter_ids}
        self.secrets = make_secrets(folder, self._hosts(listening.values())) if topology.security else None
        self.client_file = folder / "client.properties"
        launch = replace(launch, overlay=self._secured(launch.overlay))
        self.nodes = {
            node: Node(
                replace(listening[node], voters=quorum),
                new_uuid(),
                folder / str(node),
                self._with_names(launch, node) if topology.names else launch,
                install,
                self.wire,
                observe,
                self.runtime.spawner(node),
            )
            for node in topology.node_ids
        }
        for each in self.nodes.values():
            self.mode.format(each)

    def _secured(self, overlay: Mapping[str, str]) -> Mapping[str, str]:
        """Return server properties with those of a secured cluster; write what its clients need."""
        security = self.topology.security
        if security is None or self.secrets is None:
            return overlay
        self.client_file.write_text(properties_text(client_properties(self.secrets, security)), encoding="utf-8")
        return {**without_security(overlay), **security_properties(self.secrets, security)}

    def _mode(self, folder: Path, launch: Launch, template: Path | None) -> ClusterMode:
        if self._zookeeper is None:
            if template is None:
                raise HarnessError(f"Nodes of Kafka {launch.line.name} are not started in KRaft.")
            return Kraft(lambda: self.voters, self.topology, self.wire, self.id, template)
        server = ZooKeeperServer(folder, launch, self._zookeeper, self.runtime.spawner(ZOOKEEPER))
        return InZooKeeper(server, session_ms(launch.overlay))

    def _listening(self, node: int) -> NodeConfig:
        """Choose new addresses for a node."""
        take, roles = partial(self.runtime.take, node), self.topology
        broker, controller = node in roles.broker_ids, node in roles.controller_ids
        secure = (
            SecureListeners(take() if broker else None, take() if controller else None, roles.security.protocol)
            if roles.security
            else None
        )
        listening = NodeConfig(
            node,
            take() if broker else None,
            take() if controller else None,
            {},
            voters_by_log=roles.bootstrap_servers or node in roles.spare_ids,
            secure=secure,
            zookeeper=self._zookeeper,
        )
        return self._named(listening) if roles.names else listening

    def _with_names(self, launch: Launch, node: int) -> Launch:
        return replace(launch, extra_flags=(*launch.extra_flags, *self._host_names.flags(node)))

    def _named(self, listening: NodeConfig) -> NodeConfig:
        """Give a controller its host name, which resolves to where it listens."""
        if listening.controller is None:
            return listening
        name = host_name_of(listening.node)
        self._host_names.resolve(name, listening.controller.host)
        return replace(listening, name=name)

    @staticmethod
    def _hosts(listening: Iterable[NodeConfig]) -> list[str]:
        return sorted({address.host for each in listening for address in each.listeners})

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill what still runs and release the addresses; a graceful end would show nothing more.

        Raises HarnessError for what does not end, once everything else has.
        """
        self._closed = True
        with ExitStack() as last_first:
            if self._owns_runtime:
                last_first.callback(self.runtime.close)
            last_first.callback(self.mode.close)
            for node in self.nodes.values():
                last_first.callback(node.kill)

    @property
    def is_closed(self) -> bool:
        """Whether the cluster was ended: nothing more can be asked of it."""
        return self._closed

    @property
    def voters(self) -> list[Node]:
        """The controllers, running or not; also those that are to vote later, or do not vote any more."""
        return [self.nodes[node] for node in self.topology.controller_ids]

    @property
    def brokers(self) -> dict[int, Address]:
        """Where each running broker listens."""
        return {node.id: node.config.broker for node in self.running if node.config.broker is not None}

    @property
    def client_brokers(self) -> list[Address]:
        """Where clients reach each running broker: at its secured listener, where that is theirs."""
        return self.client_brokers_among(self.brokers)

    def client_brokers_among(self, nodes: Collection[int]) -> list[Address]:
        """Return where clients reach the running brokers among these nodes, alike."""
        plain = {node: address for node, address in self.brokers.items() if node in nodes}
        secure = {node: secured.broker for node in plain if (secured := self.nodes[node].config.secure)}
        return self._for_clients(plain, secure)

    @property
    def client_controllers(self) -> list[Address]:
        """Where clients reach each controller, alike."""
        secure = {node.id: node.config.secure.controller for node in self.voters if node.config.secure}
        return self._for_clients(self.controllers, secure)

    def _for_clients(self, plain: Mapping[int, Address], secure: Mapping[int, Address | None]) -> list[Address]:
        security = self.topology.security
        if security is None or self.secrets is None or not security.clients:
            return list(plain.values())
        settings = librdkafka_settings(self.secrets, security)
        return [SecuredAddress(at.host, at.port, settings) for at in secure.values() if at is not None]

    @property
    def controllers(self) -> dict[int, Address]:
        """Where each controller listens (or listened last)."""
        return {node.id: node.config.controller for node in self.voters if node.config.controller is not None}

    @property
    def endpoints(self) -> dict[int, Address]:
        """Where each controller says that it listens: what a voter set should name, as the harness reads one."""
        return {node.id: node.config.announced[CONTROLLER_LISTENER] for node in self.voters}

    @property
    def quorum_addresses(self) -> dict[int, Address]:
        """Where other nodes reach each voter with which the cluster began: what their configurations name."""
        return {node: self.reached_at(node) for node in self.topology.voter_ids}

    def reached_at(self, node: int) -> Address:
        """Return where other nodes reach a controller."""
        return _quorum_address(self.nodes[node].config)

    @property
    def running(self) -> list[Node]:
        """Nodes whose process is there."""
        return [node for node in self.nodes.values() if node.is_running]

    def names(self) -> dict[str, str]:
        """Return what the texts stand for that differ in every run: addresses, and brokers by number.

        Such as `127.0.0.1:22001`: `<voter's left controller>`, and `broker 3 `: `broker <an observer> `.
        """
        found = {str(address): "<nobody's address>" for address in self._dead}
        for node in self.nodes.values():
            word = "voter" if node.is_voter else self.topology.observer_word
            whose, who = f"{word}'s", f"<{'an' if word == 'observer' else 'a'} {word}>"
            found |= {f"broker {node.id}{after}": f"broker {who}{after}" for after in _AFTER_A_NUMBER}
            for known in node.configs:
                left = "" if known.listeners == node.config.listeners else " left"
                for listeners in (known.broker_listeners, known.controller_listeners, known.announced):
                    found |= {str(at): f"<{whose}{left} {name.lower()}>" for name, at in listeners.items()}
        return found

    def quorum(self) -> Quorum:
        """Ask who leads: of the running voters, or in ZooKeeper mode as the controller."""
        return self.mode.quorum()

    def start(self, nodes: Iterable[int], voters: Mapping[int, Address] | None = None) -> None:
        """Start nodes at once; `voters` are the controller addresses in their configuration, right or wrong.

        Raises Unreachable when something stands in the way of a start (harness.cluster.modes).
        """
        for node in map(self.nodes.__getitem__, nodes):
            self.mode.before_start(node)
            node.start(replace(node.config, voters=voters) if voters is not None else None)

    def start_without_names(self, node: int) -> None:
        """Start a node that cannot resolve controllers' names, configured with where the first voters listen."""
        self._host_names.forget(node)
        self.start([node], {voter: self.controllers[voter] for voter in self.topology.voter_ids})

    def dead_address(self) -> Address:
        """Return an address at which nobody will answer for as long as this cluster lives."""
        self._dead.append(self.runtime.nobody())
        return self._dead[-1]

    def restart(self, node: int, *, new_addresses: bool, voters: Mapping[int, Address] | None = None) -> bool:
        """Stop a node and start it again, at new addresses if asked; nobody answers at the old ones any more.

        A voter's configuration then names where the other voters listen now, an observer's what it named before,
        unless `voters` says otherwise. Returns False when it had to be killed to stop.
        """
        target = self.nodes[node]
        graceful = target.stop()
        if new_addresses:
            self._move(target)
        self._start_again([node], voters)
        return graceful

    def start_elsewhere(self, nodes: Iterable[int]) -> None:
        """Start nodes that are down at new addresses, all at once; voters are configured as `restart` says."""
        moved = list(nodes)
        for node in moved:
            self._move(self.nodes[node])
        self._start_again(moved)

    def change_host(self, node: int) -> bool:
        """Stop a controller that has a host name, and start it at another host by the same name and port.

        Returns False when it had to be killed to stop. Raises HarnessError where the runtime gives a node one host.
        """
        target = self.nodes[node]
        graceful, old = target.stop(), target.config.controller
        assert old is not None
        new = self.runtime.another_host(old)
        self._host_names.resolve(target.config.name, new.host)
        target.config = replace(target.config, controller=new)
        self._moved.add(node)
        self._start_again([node])
        return graceful

    def _move(self, target: Node) -> None:
        """Give a node that is down new addresses."""
        new = self._listening(target.id)
        target.config = replace(target.config, broker=new.broker, controller=new.controller, secure=new.secure)
        self._moved.add(target.id)

    def _start_again(self, nodes: Iterable[int], voters: Mapping[int, Address] | None = None) -> None:
        for node in nodes:
            of_voter = self.quorum_addresses if node in self.topology.voter_ids else None
            self.start([node], of_voter if voters is None else voters)

    def has_moved(self, node: int) -> bool:
        """Whether the node was restarted at new addresses in this run."""
        return node in self._moved

    def wipe(self, node: int, *, new_identity: bool) -> None:
        """Empty the disk of a node that is down, and format it anew as a node that knows nothing of the quorum.

        A new identity is a new directory id, as of another disk. A controller then learns from the log who votes.
        """
        target = self.nodes[node]
        shutil.rmtree(target.data_dir)
        target.directory = new_uuid() if new_identity else target.directory
        target.config = replace(target.config, voters_by_log=target.is_voter or self.topology.bootstrap_servers)
        self.mode.wipe(target)

    def look(self) -> None:
        """Bring every node's state up to date, side by side (a node that does not answer takes its time-out).

        Raises HarnessError when what coordinates them, and is none of them, has ended.
        """
        self.mode.look()
        starting = [node for node in self.nodes.values() if node.state is NodeState.STARTING]
        for node in self.nodes.values():
            if node not in starting:
                node.look()
        if starting:
            with ThreadPoolExecutor(len(starting)) as pool:
                list(pool.map(Node.look, starting))

    def cpu_seconds(self) -> float:
        """CPU seconds of all nodes that have ended so far."""
        return sum(node.cpu_seconds for node in self.nodes.values())


def _quorum_address(known: NodeConfig) -> Address:
    """Return where other nodes reach a voter."""
    return next(iter(known.announced.values()))
