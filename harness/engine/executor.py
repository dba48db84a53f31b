"""Carry out one scenario on one arm: start the cluster, walk the plan, watch, and write down what happened."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from harness.base.code_lines import line_at
from harness.base.errors import HarnessError
from harness.base.processes.leftovers import end_leftovers
from harness.base.processes.shared_memory import sweep_shared
from harness.base.room import lacks_room
from harness.cluster.cluster import Cluster
from harness.cluster.node import Launch, Node, NodeState
from harness.cluster.runtime.base import Runtime
from harness.cluster.runtime.opening import cannot_give, in_runtime
from harness.cluster.watch import Look, Watcher
from harness.engine.cancel import Cancellation, RunCancelled
from harness.engine.outcome import answers, decide, measures
from harness.engine.phase_roles import roles
from harness.engine.planned_run import PlannedRun
from harness.engine.quiet import Quiet
from harness.engine.recorder import Recorder
from harness.engine.run_end import result_of, write_end
from harness.engine.run_logs import node_logs
from harness.engine.shutdown import end_nodes, shutdown_of
from harness.engine.step_runner import StepRunner
from harness.model.events import Noted, OutcomeDecided, RunStarted
from harness.model.incidents import Incident, IncidentKind
from harness.model.node_logs import PhaseSpan
from harness.model.runs import Outcome, RunResult, Shutdown
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import Journal, events_of, read_journal
from harness.scenario.capabilities.base import missing
from harness.scenario.host_meter import HostMeter
from harness.scenario.monitors.base import Monitor
from harness.scenario.monitors.host_not_starved import slowness_seen
from harness.scenario.plan import Plan
from harness.scenario.slowness import slowness_of
from harness.scenario.steps import described
from harness.scenario.verbs import monitors_of_every_run
from harness.scenario.world import World

_ENDS = (NodeState.STOPPED, NodeState.KILLED, NodeState.DIED)


def run_cell(
    cell: PlannedRun,
    run_dir: Path,
    report: Callable[[str], None],
    cancellation: Cancellation,
    quiet: Quiet = nullcontext,
    tell: Callable[[Incident], None] = lambda _: None,
) -> RunResult:
    """Run a scenario on an arm and write its folder; a cluster's misbehaviour is a result, not an exception.

    `report` gets each phase, `tell` each incident; `quiet` holds whatever else the harness does meanwhile. Raises
    RunCancelled, after every node has been ended and without a result.
    """
    folder = RunDirectory(run_dir.absolute()).run(cell.key)  # nodes run in folders of their own
    folder.path.mkdir(parents=True)
    plan = cell.plan()
    folder.plan.write(tuple(described(plan.everything, cell.settings_in_force)))
    began = time.monotonic()
    with Journal(folder.journal) as journal:
        recorder = Recorder(cell, journal, folder, tell)
        key = cell.key
        journal.write(RunStarted(key.scenario, key.arm, str(cell.role), key.repeat))
        for kept in cell.kept:
            journal.write(Noted(kept))
        run = Run(cell, recorder, report, cancellation, quiet)
        run.carry_out(plan)
        if cancellation.is_set:  # whatever it looks like: what was ended by us says nothing about the build
            raise RunCancelled
        facts = recorder.facts()
        decision = decide(facts)
        journal.write(OutcomeDecided(decision.outcome, decision.expectation, decision.reason))
    of_nodes = roles(events_of(read_journal(folder.journal)), cell.scenario.topology.controller_ids)
    result = replace(
        result_of(cell, decision, recorder.evidence, time.monotonic() - began),
        measures=_finite(
            {
                **measures(facts.clients, run.cpu_seconds, run.waits, run.shutdowns, run.guards),
                **answers(recorder.answered),
                **run.measures,
            }
        ),
        shutdowns=tuple(run.shutdowns),
        unasked=recorder.unasked,
        by_phase={phase: _finite(figures) for phase, figures in run.by_phase.items()},
        told=run.told,
    )
    write_end(folder, cell, node_logs(cell, folder, run.phases, run.names, of_nodes), result)
    return result


def _finite(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the figures that are numbers: a node may have told others."""
    return {name: figure for name, figure in figures.items() if math.isfinite(figure)}


class Run:
    """One run: all cluster state lives in here and ends with it; what it leaves is in the recorder and below."""

    def __init__(
        self,
        cell: PlannedRun,
        recorder: Recorder,
        report: Callable[[str], None],
        cancellation: Cancellation,
        quiet: Quiet = nullcontext,
    ) -> None:
        self.measures: dict[str, float] = {}
        self.by_phase: dict[str, Mapping[str, float]] = {}
        self.told: dict[str, Mapping[str, str]] = {}
        self.cpu_seconds = 0.0
        self.names: dict[str, str] = {}
        self.shutdowns: list[Shutdown] = []
        self._cell = cell
        self._recorder = recorder
        self._report = report
        self._cancellation = cancellation
        self._quiet = quiet
        self._monitors: list[Monitor] = []
        self._runner: StepRunner | None = None
        self._runtime: Runtime | None = None
        self._plan_is_over = False

    @property
    def phases(self) -> tuple[PhaseSpan, ...]:
        """The phases that the plan went through, the last one until now."""
        return self._runner.spans() if self._runner else ()

    @property
    def waits(self) -> dict[str, float]:
        """Seconds that each expectation took to be met."""
        return self._runner.waits if self._runner else {}

    @property
    def guards(self) -> dict[str, float]:
        """Seconds that the guards of each kind took to be met, at most."""
        return self._runner.guards if self._runner else {}

    def carry_out(self, plan: Plan) -> None:
        """Carry the plan out if this host can; then end everything and look for what was left."""
        needs, kind = self._cell.scenario.needs, self._cell.runtime
        if lacking := cannot_give(kind, needs) or missing(needs):
            self._recorder.report(Incident(IncidentKind.UNSUPPORTED, "", lacking))
            return
        sweep_shared()
        try:
            in_runtime(kind, self._cell.scenario.topology, lambda runtime: self._carry_out(plan, runtime))
        except RunCancelled:
            raise
        except Exception as error:
            self._note_error(error)
        if left := end_leftovers(self._recorder.folder.nodes):
            self._recorder.harness_failed(left)

    def _note_error(self, error: Exception) -> None:
        first = _first_of(error)
        if lacks_room(first):
            self._recorder.host_disk_full()
        elif isinstance(first, HarnessError):
            self._recorder.harness_failed(str(first))
        else:
            self._recorder.harness_failed(f"{type(first).__name__}: {first} ({line_at(first)})")

    def _carry_out(self, plan: Plan, runtime: Runtime) -> None:
        cell, recorder, self._runtime = self._cell, self._recorder, runtime
        with (
            self._instrumented(runtime.host) as launch,
            Cluster(
                cell.scenario.topology,
                recorder.folder.nodes,
                launch,
                cell.install,
                cell.node_parts.template,
                self._on_node,
                runtime,
            ) as cluster,
        ):
            made = [make(recorder, cluster) for make in (*monitors_of_every_run(), *plan.monitors)]
            self._monitors = [each for each in made if cell.scenario.topology.mode in each.modes]
            watcher = Watcher(cluster, self._on_look, recorder.harness_failed)
            world = World(
                cluster,
                watcher,
                {cell.install.name: cell.install, **cell.others},
                cell.flag_key,
                self._monitors,
                recorder.write,
                lambda: self._cancellation.is_set,
                recorder.folder,
            )
            self._runner = StepRunner(cell, recorder, world, self._report, self._quiet)
            with self._cancellation.ending(cluster.close):
                self._watched(self._runner, plan, world, watcher)
            self.told |= world.told

    def _watched(self, runner: StepRunner, plan: Plan, world: World, watcher: Watcher) -> None:
        for monitor in self._monitors:
            monitor.meet(self._monitors)
        for monitor in self._monitors:
            monitor.start()
        watcher.start()
        try:
            runner.through(plan)
        finally:
            self._wind_up(runner, world, watcher)
            for monitor in self._monitors if not self._cancellation.is_set else ():
                self._hear(monitor)

    def _hear(self, monitor: Monitor) -> None:
        """Take what a monitor found; one that fails keeps no other from telling what it has seen."""
        try:
            monitor.after()
            self.measures |= monitor.measures()
            for phase, figures in monitor.measures_by_phase().items():
                self.by_phase[phase] = {**self.by_phase.get(phase, {}), **figures}
            self.told |= monitor.told()
        except RunCancelled:
            raise
        except Exception as error:
            self._note_error(error)

    def _wind_up(self, runner: StepRunner, world: World, watcher: Watcher) -> None:
        """Stop clients and the watch, after a last look for nodes that died meanwhile; then end every node."""
        cluster = world.cluster
        world.comebacks.call_off()
        runner.end_phases()
        runner.abandon_clients()
        watcher.stop()
        for node in cluster.nodes.values():
            node.look_for_death()
        for monitor in self._monitors:
            monitor.stop()
        self._plan_is_over = True
        if not self._cancellation.is_set:
            self.shutdowns += end_nodes(cluster, self._has_passed, self._host_is_slow(cluster))
        cluster.close()
        self._recorder.end_faults()
        self.cpu_seconds = cluster.cpu_seconds()
        self.names = cluster.names()

    @property
    def _has_passed(self) -> bool:
        return decide(self._recorder.facts()).outcome is Outcome.PASSED

    def _host_is_slow(self, cluster: Cluster) -> Callable[[], bool]:
        """Return a function that says whether nodes were held back since now, in which they stop one after another."""
        processes, meter = [(node.id, node.pid) for node in cluster.running], HostMeter()
        meter.reading(processes)
        return lambda: slowness_of([meter.reading(processes)]).is_starved

    @contextmanager
    def _instrumented(self, host: str) -> Iterator[Launch]:
        launch = self._cell.node_parts.launch(self._cell.properties, host)
        if self._cell.instrument is None:
            yield launch
            return
        with self._cell.instrument(launch, self._recorder.folder.execution_data) as instrumented:
            yield instrumented

    def _on_node(self, node: Node) -> None:
        line = self._recorder.on_node(node)
        self._note_shutdown(node)
        for monitor in self._monitors:
            monitor.on_node(node, line)

    def _note_shutdown(self, node: Node) -> None:
        """Note how a node took a step of the plan that stops it in order.

        Of one that is late nothing is said where the host held the nodes back meanwhile, nor in a network that is
        split: who leads at that moment decides there whether what it waits for can reach it.
        """
        if self._plan_is_over or not node.was_asked_to_stop or node.state not in _ENDS:
            return
        ended, phase = node.state is not NodeState.KILLED, self._runner.phase if self._runner else ""
        asked_at = time.monotonic() - node.stopping_seconds
        if not ended and (self._is_split or slowness_seen(self._monitors, asked_at).is_starved):
            return
        role = "voter" if node.is_voter else self._cell.scenario.topology.observer_word
        self.shutdowns.append(shutdown_of(node, role=role, ended=ended, seconds=node.stopping_seconds, phase=phase))

    @property
    def _is_split(self) -> bool:
        return self._runtime is not None and self._runtime.is_split

    def _on_look(self, look: Look) -> None:
        line = self._recorder.on_look(look)
        for monitor in self._monitors:
            monitor.on_look(look, line)


def _first_of(error: Exception) -> Exception:
    """Return what went wrong first: what cleaning up met after it only follows from that."""
    while isinstance(error, HarnessError) and isinstance(error.__context__, HarnessError):
        error = error.__context__
    return error
