"""What the steps of a plan see and touch while it runs: the live cluster, its clients, names given so far, looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from harness.base.waiting import wait_until
from harness.cluster import partitions
from harness.cluster.attempts import attempts
from harness.cluster.cluster import Cluster
from harness.cluster.install import Install
from harness.cluster.partitions import PartitionView
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.runtime.links import Links
from harness.cluster.runtime.namespace_runtime import InNamespaces
from harness.cluster.runtime.network import Network
from harness.cluster.watch import Look, Watcher, windowed
from harness.model.events import Event, Noted
from harness.rundir.parts import RunFolder
from harness.scenario.accounts import Account, Offered
from harness.scenario.client import Client
from harness.scenario.comebacks import Comebacks
from harness.scenario.monitors.base import Monitor
from harness.scenario.monitors.host_not_starved import slowness_seen
from harness.scenario.slowness import Slowness

_TOPIC_SECONDS = 15.0
_POLL_SECONDS = 0.2
_LEADER_SECONDS = 1.5
_M = TypeVar("_M", bound=Monitor)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class FirstId:
    """The id that a topic had before anything happened to it, and how many partitions."""

    topic_id: str
    partitions: int


class TopicUnknown(Unreachable):
    """Brokers answer, and do not know a topic: that is something about the cluster."""


class ActionFailed(Exception):  # noqa: N818 - named for what it means to the plan
    """An action could not be carried out, so that the scenario cannot go on."""


class World:
    """The live side of one run; `installs` are what actions may install on nodes, by name."""

    def __init__(
        self,
        cluster: Cluster,
        watcher: Watcher,
        installs: Mapping[str, Install],
        flag_key: str,
        monitors: Sequence[Monitor],
        write: Callable[[Event], int],
        is_over: Callable[[], bool],
        folder: RunFolder,
    ) -> None:
        self.cluster = cluster
        self.installs = installs
        self.flag_key = flag_key
        self.clients: list[Client] = []
        self.names: dict[str, int] = {}
        self.marks: dict[str, float] = {}  # moments (monotonic) that steps have marked
        self.leader_before = Quorum()
        self.fault_at = 0.0  # seconds since the Unix epoch
        self.watched: dict[str, PartitionView] = {}  # topics whose first partition is looked at before each fault
        self.accounts: dict[str, Account] = {}  # the records that steps have written, by topic
        self.offered: dict[str, Offered] = {}  # what a broker made of those that it was offered last
        self.lost: dict[str, int] = {}  # how many that were acknowledged were gone when they were counted last
        self.reached: dict[str, tuple[float, dict[str, int]]] = {}  # when a step began, how far partitions were then
        self.first_ids: dict[str, FirstId] = {}  # of topics, as they were when a plan wanted them remembered
        self.answers: dict[str, str] = {}  # what a client or a command said last, by what was asked
        self.told: dict[str, dict[str, str]] = {}  # what nodes told in words, to be held against base's
        self.comebacks = Comebacks()  # nodes that were asked to stop while the plan goes on
        self.phase_began = self.step_began = time.monotonic()
        self.write = write
        self.is_over = is_over
        self.folder = folder
        self._watcher = watcher
        self._monitors = monitors

    def as_client(self, work: Callable[[], _T]) -> _T:
        """Do something where clients are: threads that it starts stay there."""
        return self.cluster.runtime.as_client(work)

    def network(self) -> Network:
        """Return the network of the run's own. Raises ActionFailed where nodes share the host's."""
        return self._isolated().network

    def links(self) -> Links:
        """Return the links of that network that can be made bad. Raises ActionFailed alike."""
        return self._isolated().links

    def _isolated(self) -> InNamespaces:
        runtime = self.cluster.runtime
        if not isinstance(runtime, InNamespaces):
            raise ActionFailed("nodes share the network of this host: write kraft(…, network=True)")
        return runtime

    def begin_phase(self, name: str) -> None:
        """Mark the beginning of a phase, and tell every monitor of it."""
        self.phase_began = time.monotonic()
        for monitor in self._monitors:
            monitor.begin_phase(name)

    def begin_step(self) -> None:
        """Mark the beginning of a step: older looks do not count for it."""
        self.step_began = time.monotonic()

    def note(self, text: str, node: int = -1) -> None:
        """Write down something worth knowing that decides nothing."""
        self.write(Noted(text, node))

    def tell(self, subject: str, name: str, text: str) -> None:
        """Note what nodes told in words (harness.model.told); what was told of the same before is replaced."""
        self.told.setdefault(subject, {})[name] = text

    def quorum(self) -> Quorum:
        """Ask the voters now."""
        return self.cluster.quorum()

    def remember_leader(self) -> None:
        """Remember what is so before a fault: when that was, who leads, and how watched partitions are."""
        self.fault_at = time.time()
        for topic in self.watched if self.cluster.brokers else ():
            self.watched[topic] = self.views(topic)[0]
        wait_until(self._remembers_leader, _LEADER_SECONDS, _POLL_SECONDS)

    def _remembers_leader(self) -> bool:
        """Look once who leads; a look may fail, and who led before an earlier fault is then not who leads now."""
        quorum = self.quorum()
        if quorum.leader >= 0:
            self.leader_before = quorum
        return quorum.leader >= 0

    def account(self, topic: str) -> Account:
        """Return what has become of the records that steps have written to a topic."""
        return self.accounts.setdefault(topic, Account())

    def views(self, topic: str, told_by: Collection[int] = ()) -> list[PartitionView]:
        """Return the first partition of a topic as running brokers have it, all or those that are asked for.

        Raises Unreachable, and TopicUnknown for brokers that do not know it.
        """
        asked = {each: at for each, at in self.cluster.brokers.items() if each in told_by or not told_by}
        found = {broker: partitions.view_of(self.cluster.wire, at, topic) for broker, at in asked.items()}
        views = [view for view in found.values() if view]
        if not found:
            raise Unreachable("no broker runs that could be asked")
        if len(views) < len(found):
            raise TopicUnknown(f"brokers {[broker for broker, view in found.items() if not view]} do not know {topic}")
        return views

    def fault_is_done(self) -> None:
        """Have every monitor look at what a fault has left."""
        for monitor in self._monitors:
            monitor.after_fault()

    def recent_looks(self, window: float) -> list[Look]:
        """Return the newest looks: those of `window` seconds and one more, none from before the step began."""
        return windowed(self._watcher.recent(self.step_began), window)

    def looks_of(self, window: float) -> list[Look]:
        """Return the newest looks: those of `window` seconds and one more, whichever step they fell into."""
        return windowed(self._watcher.recent(0.0), window)

    @contextmanager
    def measuring(self, window: str) -> Iterator[None]:
        """Keep the watch of the cluster still, and tell the monitors when the window begins and ends."""
        with self._watcher.resting():
            for monitor in self._monitors:
                monitor.begin_window(window)
            yield
            for monitor in self._monitors:
                monitor.end_window(window)

    def slowness(self, since: float) -> Slowness:
        """Return how much the host has held the nodes back since a monotonic time."""
        return slowness_seen(self._monitors, since)

    def monitor(self, kind: type[_M]) -> _M:
        """Return the run's monitor of a kind. Raises ActionFailed when the plan has none."""
        found = next((each for each in self._monitors if isinstance(each, kind)), None)
        if found is None:
            raise ActionFailed(f"the plan has no monitor {kind.name}")
        return found

    def create_topic(self, name: str, assignments: Sequence[Sequence[int]], config: Mapping[str, str]) -> None:
        """Create a topic with the replicas of each partition, asking brokers until it is there. Raises ActionFailed."""
        self.create_topics({name: assignments}, config)

    def create_topics(self, topics: Mapping[str, Sequence[Sequence[int]]], config: Mapping[str, str]) -> None:
        """Create topics by name with the replicas of each partition, as `create_topic` does. Raises ActionFailed."""
        last = "no broker runs"
        for _ in attempts(self.cluster, _TOPIC_SECONDS, _POLL_SECONDS):
            for broker in self.cluster.brokers.values():  # voters before observers, which may be lost
                try:
                    last = partitions.create_topics(self.cluster.wire, broker, topics, config)
                except Unreachable as error:
                    last = str(error)
                if not last:
                    return
        raise ActionFailed(f"{', '.join(islice(topics, 3))} could not be created: {last}")
