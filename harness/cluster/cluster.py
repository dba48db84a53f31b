"""A KRaft cluster of processes on loopback: voters, combined or dedicated, and broker-only observers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from harness.cluster import probes
from harness.cluster.config import NodeConfig
from harness.cluster.formatting import Identity, format_from_template, kafka_uuid, new_uuid
from harness.cluster.node import Launch, Node, NodeState
from harness.cluster.ports import HOST, PortPool
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable

_REGISTER_RETRY_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Topology:
    """How many voters (controllers, brokers too when `combined`) and broker-only nodes (observers) there are."""

    controllers: int
    observers: int
    combined: bool = True

    @property
    def voter_ids(self) -> tuple[int, ...]:
        """Voters are 0 … controllers-1."""
        return tuple(range(self.controllers))

    @property
    def observer_ids(self) -> tuple[int, ...]:
        """Observers follow the voters."""
        return tuple(range(self.controllers, self.controllers + self.observers))

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """Nodes that hold partitions."""
        return (*self.voter_ids, *self.observer_ids) if self.combined else self.observer_ids


_AFTER_A_NUMBER = (" ", ". ", ",", ":", ";", ")", "]")  # `broker 3.9.1` names none


class Cluster:
    """Formats and runs the nodes; use as a context manager, so that nothing outlives the run."""

    def __init__(
        self,
        topology: Topology,
        folder: Path,
        launch: Launch,
        template: Path,
        observe: Callable[[Node], None],
    ) -> None:
        self.topology = topology
        self.id = new_uuid()
        self._ports = PortPool()
        self._moved: set[int] = set()
        self._dead: list[int] = []
        self._closed = False
        controllers = {node: self._ports.take() for node in topology.voter_ids}
        self.nodes = {
            node: Node(
                NodeConfig(node, self._broker_port(node), controllers.get(node), controllers),
                new_uuid(),
                folder / str(node),
                launch,
                observe,
            )
            for node in (*topology.voter_ids, *topology.observer_ids)
        }
        self._format(template)

    def _broker_port(self, node: int) -> int | None:
        return self._ports.take() if node in self.topology.broker_ids else None

    def _format(self, template: Path) -> None:
        voters = [
            Identity(node.id, node.directory, node.config.controller_port)
            for node in self.nodes.values()
            if node.config.controller_port is not None
        ]
        for node in self.nodes.values():
            named = voters if node.is_voter else []
            format_from_template(template, node.data_dir, node.id, node.directory, self.id, named)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill what still runs and let go of the ports; nothing is learned from a graceful end here."""
        self._closed = True
        for node in self.nodes.values():
            node.kill()
        self._ports.close()

    @property
    def is_closed(self) -> bool:
        """Whether the cluster was ended: nothing more can be asked of it."""
        return self._closed

    @property
    def voters(self) -> list[Node]:
        """The controllers, running or not."""
        return [self.nodes[node] for node in self.topology.voter_ids]

    @property
    def broker_ports(self) -> dict[int, int]:
        """Where each running broker listens."""
        return {node.id: node.config.broker_port for node in self.running if node.config.broker_port is not None}

    @property
    def controller_ports(self) -> dict[int, int]:
        """Where each voter listens (or listened last)."""
        return {node.id: node.config.controller_port for node in self.voters if node.config.controller_port is not None}

    @property
    def running(self) -> list[Node]:
        """Nodes whose process is there."""
        return [node for node in self.nodes.values() if node.is_running]

    def names(self) -> dict[str, str]:
        """Return what the texts stand for that differ in every run: addresses, and brokers by number.

        Such as `127.0.0.1:22001`: `<voter's left controller>`, and `broker 3 `: `broker <an observer> `.
        """
        found = {f"{HOST}:{port}": "<nobody's address>" for port in self._dead}
        for node in self.nodes.values():
            whose, who = ("voter's", "<a voter>") if node.is_voter else ("observer's", "<an observer>")
            found |= {f"broker {node.id}{after}": f"broker {who}{after}" for after in _AFTER_A_NUMBER}
            for known in node.configs:
                left = "" if known.ports == node.config.ports else " left"
                for listener, port in (("broker", known.broker_port), ("controller", known.controller_port)):
                    if port is not None:
                        found[f"{HOST}:{port}"] = f"<{whose}{left} {listener}>"
        return found

    def quorum(self) -> Quorum:
        """Ask the running voters who leads."""
        ports = self.controller_ports
        return probes.describe_quorum({node.id: ports[node.id] for node in self.voters if node.is_running})

    def start(self, nodes: Iterable[int], voters: Mapping[int, int] | None = None) -> None:
        """Start nodes at once; `voters` are the controller ports that they are told, right or wrong."""
        for node in map(self.nodes.__getitem__, nodes):
            node.start(replace(node.config, voters=voters) if voters is not None else None)

    def dead_port(self) -> int:
        """Return a port on which nobody will answer for as long as this cluster lives."""
        self._dead.append(self._ports.take())
        return self._dead[-1]

    def restart(self, node: int, *, new_ports: bool, voters: Mapping[int, int] | None = None) -> bool:
        """Stop a node and start it again, on new ports if asked; the old ports stay dead.

        A voter is told where the other voters listen now, an observer what it was told before, unless `voters`
        says otherwise. Returns False when it had to be killed to stop.
        """
        target = self.nodes[node]
        graceful = target.stop()
        moved = target.config
        if new_ports:
            controller = self._ports.take() if target.is_voter else None
            moved = replace(moved, broker_port=self._broker_port(node), controller_port=controller)
            self._moved.add(node)
        if moved.controller_port is not None:
            moved = replace(moved, voters={**self.controller_ports, node: moved.controller_port})
        if voters is not None:
            moved = replace(moved, voters=voters)
        target.start(moved)
        return graceful

    def has_moved(self, node: int) -> bool:
        """Whether the node was restarted on new ports in this run."""
        return node in self._moved

    def register_endpoint(self, node: int, within: float) -> str:
        """Have the leader record where a voter listens now, and prove it; return "" or what stood in the way.

        KIP-853 leaves this to the voter, but a voter announces itself only when no fetch is in flight at the
        moment its update period ends, so that it may take minutes; the harness sends the same request itself.
        """
        target, deadline, last = self.nodes[node], time.monotonic() + within, "no leader answered"
        while time.monotonic() < deadline and not self._closed:
            quorum = self.quorum()
            if quorum.endpoints.get(node) == target.config.controller_port:
                return ""
            if quorum.leader >= 0:
                last = self._send_endpoint(quorum, target) or "the voter set did not change"
            time.sleep(_REGISTER_RETRY_SECONDS)
        return last

    def _send_endpoint(self, quorum: Quorum, target: Node) -> str:
        assert target.config.controller_port is not None
        leader_port = self.controller_ports[quorum.leader]
        try:
            return probes.update_voter(
                leader_port,
                kafka_uuid(self.id),
                quorum.epoch,
                target.id,
                target.directory,
                target.config.controller_port,
            )
        except Unreachable as error:
            return str(error)

    def look(self) -> None:
        """Bring every node's state up to date, side by side (a node that does not answer takes its time-out)."""
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
