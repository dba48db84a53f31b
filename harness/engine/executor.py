"""Carry out one scenario on one arm: start the cluster, walk the plan, watch, and write down what happened."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import read_journal
from harness.base.processes.leftovers import end_leftovers
from harness.cluster.cluster import Cluster
from harness.cluster.config import LOG_PATTERN
from harness.cluster.node import wait_until
from harness.cluster.protocol import Unreachable
from harness.coverage.agent import collected
from harness.engine.cancel import Cancellation, RunCancelled
from harness.engine.journal import Journal
from harness.engine.outcome import Miss, decide, measures
from harness.engine.phase_roles import roles
from harness.engine.recorder import Cell, Recorder
from harness.engine.seal import seal_of
from harness.engine.watch import Watcher
from harness.engine.world import World
from harness.model.node_logs import NodeLogs, PhaseSpan
from harness.model.runs import RunResult
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import RunFolder
from harness.scenario.bounds import seconds_of
from harness.scenario.conditions import AboutNode
from harness.scenario.load import Ledger, Load, spread
from harness.scenario.steps import ActionFailed, Background, Bind, Condition, Do, Expect, Guard, Phase, Step, step_words

_POLL_SECONDS = 0.2


class PlanEnded(Exception):  # noqa: N818 - ends the walk, whatever the reason; the recorder has it
    """The plan cannot or need not go on."""


def run_cell(cell: Cell, run_dir: Path, say: Callable[[str], None], cancellation: Cancellation) -> RunResult:
    """Run a scenario on an arm and write its folder; a cluster's misbehaviour is a result, not an exception.

    `say` hears of each phase. Raises RunCancelled, after every node has been ended and without a result.
    """
    folder = RunDirectory(run_dir.absolute()).run(cell.key)  # nodes run in folders of their own
    folder.path.mkdir(parents=True)
    steps = cell.scenario.plan().steps
    folder.plan.write(tuple(step_words(step, cell.settings) for step in steps))
    began = time.monotonic()
    with Journal(folder.journal) as journal:
        recorder = Recorder(cell, journal, folder)
        key = cell.key
        journal.write("run", scenario=key.scenario, arm=key.arm, role=cell.arm.role, repeat=key.repeat)
        run = _Run(cell, folder, recorder, say, cancellation)
        run.carry_out(steps)
        if cancellation.is_set:  # whatever it looks like: what was ended by us says nothing about the build
            raise RunCancelled
        facts = recorder.facts()
        decision = decide(facts)
        journal.write("outcome", outcome=decision.outcome, expectation=decision.expectation, reason=decision.reason)
    result = RunResult(
        key.scenario,
        key.arm,
        cell.arm.role,
        key.repeat,
        decision.outcome,
        decision.expectation,
        decision.reason,
        tuple(recorder.evidence),
        round(time.monotonic() - began, 2),
        {**measures(facts.ledger, run.cpu_seconds, run.waits), **recorder.progress.measures()},
    )
    of_nodes = roles(read_journal(folder.journal), cell.scenario.topology.voter_ids)
    folder.logs.write(run.node_logs(of_nodes))
    folder.seal.write(seal_of(cell, folder))
    folder.result.write(result)
    return result


class _Run:
    """The walk through one plan; all cluster state lives in here and ends with it."""

    def __init__(
        self,
        cell: Cell,
        folder: RunFolder,
        recorder: Recorder,
        say: Callable[[str], None],
        cancellation: Cancellation,
    ) -> None:
        self.cell = cell
        self.folder = folder
        self.recorder = recorder
        self.say = say
        self.cancellation = cancellation
        self.waits: dict[str, float] = {}
        self.cpu_seconds = 0.0
        self._names: dict[str, str] = {}
        self.ledger: Ledger | None = None
        self._phases: list[tuple[str, float]] = []

    def carry_out(self, steps: list[Step]) -> None:
        """Start watching, walk the steps, settle the ledger, end every node."""
        try:
            self._carry_out(steps)
        except RunCancelled:
            raise
        except HarnessError as error:
            self.recorder.harness_error(str(error))
        except Exception as error:
            self.recorder.harness_error(f"{type(error).__name__}: {error}")
        if left := end_leftovers(self.folder.nodes):
            self.recorder.harness_error(left)
        self._phases.append(("", time.time()))

    def _carry_out(self, steps: list[Step]) -> None:
        cell, recorder = self.cell, self.recorder
        nodes, plain = self.folder.nodes, cell.ground.launch(cell.raft_jar, cell.settings)
        with (
            collected(plain, cell.agent, self.folder.execution_data) as launch,
            Cluster(cell.scenario.topology, nodes, launch, cell.ground.template, recorder.on_node) as cluster,
        ):
            watcher = Watcher(cluster, recorder.on_look, recorder.on_stall, recorder.harness_error)
            world = World(cluster, watcher, self._note)
            with self.cancellation.ending(cluster.close):
                watcher.start()
                try:
                    self._walk(steps, world)
                    self._settle(cluster)
                finally:
                    self._wind_up(cluster, watcher)
                recorder.require_proofs({node.id for node in cluster.nodes.values() if node.was_started})

    def _wind_up(self, cluster: Cluster, watcher: Watcher) -> None:
        """Stop load and eyes, after a last look for nodes that died meanwhile; then end every node."""
        if self.ledger is not None:
            self.ledger.stop(patient=False)
        watcher.stop()
        for node in cluster.nodes.values():
            node.look_for_death()
            if node.hangs and not self.cancellation.is_set:
                node.dump_threads()
        cluster.close()
        self.cpu_seconds = cluster.cpu_seconds()
        self._names = cluster.names()

    def _walk(self, steps: list[Step], world: World) -> None:
        deadline = time.monotonic() + self.cell.scenario.budget
        try:
            for step in steps:
                self._check_cancelled()
                if time.monotonic() > deadline:
                    self._over_budget()
                world.begin_step()
                self._carry_out_step(step, world)
        except PlanEnded:
            return

    def _check_cancelled(self) -> None:
        if self.cancellation.is_set:
            raise RunCancelled

    def _over_budget(self) -> None:
        budget = self.cell.scenario.budget
        line = self.recorder.on_step("guard", "the plan's budget", "unmet", seconds=budget)
        self.recorder.unmet_guard(Miss("within_budget", f"the plan took longer than its {budget:g} s"), line)
        raise PlanEnded

    def _carry_out_step(self, step: Step, world: World) -> None:
        kind, text = step_words(step, self.cell.settings)
        match step:
            case Phase(name):
                self._enter_phase(name)
            case Background(load):
                self._start_load(load, world)
            case Bind(names=names, resolve=resolve):
                self._act(kind, text, lambda: world.names.update(zip(names, resolve(world), strict=True)))
            case Do(action, when):
                if when is None or self._holds_now(when, world):
                    self._act(kind, text, lambda: action.perform(world))
                else:
                    self.recorder.on_step(kind, text, "skipped")
            case Guard(condition, within):
                self._guard(condition, within, text, world)
            case Expect(condition, within, named):
                self._expect(condition, seconds_of(within, self.cell.settings), named, text, world)

    def _enter_phase(self, name: str) -> None:
        self._phases.append((name, time.time()))
        self.recorder.journal.write("phase", name=name)
        self.say(name)

    def _holds_now(self, condition: Condition, world: World) -> bool:
        sample = condition.sample(world)
        self.recorder.on_sample(condition, sample.ok, sample.detail)
        return sample.ok

    def _act(self, kind: str, text: str, perform: Callable[[], object]) -> None:
        self.recorder.on_step(kind, text, "begin")
        began = time.monotonic()
        try:
            perform()
        except (ActionFailed, Unreachable) as error:
            line = self.recorder.on_step(kind, text, "failed", seconds=_since(began), detail=str(error))
            self.recorder.unmet_guard(Miss("action_done", f"{text}: {error}"), line)
            raise PlanEnded from None
        self.recorder.on_step(kind, text, "done", seconds=_since(began))

    def _guard(self, condition: Condition, within: float, text: str, world: World) -> None:
        held, took = self._wait_for(condition, within, world)
        line = self.recorder.on_step("guard", text, "met" if held else "unmet", seconds=took)
        if not held:
            phase = self._phases[-1][0] if self._phases else "none"
            story = f"{condition.words}: not within {took:g} s, in phase “{phase}”"
            self.recorder.unmet_guard(Miss(_name_of(condition), story), line)
            raise PlanEnded

    def _expect(self, condition: Condition, within: float, named: str, text: str, world: World) -> None:
        held, took = self._wait_for(condition, within, world)
        line = self.recorder.on_step("expect", text, "met" if held else "unmet", name=named, seconds=took)
        if held:
            self.waits[named] = took
            return
        story = f"{condition.words}: not within {within:g} s"
        if not condition.sample(world).askable:  # a lost quorum must not pass for a lost observer
            self.recorder.unmet_guard(Miss("askable", f"{story}, and at its end there was nothing to ask"), line)
            raise PlanEnded
        asked = condition.node.find(world) if isinstance(condition, AboutNode) else None
        self.recorder.refuted(Miss(named, story), line, asked)
        raise PlanEnded

    def _wait_for(self, condition: Condition, within: float, world: World) -> tuple[bool, float]:
        """Poll until the condition holds or the time is over, or a node has died; return (held, seconds)."""
        began = time.monotonic()

        def holds() -> bool:
            self._check_cancelled()
            return self.recorder.node_died or self._holds_now(condition, world)

        held = wait_until(holds, within, _POLL_SECONDS)
        if self.recorder.node_died:
            raise PlanEnded
        return held, _since(began)

    def _start_load(self, load: Load, world: World) -> None:
        cluster = world.cluster
        ports, voters = list(cluster.broker_ports.values()), cluster.topology.voter_ids

        def create() -> None:
            # The ledger's reader asks for its group's coordinator. Kafka would then make this topic, of 50 partitions,
            # in those runs that last long enough: lines in some runs of a build and not in others.
            world.create_topic("__consumer_offsets", spread(voters, 1, len(voters)), {"cleanup.policy": "compact"})
            world.create_topic(load.topic, spread(voters, load.partitions, len(voters)), load.topic_config)
            self.ledger = Ledger(load, ports)
            self.ledger.start()

        self._act("background", load.words, create)

    def _settle(self, cluster: Cluster) -> None:
        """Stop the load and account for it; a cluster in which a node died may be unable to answer."""
        if self.ledger is None:
            return
        self._check_cancelled()
        self.ledger.stop()
        ports = list(cluster.broker_ports.values())
        if ports and not self.recorder.node_died:
            self.say("reading the ledger back")
            self.recorder.on_ledger(self.ledger.verify(ports))

    def _note(self, text: str, **fields: object) -> None:
        self.recorder.journal.write("note", text=text, **fields)

    def node_logs(self, of_nodes: Mapping[int, Mapping[str, str]]) -> tuple[NodeLogs, ...]:
        """Say which logs this run left, for the log diff; `of_nodes` is what each node was in each phase."""
        cell, topology = self.cell, self.cell.scenario.topology
        spans = tuple(
            PhaseSpan(name, start, end) for (name, start), (_, end) in zip(self._phases, self._phases[1:], strict=False)
        )
        return tuple(
            NodeLogs(
                cell.key.scenario,
                cell.key.arm,
                cell.key.repeat,
                node,
                "voter" if node in topology.voter_ids else "observer",
                (self.folder.evidence(self.folder.node_log(node)).path,),
                LOG_PATTERN,
                spans,
                self._names,
                of_nodes.get(node, {}),
            )
            for node in (*topology.voter_ids, *topology.observer_ids)
            if self.folder.node_log(node).exists()
        )


def _name_of(condition: Condition) -> str:
    """Return a condition's class name as words_with_underscores: the name of an unmet guard."""
    name = type(condition).__name__
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
