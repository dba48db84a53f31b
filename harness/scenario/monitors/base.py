"""What a monitor is, and what it may say of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Protocol

from harness.cluster.cluster import Cluster
from harness.cluster.node import Node
from harness.cluster.watch import Look
from harness.kafka.release_lines import Mode
from harness.model.events import Event
from harness.model.incidents import Incident
from harness.model.runs import Evidence
from harness.rundir.parts import RunFolder


class RunRecord(Protocol):
    """Where monitors write down what they see; safe to call from several threads."""

    @property
    def folder(self) -> RunFolder:
        """The run's folder, which also makes evidence of the files in it."""

    @property
    def flag_key(self) -> str:
        """The feature flag whose value live nodes must report; empty for none."""

    @property
    def java(self) -> str:
        """The nodes' Java, as the run directory declares it."""

    def write(self, event: Event) -> int:
        """Append an event to the journal; return its line."""

    def report(self, incident: Incident, line: int) -> None:
        """Report an incident with its line in the journal; the first of each kind counts."""

    def show(self, *evidence: Evidence) -> None:
        """Add places that a reader should look at."""


class Monitor:
    """Watches one run from its start to its end; hooks are called from several threads.

    `name` is lower case with underscores. A monitor reports what breaks its invariant as an incident of that name.
    `modes` are those in which there is something for it to watch.
    """

    name: ClassVar[str]
    modes: ClassVar[tuple[Mode, ...]] = tuple(Mode)

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        self.record = record
        self.cluster = cluster

    def meet(self, others: Sequence[Monitor]) -> None:
        """Get to know the monitors of the run, before any begins."""

    def start(self) -> None:
        """Begin; nothing runs yet."""

    def on_node(self, node: Node, line: int) -> None:
        """Take a change of a node's state; `line` is where the journal has it."""

    def on_look(self, look: Look, line: int) -> None:
        """Take a look at the quorum; `line` is where the journal has it."""

    def after_fault(self) -> None:
        """Look at what a fault has left, or who came back, in the plan's own thread: nothing else is done meanwhile."""

    def begin_phase(self, name: str) -> None:
        """The plan goes into a phase."""

    def begin_window(self, name: str) -> None:
        """A measured window begins, in which nobody looks."""

    def end_window(self, name: str) -> None:
        """A measured window is over."""

    def stop(self) -> None:
        """End: the plan is over, and nodes that run are killed next."""

    def after(self) -> None:
        """Look once more when every node has ended."""

    def measures(self) -> Mapping[str, float]:
        """Return figures by name, the unit in the name."""
        return {}

    def measures_by_phase(self) -> Mapping[str, Mapping[str, float]]:
        """Return those figures of each phase that can be compared with another run's that ended elsewhere."""
        return {}

    def told(self) -> Mapping[str, Mapping[str, str]]:
        """Return what nodes told in words, by subject and name (harness.model.told)."""
        return {}


MakeMonitor = Callable[[RunRecord, Cluster], Monitor]
