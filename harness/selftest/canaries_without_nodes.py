"""Canaries that need no JVM: what lies in a run directory, and a process that outlives its run.

They stand on a real run: a plan of no nodes, carried out by the executor that carries out every other.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from harness.base.processes import bare_environment
from harness.base.processes.leftovers import marked
from harness.cluster.install import Install
from harness.cluster.prepare import NodeParts
from harness.cluster.topology import Topology
from harness.engine.apart import run_apart
from harness.engine.cancel import Cancellation
from harness.engine.executor import run_cell
from harness.engine.planned_run import PlannedRun
from harness.engine.sealing import check_results
from harness.kafka.release_lines import line_of
from harness.model.arms import Role
from harness.model.outcome_names import HARNESS_ALIVE
from harness.model.request import DEFAULT_KAFKA
from harness.model.runs import Outcome, RunKey, RunResult
from harness.model.setup import Profile
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import RunFolder
from harness.scenario.plan import ClusterRef, Plan, Scenario
from harness.scenario.steps import Sample
from harness.scenario.world import World
from harness.selftest.canary import Canary, alarm, require

_NO_NODES = Topology(0, 0)
_NO_JAR = Install("none", Path("none.jar"), "0" * 64, "absent")


def still_canaries() -> tuple[Canary, ...]:
    """Return the canaries that need no node."""
    return (
        Canary("corrupt result", "a result file that is cut in its middle", _corrupt_result),
        Canary("forged result", "a result that says PASSED where its journal says FAILED", _forged_result),
        Canary("forged journal", "a journal with one line changed after the run", _forged_journal),
        Canary("leaked process", "a program that goes on when its run has ended", _leaked_process),
        Canary("crashed run", "a crash in native code, in the process in which a scenario is run", _crashed_run),
    )


def carry_out(cell: PlannedRun, run_dir: Path) -> RunResult:
    """Run a cell as any other is run, and say nothing of its phases."""
    return run_cell(cell, run_dir, lambda _: None, Cancellation())


def plan_of(name: str, topology: Topology, build: Callable[..., None]) -> Scenario:
    """Return a scenario of this self-test."""
    return Scenario(name, "", topology, ("selftest",), 120.0, build, __file__)


def _nothing(_plan: Plan, _cluster: ClusterRef) -> None:
    """Ask nothing: the run passes."""


@dataclass(frozen=True, slots=True)
class _Never:
    """A condition that does not hold."""

    name: ClassVar[str] = "never"
    description: str = "it holds"

    def sample(self, _world: World) -> Sample:
        """Look, and see that it does not."""
        return Sample(False)


def _failing(plan: Plan, _cluster: ClusterRef) -> None:
    """Ask what does not hold: the run fails."""
    plan.expect(_Never(), within="100ms", named="never_met")


def _empty_run(run_dir: Path, build: Callable[..., None] = _nothing) -> RunResult:
    return carry_out(_empty_cell(plan_of("empty", _NO_NODES, build)), run_dir)


def _empty_cell(scenario: Scenario) -> PlannedRun:
    node_parts = NodeParts(Path("java"), (), Path("template"), None, Profile.FAST, line_of(DEFAULT_KAFKA))
    return PlannedRun(RunKey("empty", "none", 1), scenario, Role.BASE, node_parts, _NO_JAR)


def _checked_run(run_dir: Path) -> RunFolder:
    """Return the folder of a whole run, which failed: no alarm goes off at it."""
    result = _empty_run(run_dir, _failing)
    require(result.expectation == "never_met", f"a run without a fault was {result.outcome}: {result.reason}")
    check_results(run_dir)
    return RunDirectory(run_dir).run(result.key)


def _corrupt_result(run_dir: Path) -> str:
    path = _checked_run(run_dir).result.path
    path.write_bytes(path.read_bytes()[:100])
    return alarm(lambda: check_results(run_dir))


def _forged_result(run_dir: Path) -> str:
    file = _checked_run(run_dir).result
    file.write(replace(file.read(), outcome=Outcome.PASSED, expectation="", reason=""))
    return alarm(lambda: check_results(run_dir))


def _forged_journal(run_dir: Path) -> str:
    path = _checked_run(run_dir).journal
    lines = path.read_text().splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "arm": "another"})
    path.write_text("\n".join((*lines, "")))
    return alarm(lambda: check_results(run_dir))


@dataclass(frozen=True, slots=True)
class _Leak:
    """Start a program in the run's name and forget it."""

    run: Path
    description: str = "start a program and forget it"

    def perform(self, _world: World) -> None:
        """Start it."""
        environment = marked(bare_environment(), self.run)
        subprocess.run(["/bin/sh", "-c", "sleep 60 &"], env=environment, stdout=subprocess.DEVNULL, check=True)


def _leaked_process(run_dir: Path) -> str:
    require(_empty_run(run_dir / "sound").outcome is Outcome.PASSED, "a run without a leak did not pass")
    nodes = RunDirectory(run_dir.absolute()).run(RunKey("empty", "none", 1)).nodes
    result = _empty_run(run_dir, lambda plan, _cluster: plan.do(_Leak(nodes)))
    require(result.outcome is Outcome.BROKEN, f"the run was {result.outcome}")
    return f"{result.outcome}: {result.reason}"


@dataclass(frozen=True, slots=True)
class _Crash:
    """Read where nothing is, as a faulty library does."""

    description: str = "read where nothing is"

    def perform(self, _world: World) -> None:
        """Read it."""
        ctypes.string_at(0)


def _crashing(plan: Plan, _cluster: ClusterRef) -> None:
    """End the process in the middle of the run."""
    plan.do(_Crash())


def _sent(build: Callable[..., None]) -> Scenario:
    """Return a scenario that another process can make again."""
    return replace(plan_of("empty", _NO_NODES, build), again=partial(_sent, build))


def _crashed_run(run_dir: Path) -> str:
    def run(build: Callable[..., None], folder: Path) -> RunResult:
        return run_apart(_empty_cell(_sent(build)), folder, lambda _: None, Cancellation())

    require(run(_nothing, run_dir / "sound").outcome is Outcome.PASSED, "a run without a crash did not pass")
    result = run(_crashing, run_dir)
    require(result.label == f"{Outcome.BROKEN}({HARNESS_ALIVE})", f"the run was {result.label}")
    return result.summary
