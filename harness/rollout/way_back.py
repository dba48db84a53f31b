"""Which node goes back to base next: one that is down first, then the last one that was rolled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from harness.cluster.node import NodeState
from harness.rollout.builds import BASE
from harness.rollout.finalising import FINALISED_AT
from harness.scenario.steps import Sample
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class NodesLeft:
    """There is a node left to choose."""

    name: ClassVar[str] = "left"
    choose: Callable[[World], int | None]
    description: str

    def sample(self, world: World) -> Sample:
        """Choose."""
        node = self.choose(world)
        return Sample(node is not None, {"node": node})


def certainly(choose: Callable[[World], int | None]) -> Callable[[World], int]:
    """Return the same choice where a condition has just seen that there is one."""

    def chosen(world: World) -> int:
        node = choose(world)
        assert node is not None
        return node

    return chosen


def first_to_bring_back(world: World) -> int | None:
    """Return a node that is down, else the last of those that run something else than base; None when all do.

    None too when the features are finalised: base would not start.
    """
    if FINALISED_AT in world.marks:
        return None
    nodes = world.cluster.nodes
    down = [number for number, node in nodes.items() if node.state is not NodeState.READY]
    return next(iter(down), None) if down else last_rolled(world)


def last_rolled(world: World) -> int | None:
    """Return the node that was rolled last of those that do not run base; None when all do."""
    return _last(world, world.cluster.topology.node_ids)


def last_rolled_controller(world: World) -> int | None:
    """Return the voter, but for the active controller, that was rolled last of those that do not run base."""
    leader = world.quorum().leader
    return _last(world, [node for node in world.cluster.topology.voter_ids if node != leader])


def _last(world: World, among: Sequence[int]) -> int | None:
    turns: Mapping[int, int] = {node: at for at, node in enumerate(world.names.values())}
    rolled = [node for node in among if world.cluster.nodes[node].install.name != BASE]
    return max(rolled, key=lambda node: turns.get(node, -1), default=None)
