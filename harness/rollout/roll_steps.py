"""The steps of a roll other than stopping and starting nodes."""

from __future__ import annotations

import time
from dataclasses import dataclass

from harness.cluster.node import NodeState
from harness.model.events import TurnEnded, TurnStarted
from harness.rollout.checks import TURN, pauses_since
from harness.rollout.commands import Tools, try_call, try_checks
from harness.rollout.health import AFTER, BEFORE, PREFERRED_LEADERS, without_a_spare
from harness.rollout.nodes import roles_of
from harness.rollout.script_calls import ELECTION
from harness.rollout.snapshot import snapshot
from harness.scenario.bounds import FOLLOW_WINDOW_SECONDS
from harness.scenario.monitors.error_lines import ErrorLines
from harness.scenario.refs import NodeRef
from harness.scenario.world import World

BRING_BACK, REPLACE, RESTART = "bring back", "replace", "restart"
_SOAK_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class BeginTurn:
    """A node's turn begins: `build` is what it is to run afterwards, empty for what it runs already."""

    node: NodeRef
    build: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        what = f"install {self.build}" if self.build else "restart"
        return f"begin the turn of {self.node.description}: {what}"

    def perform(self, world: World) -> None:
        """Mark the moment, and write down what the node is."""
        number = self.node.find(world)
        node, leader = world.cluster.nodes[number], world.quorum().leader
        world.marks[TURN] = time.monotonic()
        to = world.installs[self.build] if self.build else node.install
        action = RESTART if to.has_jars_of(node.install) else REPLACE
        action = action if node.state is NodeState.READY else BRING_BACK
        roles = roles_of(number, world.cluster.topology, leader)
        world.write(TurnStarted(number, roles, action, to.name))


@dataclass(frozen=True, slots=True)
class ForgetErrors:
    """What has stopped the roll must not stop the way back too."""

    description: str = "let no ERROR line count that has been written so far"

    def perform(self, world: World) -> None:
        """Read every log to its end."""
        world.monitor(ErrorLines).forget()


@dataclass(frozen=True, slots=True)
class EndTurn:
    """A node's turn ends, in order or because the roll was stopped."""

    description: str = "end the turn"

    def perform(self, world: World) -> None:
        """Write down how long clients waited in it."""
        if TURN in world.marks:
            world.write(TurnEnded(pauses_since(world)))
            del world.marks[TURN]


@dataclass(frozen=True, slots=True)
class CountPausesFromHere:
    """Forget the pauses so far: those of the first connection say nothing of a roll."""

    description: str = "start measuring the clients' pauses"

    def perform(self, world: World) -> None:
        """Begin anew."""
        for client in world.clients:
            client.pauses.begin()


@dataclass(frozen=True, slots=True)
class Soak:
    """Run both versions side by side."""

    seconds: float

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"run both versions side by side for {self.seconds:g} s"

    def perform(self, world: World) -> None:
        """Wait, unless the run is over or a node dies."""
        began = world.marks[TURN] = time.monotonic()
        while time.monotonic() - began < self.seconds and not world.is_over():
            if any(node.state is NodeState.DIED for node in world.cluster.nodes.values()):
                return
            time.sleep(_SOAK_POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class TryCommands:
    """Run the runbook's commands once while nothing is rolled."""

    tools: Tools
    description: str = "run the commands of the runbook"

    def perform(self, world: World) -> None:
        """Run them, and note those whose output does not show what the protocol says."""
        seen = snapshot(world.cluster, world.looks_of(FOLLOW_WINDOW_SECONDS))
        for tried in try_checks(self.tools, (*BEFORE, *AFTER, PREFERRED_LEADERS), world, seen):
            if world.is_over():
                return
            world.write(tried)
            if not tried.agrees:
                world.note(f"`{tried.command}` did not show what the protocol says (exit {tried.exit_code})")
        if bare := without_a_spare(seen):
            world.note(f"no replica is to spare, so that writes stop while a node restarts that has one: {bare}")


@dataclass(frozen=True, slots=True)
class ElectPreferredLeaders:
    """Make every partition's preferred replica its leader again, as each turn has moved leaders away."""

    tools: Tools
    description: str = "elect the preferred leaders of all partitions, by Kafka's own command"

    def perform(self, world: World) -> None:
        """Run it, and note it when it fails."""
        tried = try_call(self.tools, ELECTION, world)
        world.write(tried)
        if not tried.agrees:
            world.note(f"`{tried.command}` failed (exit {tried.exit_code}): {tried.output}")


@dataclass(frozen=True, slots=True)
class WarnOfKeyLeft:
    """Warn if base logs nothing about a key of the candidate's that is still in server.properties."""

    key: str
    description: str = "check whether base warns about the key left in server.properties"

    def perform(self, world: World) -> None:
        """Look for the key in what the nodes have logged since their last start."""
        if any(node.has_logged(self.key) for node in world.cluster.nodes.values()):
            return
        world.note(
            f"{self.key} is still in server.properties of every node after the way back; base does not know it and "
            "says nothing about it: take it out before the next upgrade finds it there"
        )
