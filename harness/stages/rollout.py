"""The rollout rehearsal as a stage: builds, rehearsals, log differences, answer, report and runbook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.progress import Reporter, duration
from harness.base.text import visible
from harness.cluster.install import Install
from harness.cluster.prepare import NodeParts
from harness.cluster.topology import describe_topology
from harness.engine.planned_run import PlannedRun
from harness.engine.sealing import check_result
from harness.kafka.distribution import distribution_of
from harness.kafka.lock import read_lock
from harness.model.arms import ABSENT, Arm, Role
from harness.model.declaration import Declaration
from harness.model.findings import Contrast
from harness.model.node_logs import NodeLogs
from harness.model.request import Request
from harness.model.rollout import SCHEMA, Rehearsal, RolloutOutcome, RolloutVerdict, RollPlan
from harness.model.runs import RunKey
from harness.model.setup import Setup
from harness.report.rollout_cases import render_rehearsals
from harness.report.rolloutpage import render_rollout
from harness.rollout.baseline import Baseline, baseline_of, stall_budget
from harness.rollout.commands import Tools
from harness.rollout.nodes import parse_topology
from harness.rollout.rehearsals import CONTROL, FORWARD, FORWARD_AND_BACK, KINDS, RESTART, rehearsal
from harness.rollout.roll import BASE, CANDIDATE, DIES_ON_LOAD, WITH_KEY, WITH_KEY_LEFT, RollConfig
from harness.rollout.rollout_verdict import decide_rollout, outcome_of
from harness.rollout.runbook import markdown, runbook
from harness.rollout.sabotage import without_class
from harness.rollout.turns import rehearsal_of
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal, read_undamaged
from harness.stages.build import build
from harness.stages.run import carry_out, installed, prepare_node_parts
from harness.stages.timing import timed
from harness.toolbox.downloads import Downloads, sha256_of
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

ARM = "roll"
_COLOURS = {RolloutOutcome.PASSED: "green", RolloutOutcome.STOPPED: "red", RolloutOutcome.INCONCLUSIVE: "magenta"}
# Of a key that it does not know, Kafka says that it is set, and not to what: it might be a secret.
_SET_TO_SOMETHING = "None"


def rollout(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> RolloutVerdict:
    """Build, rehearse, compare and report as request.json and roll-plan.json say; return what rollout.json holds.

    What is there already is used: one that was cut short goes on.
    """
    directory = RunDirectory(run_dir)
    if not directory.declaration.exists:
        build(run_dir, toolbox, reporter)
    rehearsals = rehearse(directory, toolbox, reporter)
    contrast = _compare(rehearsals, directory, toolbox, reporter)
    found = judge(directory, rehearsals)
    report(directory, found, contrast)
    return found


@dataclass(frozen=True, slots=True)
class _RollInputs:
    """What every rehearsal of a rollout needs."""

    directory: RunDirectory
    plan: RollPlan
    declared: Declaration
    setup: Setup
    node_parts: NodeParts
    tools: Tools

    def arm(self, role: Role) -> Arm:
        """Return an arm; a rollout declares base and the candidate."""
        arm = self.declared.arm(role)
        assert arm is not None
        return arm

    def install(self, role: Role, name: str) -> Install:
        """Return what an arm installs, under the name that it has in a roll."""
        return installed(self.arm(role), name, self.setup, self.directory.path)

    def budget(self, rehearsal: str, baseline: Baseline | None) -> float:
        """Return how long a client may wait in a rehearsal, in seconds."""
        return stall_budget(rehearsal, self.plan.stall_budget, baseline, self.setup.overlay)


def rehearse(directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> list[Rehearsal]:
    """Run the rehearsals that have no result yet, the control first; return all of them."""
    inputs = _roll_inputs(directory, toolbox, reporter)
    names = inputs.plan.rehearsals
    cluster = describe_topology(parse_topology(inputs.plan.topology))
    reporter.stage(f"{len(names)} rehearsals on {cluster}, one after the other")
    baseline: Baseline | None = None
    found: list[Rehearsal] = []
    with timed(directory, "rehearse"):
        for number, name in enumerate(names, 1):
            reporter.report(f"[{number}/{len(names)}] {name}: {KINDS[name].question}")
            cell = _cell(inputs, name, baseline)
            carry_out([cell], directory.path, 1, reporter, "")
            run = directory.run(cell.key)
            budget = inputs.budget(name, baseline)
            found.append(rehearsal_of(run.result.read(), cell.scenario.question, budget, read_journal(run.journal)))
            if name == CONTROL:
                baseline = baseline_of(found[-1])
                if baseline is None:  # what base cannot do says nothing about the candidate
                    break
    return found


def _roll_inputs(directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> _RollInputs:
    declared, request = directory.declaration.read(), directory.request.read()
    with timed(directory, "prepare"):
        node_parts = prepare_node_parts(request, declared.kafka_version, toolbox, reporter.report)
    tools = _tools(request, declared, node_parts, toolbox.downloads)
    return _RollInputs(directory, directory.roll_plan.read(), declared, directory.setup.read(), node_parts, tools)


def _cell(inputs: _RollInputs, name: str, baseline: Baseline | None) -> PlannedRun:
    base, candidate, key = (
        inputs.install(Role.BASE, BASE),
        inputs.install(Role.ON, CANDIDATE),
        inputs.setup.flag_key,
    )
    with_key = _with_key(candidate, key)
    key_left = _with_key_left(base, with_key, key)
    config = RollConfig(
        parse_topology(inputs.plan.topology),
        inputs.tools,
        inputs.plan.order,
        inputs.budget(name, baseline),
        baseline.errors if baseline else frozenset(),
        judge_errors=name != CONTROL,
        flag_key=key,
        key_is_silent=key_left.flag == _SET_TO_SOMETHING,
    )
    others = {
        BASE: base,
        CANDIDATE: candidate,
        WITH_KEY: with_key,
        WITH_KEY_LEFT: key_left,
        DIES_ON_LOAD: _sabotaged(candidate, inputs.directory.build("dies-on-load").path.absolute() / base.jar.name),
    }
    run, java = RunKey(name, ARM, 1), inputs.arm(Role.BASE).java
    return PlannedRun(
        run, rehearsal(name, config), Role.ON, inputs.node_parts, base, inputs.setup.overlay, key, java, others
    )


def _sabotaged(candidate: Install, jar: Path) -> Install:
    sabotaged = without_class(candidate.jar, jar)
    return replace(candidate, name=DIES_ON_LOAD, jar=sabotaged, sha256=sha256_of(sabotaged), settings={})


def _with_key(candidate: Install, key: str) -> Install:
    """Return the candidate with the flag written into server.properties, as an operator may well leave it there."""
    if not key or candidate.flag == ABSENT:
        return candidate
    return replace(candidate, settings={**candidate.settings, key: candidate.flag})


def _with_key_left(base: Install, candidate: Install, key: str) -> Install:
    """Return base with what the candidate left in server.properties, and what it then reports of the flag."""
    if key not in candidate.settings:
        return base
    flag = _SET_TO_SOMETHING if base.flag == ABSENT else candidate.settings[key]
    return replace(base, settings=candidate.settings, flag=flag)


def _tools(request: Request, declared: Declaration, node_parts: NodeParts, downloads: Downloads) -> Tools:
    """Return what Kafka's scripts start; a Kafka that was unpacked brings it along."""
    distribution = distribution_of(request.base_dist, declared.kafka_version, downloads)
    lock = None if request.base_dist else read_lock(declared.kafka_version)
    more = downloads.fetch_all(lock.of(Purpose.COMMANDS)) if lock else ()
    return Tools(node_parts.java, (*more, *distribution.jars), node_parts.line.commands)


def judge(directory: RunDirectory, rehearsals: Sequence[Rehearsal]) -> RolloutVerdict:
    """Decide what the rehearsals come to, and write rollout.json."""
    declared = directory.declaration.read()
    base, candidate = declared.arm(Role.BASE), declared.arm(Role.ON)
    assert base is not None
    assert candidate is not None
    found = RolloutVerdict(
        SCHEMA,
        declared.kafka_version,
        directory.roll_plan.read(),
        base,
        candidate,
        tuple(rehearsals),
        *decide_rollout(rehearsals),
        declared.timings,
    )
    directory.rollout.write(found)
    return found


def judge_again(directory: RunDirectory) -> RolloutVerdict:
    """Decide again what the rehearsals in rollout.json come to, and write it there."""
    found = directory.rollout.read()
    for run in directory.runs():
        if run.seal.exists:  # a rehearsal of schema 1 has none
            check_result(run)
    outcome, sentence, reasons = decide_rollout(found.rehearsals)
    found = replace(found, outcome=outcome, sentence=sentence, reasons=reasons)
    directory.rollout.write(found)
    return found


def report_again(directory: RunDirectory) -> Path:
    """Write the report and the runbook of a rollout that was judged; return the report's path."""
    contrasts = directory.logs.findings.read() if directory.logs.findings.exists else ()
    report(directory, directory.rollout.read(), next(iter(contrasts), None))
    return directory.report


def report(directory: RunDirectory, found: RolloutVerdict, contrast: Contrast | None) -> None:
    """Write report.html, junit.xml and runbook.md."""
    journals = {each.name: list(read_undamaged(directory.run(each.result.key).journal)) for each in found.rehearsals}
    write_text(directory.report, render_rollout(found, journals, contrast, directory.declaration.read().argv))
    write_text(directory.junit, render_rehearsals(found))
    write_text(directory.runbook, markdown(runbook(found)))


def _compare(
    rehearsals: Sequence[Rehearsal], directory: RunDirectory, toolbox: Toolbox, reporter: Reporter
) -> Contrast | None:
    """Compare the logs of versions mixed with those of one version; they are shown and do not decide."""
    from harness.logs.log_diff import compare, opened, read_nodes

    compared = (CONTROL, FORWARD_AND_BACK)
    by_name = {each.name: each for each in rehearsals}
    if not {*compared} <= by_name.keys():
        return None
    reporter.stage("comparing the logs of both versions mixed with those of base alone, on Spark")
    nodes = [node for name in compared for node in _logs_of_roll(directory, by_name[name])]
    logs = directory.logs
    try:
        with timed(directory, "diff"):
            with opened(logs.path, toolbox, reporter.report) as spark:
                counted = read_nodes(spark, directory.path, nodes, logs, reporter.report)
            (contrast,) = compare(counted, [compared], logs, reporter.report)
    except HarnessError as error:
        reporter.report(f"the log diff failed: {error}")
        return None
    return contrast


def _logs_of_roll(directory: RunDirectory, rehearsed: Rehearsal) -> list[NodeLogs]:
    """Return a rehearsal's logs as an arm of one question, and when every node was replaced once in it.

    What lies outside is not compared: different things were done there.
    """
    return [
        replace(
            each,
            scenario=ARM,
            arm=rehearsed.name,
            phases=tuple(replace(p, name="every node once") for p in each.phases if p.name in (RESTART, FORWARD)),
            roles={},
        )
        for each in directory.run(rehearsed.result.key).logs.read()
    ]


def print_rollout(console: Console, found: RolloutVerdict, run_dir: Path) -> None:
    """Print each rehearsal, the answer with its reasons, and where to read on."""
    for each in found.rehearsals:
        console.print(Text(f"  {each.name:<18} {_line(each)}"))
    for note in dict.fromkeys(note for each in found.rehearsals for note in each.notes):
        console.print(Text(f"  warning: {visible(note)}", style="yellow"))
    answer = (f" {found.outcome} ", f"bold reverse {_COLOURS[found.outcome]}")
    console.print(Text.assemble("\n", answer, " ", visible(found.sentence)))
    for reason in found.reasons:
        console.print(Text(f"  · {visible(reason)}"))
    directory = RunDirectory(run_dir)
    console.print(Text(f"\nreport: {directory.report}\nrunbook: {directory.runbook}"))


def _line(each: Rehearsal) -> str:
    reason = f": {each.result.reason}" if each.result.reason else ""
    return (
        f"{outcome_of(each)} in {duration(each.result.seconds)}, {len(each.turns)} turns, longest pause "
        f"{each.longest_pause_seconds:.1f} s, {each.lost} lost{reason}"
    )
