"""One Kafka node as a process: start, stop, kill, and what it was seen to run with."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import psutil

from harness.base.processes import bare_environment, spawn
from harness.base.processes.leftovers import marked
from harness.base.processes.shared_memory import forget_shared
from harness.base.tails import beginnings
from harness.base.waiting import wait_until
from harness.cluster import config, jvm, probes
from harness.cluster.config import METADATA_LOG, NodeConfig
from harness.cluster.install import Install, NodeKafka
from harness.cluster.metadata_log.dump import dump_log
from harness.cluster.node_figures import with_reporter
from harness.cluster.observed_arm import ObservedArm, prove
from harness.cluster.protocol import Wire
from harness.cluster.runtime.base import NodeProcess, Spawn, end_at_once
from harness.cluster.threads import dump_threads
from harness.kafka.release_lines import Line
from harness.model.setup import Profile
from harness.rundir.parts import NODE_DATA, NODE_FIGURES, NODE_LOG, NODE_OUTPUT

# A broker that lost the quorum ignores SIGTERM for its whole controlled-shutdown time; it is killed instead.
STOP_TIMEOUT_SECONDS = 20.0
# A node is ready in 2 to 11 s; and a JVM younger than a second would die of being asked for its threads.
HANGS_AFTER_SECONDS = 15.0
# A JVM that ends by SIGTERM runs its shutdown hooks and exits with 143; killed before them it shows as -15.
_CLEAN_EXITS = (0, 143, -signal.SIGTERM)


class NodeState(StrEnum):
    """Where a node is in its life; `died` is a crash."""

    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    STOPPED = "stopped"
    KILLED = "killed"
    DIED = "died"


@dataclass(frozen=True, slots=True)
class Launch:
    """What every node of a cluster is started with, whatever is installed on it; `overlay` are server properties.

    `host` is where nodes reach the harness. `reporter` is the folder of the compiled metrics reporter, None for nodes
    that report nothing. `before_kill` is called when a node is about to get SIGKILL: the last moment in which it can
    send anything.
    """

    java: Path
    class_path: tuple[Path, ...]
    profile: Profile
    line: Line
    archive: Path | None
    overlay: Mapping[str, str]
    host: str
    extra_flags: tuple[str, ...] = ()
    reporter: Path | None = None
    before_kill: Callable[[], None] | None = None

    def running(self, kafka: NodeKafka) -> Launch:
        """Return how a node is started from another Kafka than its cluster's."""
        return replace(
            self, class_path=kafka.class_path, line=kafka.line, archive=kafka.archive, reporter=kafka.reporter
        )


class Node:
    """A node with its folder; all times monotonic. `observe` gets every change of state."""

    def __init__(
        self,
        node_config: NodeConfig,
        directory: uuid.UUID,
        folder: Path,
        launch: Launch,
        install: Install,
        wire: Wire,
        observe: Callable[[Node], None],
        spawner: Spawn = spawn,
    ) -> None:
        self.config = node_config
        self.configs: list[NodeConfig] = []  # of every start
        self.directory = directory
        self.folder = folder
        self.state = NodeState.STOPPED
        self.cpu_seconds = 0.0
        self.thread_dumps: list[Path] = []
        self.environment: Mapping[str, str] = {}  # of its next start, beside what every node has
        self.install = install
        self.stopped_gracefully = True
        self.stopping_seconds = 0.0
        self.was_asked_to_stop = self.was_stopped_while_starting = self._is_killed = False
        self._launch_of_cluster = launch
        self._wire = wire
        self._observe = observe
        self._spawn = spawner
        self._process: NodeProcess | None = None
        self._asked_to_stop: NodeProcess | None = None
        self._preloaded: list[int] = []  # processes for which a library may have made names in shared memory
        self._starts = 0
        self._started_at = 0.0
        self._stop_began = 0.0
        self._life_began = 0
        # The watcher looks from its own thread: an end that was asked for must not be taken for a death.
        self._life = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def _launch(self) -> Launch:
        """How it is started with what is installed on it."""
        kafka = self.install.kafka
        return self._launch_of_cluster.running(kafka) if kafka else self._launch_of_cluster

    @property
    def id(self) -> int:
        """The node's `node.id`."""
        return self.config.node

    @property
    def line(self) -> Line:
        """The release line of what is installed on it."""
        return self._launch.line

    @property
    def class_path(self) -> tuple[Path, ...]:
        """Every jar that it runs with."""
        return (*self._launch.class_path, self.install.jar)

    @property
    def properties_file(self) -> Path:
        """The server.properties of its newest start."""
        return self.folder / ("server.properties" + (f".{self._starts}" if self._starts > 1 else ""))

    @property
    def is_voter(self) -> bool:
        """A controller is a voter; a broker-only node is an observer of the metadata quorum."""
        return self.config.controller is not None

    @property
    def pid(self) -> int:
        """Process id, 0 when not running."""
        return self._process.pid if self._process is not None and self.is_running else 0

    @property
    def is_running(self) -> bool:
        """Whether a process is there and was not stopped."""
        return self.state in (NodeState.STARTING, NodeState.READY)

    @property
    def is_alive(self) -> bool:
        """Whether it has a process, be it one that was asked to stop."""
        return self._process is not None and self.exit_code is None

    @property
    def hangs(self) -> bool:
        """Whether it has been starting for so long that it does not come up by itself."""
        return self.state is NodeState.STARTING and time.monotonic() - self._started_at > HANGS_AFTER_SECONDS

    @property
    def was_started(self) -> bool:
        """Whether it was ever started in this run."""
        return self._starts > 0

    @property
    def data_dir(self) -> Path:
        """The node's `log.dirs`."""
        return self.folder / NODE_DATA

    @property
    def metadata_log(self) -> Path:
        """The folder of its metadata log."""
        return self.data_dir / METADATA_LOG

    @property
    def log_file(self) -> Path:
        """Where the node logs."""
        return self.folder / NODE_LOG

    @property
    def output_file(self) -> Path:
        """Where its JVM prints."""
        return self.folder / NODE_OUTPUT

    @property
    def figures_file(self) -> Path:
        """Where the metrics reporter writes."""
        return self.folder / NODE_FIGURES

    def has_logged(self, text: str) -> bool:
        """Return whether a line since the last start holds the text."""
        return any(text.encode() in line for line in self.logged())

    def logged(self) -> Iterator[bytes]:
        """Yield the beginnings of lines that it has logged since its last start."""
        if self.log_file.is_file():
            yield from (line for _, line in beginnings(self.log_file, self._life_began))

    def start(self, node_config: NodeConfig | None = None) -> None:
        """Start the process, with another configuration when given; returns at once."""
        self.config = node_config or self.config
        self.configs.append(self.config)
        self._starts += 1
        self._life_began = self.log_file.stat().st_size if self.log_file.is_file() else 0
        properties = self.properties_file
        text = config.server_properties(self.config, self.data_dir, self._overlay())
        properties.write_text(text, encoding="utf-8")
        logging = self.folder / self._launch.line.logging.file
        logging.write_text(config.logging_text(self._launch.line), encoding="utf-8")
        self._process = self._spawn(
            self._command(properties, logging),
            cwd=self.folder,
            output=self.output_file,
            env=marked({**bare_environment(), **self.environment}, self.folder.parent),
        )
        self._preloaded += [self._process.pid] if "LD_PRELOAD" in self.environment else []
        self._wire.meet(self.config.listeners, self._launch.line.requests)
        self.was_asked_to_stop = self.was_stopped_while_starting = self._is_killed = False
        self._started_at = time.monotonic()
        self._enter(NodeState.STARTING)

    def _overlay(self) -> Mapping[str, str]:
        overlay = {**self._launch.overlay, **self.install.settings}
        return with_reporter(overlay, self._launch.line.metric_reporters) if self._launch.reporter else overlay

    def _command(self, properties: Path, logging: Path) -> list[str]:
        launch = self._launch
        # The jar under test comes behind the others: the class archive lacks it.
        jars = [*launch.class_path, self.install.jar, *filter(None, [launch.reporter])]
        return [
            str(launch.java),
            *jvm.flags(launch.profile, launch.line, launch.archive),
            *launch.extra_flags,
            launch.line.logging.flag(logging),
            f"-Dharness.log={self.log_file}",
            f"-Dharness.figures={self.figures_file}",
            "-cp",
            os.pathsep.join(map(str, jars)),
            launch.line.main_classes.node,
            str(properties),
        ]

    def look(self) -> None:
        """Notice that the process has crashed, or that it has become ready."""
        self.look_for_death()
        if self.state is NodeState.STARTING and self._listens():
            self._enter(NodeState.READY, only_from=NodeState.STARTING)

    def look_for_death(self) -> None:
        """Notice that the process has crashed."""
        with self._life:
            died = self.is_running and self.exit_code is not None
            if died:
                self.state = NodeState.DIED
        if died:
            self._forget_shared()
            self._observe(self)

    def _listens(self) -> bool:
        return all(map(probes.answers, self.config.listeners))

    def stop(self) -> bool:
        """Ask the node to stop (SIGTERM) and wait; return False (and note it) when it had to be killed.

        A node that crashed before, or with another exit code than a clean end's, has died.
        """
        if not self.terminate():
            return True
        asked = self._asked_to_stop
        wait_until(lambda: self._process is not asked or self.exit_code is not None, STOP_TIMEOUT_SECONDS)
        return self.finish_stopping()

    def terminate(self) -> bool:
        """Send SIGTERM; return False when there is nothing to stop."""
        was_starting = self.state is NodeState.STARTING
        if not self._begin_end():
            return False
        assert self._process is not None
        self._stop_began, self.was_asked_to_stop = time.monotonic(), True
        self.was_stopped_while_starting = was_starting
        self._asked_to_stop = self._process
        self._process.terminate()
        return True

    def finish_stopping(self, *, keep_threads: bool = True) -> bool:
        """Note how a node that got SIGTERM has ended; kill one that has not, and return False.

        One that was killed meanwhile, from another thread, has not died of its own, and may have been started again.
        """
        if self._is_killed or self._process is not self._asked_to_stop:
            return True
        self.stopping_seconds = time.monotonic() - self._stop_began
        code = self.exit_code
        self.stopped_gracefully = code is not None
        if code is None:
            if keep_threads:
                self.dump_threads()
            self._end()
            return False
        state = NodeState.STOPPED if self.ended_in_order else NodeState.DIED
        self._enter(state, only_from=NodeState.STOPPING)
        return True

    def dump_threads(self) -> None:
        """Keep what a node that hangs is doing, before it is killed; the files are in `thread_dumps`."""
        if self._process is not None and self._process.poll() is None:
            kept = self.folder / f"threads-{len(self.thread_dumps) + 1}.txt"
            made = dump_threads(self._process.pid, self.output_file, kept)
            self.thread_dumps += [made] if made else []

    def kill(self) -> None:
        """End the node at once (kill -9); one that is stopping in another thread is ended as well.

        Raises HarnessError for one that does not end.
        """
        if self._begin_end() or self.state is NodeState.STOPPING:
            self._end()

    def _begin_end(self) -> bool:
        """Mark a running node as ending, so that nobody takes its end for a death; False when there is none."""
        self.look_for_death()
        with self._life:
            if not self.is_running:
                return False
            self._note_cpu()
            self.state = NodeState.STOPPING
        self._observe(self)
        return True

    def _end(self) -> None:
        assert self._process is not None
        self._is_killed = True
        if self._launch.before_kill is not None:
            self._launch.before_kill()
        end_at_once(self._process, f"Node {self.id}")
        self._enter(NodeState.KILLED)

    @property
    def exit_code(self) -> int | None:
        """The ended process's exit code, negative for a signal; None while it runs or before it was started."""
        return self._process.poll() if self._process is not None else None

    @property
    def ended_in_order(self) -> bool:
        """Whether the process has ended with the exit code of an orderly end, or of a JVM that SIGTERM ended."""
        return self.exit_code in _CLEAN_EXITS

    def _note_cpu(self) -> None:
        assert self._process is not None
        try:
            times = psutil.Process(self._process.pid).cpu_times()
        except psutil.Error:
            return
        self.cpu_seconds += times.user + times.system

    def prove(self, flag_key: str) -> ObservedArm:
        """Look at what the live process runs. Raises Unreachable, OSError."""
        return prove(self._wire, self.pid, self.id, self.config.listeners[0], self.install.jar.name, flag_key)

    def dump_metadata_log(self, segments: Sequence[Path], folder: Path) -> str:
        """Return what Kafka's own tool says stands in segments below a folder. Raises HarnessError."""
        launch = self._launch
        class_path = [*launch.class_path, self.install.jar]
        return dump_log(launch.java, class_path, launch.line.main_classes.dump, segments, folder)

    def own_log_bytes(self) -> int:
        """Size of the node's own metadata log on disk; it grows whenever the node has fetched something."""
        sizes = 0
        for segment in self.metadata_log.glob("*.log"):
            with suppress(FileNotFoundError):  # deleted by the log cleaner between the listing and the look
                sizes += segment.stat().st_size
        return sizes

    def _enter(self, state: NodeState, only_from: NodeState | None = None) -> None:
        with self._life:
            if only_from is not None and self.state is not only_from:
                return
            self.state = state
        if state not in (NodeState.STARTING, NodeState.STOPPING):
            self._forget_shared()
        self._observe(self)

    def _forget_shared(self) -> None:
        for pid in self._preloaded:
            forget_shared(pid)
        self._preloaded = []
