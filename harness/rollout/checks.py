"""The checks of a roll as conditions of a plan: what must be true of the cluster, its clients and its logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from harness.cluster.node import NodeState
from harness.rollout.health import AFTER, BEFORE, OF_A_STOP, PREFERRED_LEADERS, RollCheck, problem_of
from harness.rollout.snapshot import snapshot
from harness.scenario.bounds import FOLLOW_WINDOW_SECONDS
from harness.scenario.monitors.error_lines import ErrorLines
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.world import World

TURN = "turn"  # the moment at which the present turn began, among the marks of a world
NOBODY = NodeRef("no node", lambda _: -1)


@dataclass(frozen=True, slots=True)
class RollChecks:
    """A list of checks, all of which must hold at the same look."""

    name: ClassVar[str] = "roll_checks"
    checks: tuple[RollCheck, ...]
    node: NodeRef
    description: str

    def sample(self, world: World) -> Sample:
        """Look at the whole cluster once; the detail says of each check what is in the way."""
        problems = self._problems(world)
        unmet = [f"{each.description}: not so ({problems[each.name]})" for each in self.checks if problems[each.name]]
        return Sample(not unmet, problems, problem="; ".join(unmet))

    def _problems(self, world: World) -> dict[str, Any]:
        seen = snapshot(world.cluster, world.looks_of(FOLLOW_WINDOW_SECONDS))
        node = self.node.find(world)
        return {check.name: problem_of(check, seen, node) for check in self.checks}


@dataclass(frozen=True, slots=True)
class RefusedByChecks:
    """The checks after a turn would stop the roll."""

    name: ClassVar[str] = "refused_by_checks"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the checks would stop the roll at {self.node.description}"

    def sample(self, world: World) -> Sample:
        """Look, and see that they do not hold."""
        sample = in_service(self.node).sample(world)
        return Sample(not sample.ok, sample.detail)


@dataclass(frozen=True, slots=True)
class HasCrashed:
    """A node has crashed."""

    name: ClassVar[str] = "has_crashed"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} has crashed"

    def sample(self, world: World) -> Sample:
        """Look at its process."""
        node = world.cluster.nodes[self.node.find(world)]
        node.look_for_death()
        return Sample(node.state is NodeState.DIED, {"state": str(node.state)})


@dataclass(frozen=True, slots=True)
class StoppedGracefully:
    """A node stopped on SIGTERM, and did not have to be killed."""

    name: ClassVar[str] = "stopped_gracefully"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} stopped on SIGTERM"

    def sample(self, world: World) -> Sample:
        """Look how its last stop went."""
        graceful = world.cluster.nodes[self.node.find(world)].stopped_gracefully
        return Sample(graceful, problem="" if graceful else "it had to be killed")


@dataclass(frozen=True, slots=True)
class ClientsServed:
    """Every client was answered, on every partition, since the step began."""

    name: ClassVar[str] = "clients_served"
    description: str = "every client is served"

    def sample(self, world: World) -> Sample:
        """Look at each client's last answers."""
        unserved = [client.name for client in world.clients if not client.pauses.all_answered_since(world.step_began)]
        return Sample(not unserved, problem=f"not answered: {', '.join(unserved)}" if unserved else "")


@dataclass(frozen=True, slots=True)
class PausesWithin:
    """No client waited longer than a budget since the turn began; without a budget it is only measured."""

    name: ClassVar[str] = "pauses_within"
    budget_seconds: float

    @property
    def description(self) -> str:
        """The condition as a clause."""
        if not self.budget_seconds:
            return "how long clients waited"
        return f"no client waited longer than {self.budget_seconds:g} s"

    def sample(self, world: World) -> Sample:
        """Look at each client's longest pause."""
        waits = pauses_since(world)
        slow = {name: wait for name, wait in waits.items() if self.budget_seconds and wait > self.budget_seconds}
        return Sample(not slow, waits, problem=", ".join(f"{name} {wait:.1f} s" for name, wait in slow.items()))


@dataclass(frozen=True, slots=True)
class NoNewErrors:
    """No node wrote an ERROR line that base's own roll does not write; with `judged` false they are only counted."""

    name: ClassVar[str] = "no_new_errors"
    judged: bool
    description: str = "no ERROR line that base's own roll does not write"

    def sample(self, world: World) -> Sample:
        """Read on in every node's log."""
        news = world.monitor(ErrorLines).news()
        if not news or not self.judged:
            return Sample(True, {"lines": len(news)})
        first = news[0]
        detail = {"lines": [{"node": each.node, "line": each.line} for each in news[:3]]}
        return Sample(False, detail, problem=f"node {first.node}: {first.text}")


@dataclass(frozen=True, slots=True)
class LeaderRuns:
    """The active controller runs a build, or (not `wanted`) another one."""

    name: ClassVar[str] = "leader_runs"
    build: str
    wanted: bool = True

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the active controller {'runs' if self.wanted else 'does not run'} {self.build}"

    def sample(self, world: World) -> Sample:
        """Look at what is installed on the leader."""
        leader = world.quorum().leader
        if leader < 0:
            return Sample(False, {"leader": leader}, problem="nobody leads")
        runs = world.cluster.nodes[leader].install.name
        return Sample((runs == self.build) is self.wanted, {"leader": leader, "runs": runs}, problem=f"it runs {runs}")


@dataclass(frozen=True, slots=True)
class RunsAnother:
    """A node has another build installed than this one (a key of the world's installs)."""

    name: ClassVar[str] = "runs_another"
    node: NodeRef
    build: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} has another build than {self.build}"

    def sample(self, world: World) -> Sample:
        """Compare jars and settings."""
        there, wanted = world.cluster.nodes[self.node.find(world)].install, world.installs[self.build]
        is_there = there.has_jars_of(wanted) and there.settings == wanted.settings
        return Sample(not is_there, {"there": there.name})


@dataclass(frozen=True, slots=True)
class IsReady:
    """A node is up, so that it can be stopped."""

    name: ClassVar[str] = "is_ready"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} is up"

    def sample(self, world: World) -> Sample:
        """Look at its process."""
        state = world.cluster.nodes[self.node.find(world)].state
        return Sample(state is NodeState.READY, {"state": str(state)})


def safe_to_stop(node: NodeRef) -> RollChecks:
    """Return what must be true before a node may stop."""
    return RollChecks(BEFORE, node, f"{node.description} may stop")


def stop_harms_nobody(node: NodeRef) -> RollChecks:
    """Return what must be true before a node may stop that is sick itself."""
    return RollChecks(OF_A_STOP, node, f"the stop of {node.description} harms nobody else")


def in_service(node: NodeRef = NOBODY) -> RollChecks:
    """Return what must be true after a node was started, or of a whole cluster under way."""
    return RollChecks(AFTER, node, "the whole cluster is in service")


def preferred_leaders() -> RollChecks:
    """Return that every partition is led by its preferred replica."""
    return RollChecks((PREFERRED_LEADERS,), NOBODY, PREFERRED_LEADERS.description)


def pauses_since(world: World) -> dict[str, float]:
    """Return each client's longest pause at or after the beginning of the turn, in seconds; short ones are 0."""
    began = world.marks.get(TURN, 0.0)
    return {client.name: round(client.pauses.longest_after(began), 2) for client in world.clients}
