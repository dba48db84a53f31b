"""How many nodes there are, and what each of them is; pure."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.text import counted
from harness.kafka.release_lines import Mode
from harness.model.security import Security

ZOOKEEPER = -1  # whose host ZooKeeper is on: it is none of the nodes


@dataclass(frozen=True, slots=True)
class Topology:
    """How many voters (controllers, brokers too when `combined`) and broker-only nodes (observers) there are.

    With `static_voters` only the configuration says who votes (kraft.version 0), else the log does (KIP-853). With
    `security`, nodes speak to each other as it says, on listeners beside those that the harness asks
    (harness.cluster.security). With `network` each has a network of its own, in which links can be cut
    (harness.cluster.runtime.network). In ZooKeeper `mode` nobody votes, and the brokers are those that are said to
    observe. `spares` are controllers that nobody names at first: they may be added to the voters. With
    `bootstrap_servers` nodes are configured with addresses to ask at, and not with voters
    (controller.quorum.bootstrap.servers, KIP-853). With `names` controllers are known by host names, which a hosts file
    of the cluster resolves.
    """

    controllers: int
    observers: int
    combined: bool = True
    static_voters: bool = False
    security: Security | None = None
    network: bool = False
    mode: Mode = Mode.KRAFT
    spares: int = 0
    bootstrap_servers: bool = False
    names: bool = False

    @property
    def voter_ids(self) -> tuple[int, ...]:
        """Voters are 0 … controllers-1: those with which the cluster begins."""
        return tuple(range(self.controllers))

    @property
    def observer_ids(self) -> tuple[int, ...]:
        """Observers follow the voters."""
        return tuple(range(self.controllers, self.controllers + self.observers))

    @property
    def node_ids(self) -> tuple[int, ...]:
        """All nodes: voters, then observers, then spare controllers."""
        return (*self.voter_ids, *self.observer_ids, *self.spare_ids)

    @property
    def spare_ids(self) -> tuple[int, ...]:
        """Controllers that do not vote at first follow the observers."""
        first = self.controllers + self.observers
        return tuple(range(first, first + self.spares))

    @property
    def controller_ids(self) -> tuple[int, ...]:
        """Whoever may vote: the voters, then spare controllers."""
        return (*self.voter_ids, *self.spare_ids)

    @property
    def host_ids(self) -> tuple[int, ...]:
        """Whoever needs a host: the nodes, and ZooKeeper where there is one."""
        return (*self.node_ids, *([ZOOKEEPER] if self.mode is Mode.ZOOKEEPER else ()))

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """Nodes that hold partitions."""
        return self.node_ids if self.combined else self.observer_ids

    @property
    def observer_word(self) -> str:
        """What nodes that do not vote are called: observers where somebody else votes."""
        return "observer" if self.mode is Mode.KRAFT else "broker"


def describe_topology(topology: Topology) -> str:
    """Return the topology in words."""
    brokers = counted(topology.observers, "broker")
    network = ", each on a host of its own" if topology.network else ""
    if topology.mode is Mode.ZOOKEEPER:
        return f"{brokers}, and ZooKeeper{network}"
    if topology.combined:
        first = f"{counted(topology.controllers, 'node')} that {_are(topology.controllers)} controller and broker"
        nodes = f"{first}, {topology.observers} more {brokers.partition(' ')[2]}"
    else:
        nodes = f"{counted(topology.controllers, 'controller')} and {brokers}"
    static = ", voters by configuration" if topology.static_voters else ""
    spares = f", {counted(topology.spares, 'controller')} in reserve" if topology.spares else ""
    names = ", controllers known by host names" if topology.names else ""
    asked = ", configured with bootstrap servers" if topology.bootstrap_servers else ""
    return f"{nodes}{spares}{static}{asked}{names}{_secured(topology.security)}{network}"


def _secured(security: Security | None) -> str:
    if security is None:
        return ""
    return f", {security.in_kafkas_terms} for clients too" if security.clients else f", {security.words}"


def _are(count: int) -> str:
    return "are" if count != 1 else "is"
