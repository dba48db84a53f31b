"""A cluster that does nothing by itself, and a run of a scenario on it: no JVM, no waiting."""

import errno
import os
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.files import PARTIAL
from harness.cluster.install import Install
from harness.cluster.probes import Quorum
from harness.cluster.runtime.loopback_runtime import OnLoopback
from harness.engine import executor, step_runner
from harness.engine.cancel import Cancellation
from harness.engine.planned_run import PlannedRun
from harness.kafka.release_lines import line_of
from harness.model.arms import Role
from harness.model.runs import RunKey
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal

STOCK = Install("stock", Path("x.jar"), "a" * 64, "absent")


class StillCluster:
    """A cluster without nodes: enough to walk a plan."""

    def __init__(self, topology, *_):
        self.topology, self.nodes, self.running, self.voters = topology, {}, [], []
        self.brokers, self.client_brokers, self.is_closed, self.runtime = {}, [], False, OnLoopback()

    def __enter__(self):
        return self

    def __exit__(self, *_): ...

    def close(self): ...

    def quorum(self):
        return Quorum()

    def names(self):
        return {}

    def cpu_seconds(self):
        return 1.5


class ShutEyes:
    """A watcher that sees nothing, and may fail."""

    fault = ""

    def __init__(self, _cluster, _look, on_fault):
        self.on_fault = on_fault

    def start(self):
        if self.fault:
            self.on_fault(self.fault)

    def stop(self): ...

    @contextmanager
    def resting(self):
        yield


class FillingDisk:
    """A disk that a journal lies on and that fills up, in the middle of a line, but for the room that is held there."""

    def __init__(self, folder: Path, errno=errno.ENOSPC):
        self.folder, self.errno, self.is_full, self._held_nothing = folder, errno, False, False

    def is_under(self, journal):
        self._stream, journal._stream = journal._stream, self

    @property
    def held(self):
        return list(self.folder.rglob(f"{PARTIAL}*"))

    @property
    def closed(self):
        return self._stream.closed

    def fill_again(self):
        self._held_nothing = True

    def write(self, data):
        if not self.is_full or not (self.held or self._held_nothing):
            return self._stream.write(data)
        if len(data) > 5:
            return self._stream.write(data[:5])
        raise OSError(self.errno, os.strerror(self.errno))

    def close(self):
        self._stream.close()


def take_place_of_live_ones(monkeypatch: pytest.MonkeyPatch, cluster=StillCluster, watcher=ShutEyes) -> None:
    """Have the executor make these, and wait as little as it can between looks."""
    monkeypatch.setattr(executor, "Cluster", cluster)
    monkeypatch.setattr(executor, "Watcher", watcher)
    monkeypatch.setattr(step_runner, "POLL_SECONDS", 0.01)


def run_still(scenario, folder: Path, cancellation: Cancellation | None = None, soak=0.0, quiet=nullcontext):
    """Run a scenario on stock; return its result, the events of its journal, and the phases that were announced."""
    node_parts = SimpleNamespace(launch=lambda *_: None, template=None, profile="fast", line=line_of("3.9.1"))
    cell = PlannedRun(RunKey(scenario.name, "stock", 1), scenario, Role.BASE, node_parts, STOCK, soak=soak)
    said = []
    result = executor.run_cell(cell, folder, said.append, cancellation or Cancellation(), quiet)
    events = [entry.event for entry in read_journal(RunDirectory(folder).run(cell.key).journal)]
    return result, events, said
