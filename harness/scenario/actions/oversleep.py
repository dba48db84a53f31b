"""Voters that sleep longer than their fetch time-out, and stand for election when they go on: all at one moment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from harness.base.waiting import wait_until
from harness.scenario.bounds import seconds
from harness.scenario.conditions.has_logged import said
from harness.scenario.holding import hold_node, release_nodes
from harness.scenario.raft_lines import STANDS
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.verbs import fault
from harness.scenario.world import ActionFailed, World

_SHOWS_SECONDS = 1.0
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Oversleep(Fault):
    """Hold voters for longer than their fetch time-out and let them go on, until one of them stands for election.

    A voter whose leader lives may find the leader's last answer first, and take no notice of how late it is; then it is
    held once more. Who is killed ends as soon as they are held, so that nobody stands before they all can.
    """

    nodes: tuple[NodeRef, ...]
    lasts: float
    killed: NodeRef | None

    @property
    def description(self) -> str:
        """The action as a clause."""
        who = " and ".join(node.description for node in self.nodes)
        held = f"hold {who} (SIGSTOP){f', kill {self.killed.description}' if self.killed else ''}"
        return f"{held} and let them go on {self.lasts:g} s later, until one of them stands for election"

    def perform(self, world: World) -> None:
        """Hold and release them, five times at most. Raises ActionFailed."""
        nodes = [each.find(world) for each in self.nodes]
        killed = self.killed.find(world) if self.killed else None
        for _ in range(_TRIES):
            began = time.time()
            for node in nodes:
                hold_node(node, world, self.description)
            if killed is not None:
                world.cluster.nodes[killed].kill()  # of no effect on one that is down
            time.sleep(self.lasts)
            release_nodes(nodes, world, self.description)
            if wait_until(partial(_one_stands, world, nodes, began), _SHOWS_SECONDS):
                return
        raise ActionFailed(f"no node of {nodes} stood for election after {self.lasts:g} s, {_TRIES} times")


def _one_stands(world: World, nodes: Sequence[int], since: float) -> bool:
    return any(said(world.cluster.nodes[node].logged(), since, STANDS) for node in nodes)


@fault
def oversleep(*nodes: NodeRef, lasts: str = "2500ms", killed: NodeRef | None = None) -> Oversleep:
    """Hold voters at once (SIGSTOP) for longer than their fetch time-out, until one of them stands when it goes on."""
    return Oversleep(nodes, seconds(lasts), killed)
