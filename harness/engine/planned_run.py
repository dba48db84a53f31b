"""One cell of the matrix, once: what is needed to run a scenario on an arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from harness.cluster.install import Install
from harness.cluster.node import Launch
from harness.cluster.prepare import NodeParts
from harness.model.arms import Role
from harness.model.runs import RunKey
from harness.model.setup import NodeRuntime
from harness.scenario.bounds import Settings, in_force
from harness.scenario.plan import Plan, Scenario, soak

# Something that runs in the nodes' JVMs and leaves its data in a file of the run.
Instrument = Callable[[Launch, Path], AbstractContextManager[Launch]]


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """What is needed to run one scenario on one arm, once.

    Every node starts with `install`; `others` are builds that the plan may install on nodes, by name. `overlay` are the
    user's server properties, for what the scenario does not declare. `flag_key` is the flag whose effective value every
    node must prove to be its install's; `java` is the nodes' runtime as run.json declares it; `soak` the seconds that
    its last measured window is to last, 0 for what the plan says; `runtime` is what nodes run as. `harness` is the
    digest of the rules by which the harness runs it, empty where nobody asks for them; `own_files` has those of the
    files of the user's scenarios, as they were when they were loaded.
    """

    key: RunKey
    scenario: Scenario
    role: Role
    node_parts: NodeParts
    install: Install
    overlay: Mapping[str, str] = field(default_factory=dict)
    flag_key: str = ""
    java: str = ""
    others: Mapping[str, Install] = field(default_factory=dict)
    instrument: Instrument | None = None
    soak: float = 0.0
    runtime: NodeRuntime = NodeRuntime.PROCESS
    harness: str = ""
    own_files: Mapping[Path, str] = field(default_factory=dict)

    def plan(self) -> Plan:
        """Build the plan. Raises HarnessError where the scenario does."""
        plan = self.scenario.plan()
        if self.soak:
            soak(plan, self.soak)
        return plan

    @property
    def properties(self) -> dict[str, str]:
        """Server properties of every node, whatever is installed on it.

        What a scenario declares is a condition of its question: the user's own are for everything else.
        """
        return {**self.overlay, **self.scenario.properties}

    @property
    def kept(self) -> tuple[str, ...]:
        """In words, what the scenario declares and the user's own properties say otherwise."""
        given = self.overlay
        return tuple(
            f"it keeps its own {key}={value}, on which its question rests; --config says {given[key]}"
            for key, value in self.scenario.properties.items()
            if key in given and given[key].strip() != value
        )

    @property
    def settings(self) -> Settings:
        """Server properties of a node as it is first started."""
        return {**self.properties, **self.install.settings}

    @property
    def settings_in_force(self) -> Settings:
        """The same with Kafka's default time-outs: what bounds are computed from."""
        return in_force(self.settings, self.node_parts.line.timeouts)
