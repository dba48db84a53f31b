"""Whether a node is as an action needs it: one that finds it otherwise would do nothing, or harm, and nobody notice."""

from __future__ import annotations

from collections.abc import Iterable

from harness.cluster.node import Node, NodeState
from harness.scenario.refs import NodeRef
from harness.scenario.world import ActionFailed, World


def running(node: NodeRef, world: World) -> Node:
    """Return a node whose process is there and was not asked to end. Raises ActionFailed."""
    found = world.cluster.nodes[node.find(world)]
    if not found.is_running:
        raise ActionFailed(f"node {found.id} does not run")
    return found


def killable(node: NodeRef, world: World) -> Node:
    """Return a node that runs, or is about to end. Raises ActionFailed."""
    found = world.cluster.nodes[node.find(world)]
    return found if found.state is NodeState.STOPPING else running(node, world)


def down(node: NodeRef, world: World, otherwise: str = "runs already") -> Node:
    """Return a node that has no process, be it one that is stopping. Raises ActionFailed: what is `otherwise` so."""
    (found,) = all_down([node.find(world)], world, otherwise)
    return found


def all_down(nodes: Iterable[int], world: World, otherwise: str = "runs already") -> list[Node]:
    """Return nodes of which none has a process, alike."""
    found = [world.cluster.nodes[node] for node in nodes]
    for each in found:
        if each.is_alive:
            raise ActionFailed(f"node {each.id} {otherwise}")
    return found
