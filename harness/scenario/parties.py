"""Who is at the ends of a link: nodes by role, all others, the clients; resolved when a step runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.cluster.runtime.network import CLIENTS, host_name
from harness.cluster.topology import ZOOKEEPER
from harness.scenario.refs import NodeRef
from harness.scenario.world import ActionFailed, World


@dataclass(frozen=True, slots=True)
class Party:
    """Some hosts: `description` for people, `hosts` for the moment they are needed."""

    description: str
    hosts: Callable[[World], tuple[str, ...]]


Side = NodeRef | Party | tuple[NodeRef | Party, ...]


def the_clients() -> Party:
    """Return the host on which every load has its clients."""
    return Party("the clients", lambda _: (CLIENTS,))


def the_coordinator() -> Party:
    """Return whoever keeps the cluster's metadata: ZooKeeper where there is one, else every controller."""

    def hosts(world: World) -> tuple[str, ...]:
        topology = world.cluster.topology
        return tuple(map(host_name, topology.voter_ids or (ZOOKEEPER,)))

    return Party("the coordinator (the controllers, or ZooKeeper)", hosts)


def all_but(*nodes: NodeRef) -> Party:
    """Return every node but these."""

    def hosts(world: World) -> tuple[str, ...]:
        without = {node.find(world) for node in nodes}
        return tuple(host_name(node) for node in world.cluster.nodes if node not in without)

    named = ", ".join(node.description for node in nodes)
    return Party(f"every node but {named}", hosts)


def described(side: Side) -> str:
    """Return a side in words."""
    return " and ".join(each.description for each in side) if isinstance(side, tuple) else side.description


def hosts_of(side: Side, world: World) -> tuple[str, ...]:
    """Return the hosts of a side at this moment. Raises ActionFailed."""
    members: Iterable[NodeRef | Party] = side if isinstance(side, tuple) else (side,)
    found: dict[str, None] = {}
    for each in members:
        found |= dict.fromkeys(each.hosts(world) if isinstance(each, Party) else (host_name(each.find(world)),))
    return tuple(found)


def pairs_between(one: Iterable[str], other: Iterable[str], way: str) -> list[tuple[str, str]]:
    """Return who sends to whom: `both` ways, or only `out` of the first side, or only `in` to it. Pure."""
    out = [(source, target) for source in one for target in other if source != target]
    back = [(target, source) for source, target in out]
    return {"both": [*out, *back], "out": out, "in": back}[way]


def check_way(way: str) -> str:
    """Return the way as it is. Raises ValueError for another than `both`, `out` and `in`."""
    if way not in ("both", "out", "in"):
        raise ValueError(f"{way!r} is no way through a link: write both, out or in")
    return way


def pairs_of(one: Side, other: Side, way: str, world: World) -> list[tuple[str, str]]:
    """Return who sends to whom at this moment. Raises ActionFailed where nobody does."""
    pairs = pairs_between(hosts_of(one, world), hosts_of(other, world), way)
    if not pairs:
        raise ActionFailed(f"there is no link between {described(one)} and {described(other)}")
    return pairs
