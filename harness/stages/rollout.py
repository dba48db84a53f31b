"""The rollout rehearsal as a stage: builds, rehearsals, log differences, answer, report and runbook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.files import read_record, write_text
from harness.base.json import from_json, to_json
from harness.base.progress import Reporter, duration
from harness.base.text import visible
from harness.cluster.install import Install
from harness.cluster.prepare import Ground
from harness.engine.cell import Cell
from harness.journal import Entry, read_journal
from harness.kafka.lock import read_lock
from harness.model.arms import ABSENT, Arm, Role
from harness.model.declaration import Asked
from harness.model.findings import Contrast
from harness.model.node_logs import NodeLogs
from harness.model.request import Request
from harness.model.rollout import SCHEMA, Rehearsal, RolloutOutcome, RolloutVerdict, RollPlan
from harness.model.runs import RunKey, RunResult
from harness.model.setup import Setup
from harness.report.rolloutpage import render_rollout
from harness.rollout.baseline import Baseline, baseline_of, stall_budget
from harness.rollout.commands import Tools
from harness.rollout.nodes import describe_topology, parse_topology
from harness.rollout.rehearsals import CONTROL, FORWARD, FORWARD_AND_BACK, KINDS, RESTART, rehearsal
from harness.rollout.roll import BASE, CANDIDATE, DIES_ON_LOAD, WITH_KEY, WITH_KEY_LEFT, RollConfig
from harness.rollout.runbook import markdown, runbook
from harness.rollout.torn import without_class
from harness.rollout.turns import rehearsal_of
from harness.rollout.verdict import decide_rollout, outcome_of
from harness.stages.build import build
from harness.stages.ground import distribution_of
from harness.stages.run import carry_out, installed, lay_ground
from harness.stages.rundir import read_asked, read_setup, timed
from harness.toolbox.downloads import Downloads, sha256_of
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

ARM = "roll"
_PLAN = "rollout-plan.json"
_COLOURS = {RolloutOutcome.PASSED: "green", RolloutOutcome.STOPPED: "red", RolloutOutcome.INCONCLUSIVE: "magenta"}
# Of a key that it does not know, Kafka says that it is set, and not to what: it might be a secret.
_SET_TO_SOMETHING = "None"


def rollout(request: Request, plan: RollPlan, run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> RolloutVerdict:
    """Build, rehearse, compare, report; return what rollout.json holds."""
    build(request, run_dir, toolbox, reporter)
    write_text(run_dir / _PLAN, to_json(plan))
    return go_on(run_dir, toolbox, reporter)


def go_on(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> RolloutVerdict:
    """Do what a rollout lacks that was built; ends as `rollout` does."""
    rehearsals = rehearse(run_dir, toolbox, reporter)
    contrast = _compare(rehearsals, run_dir, toolbox, reporter)
    found = judge(run_dir, rehearsals)
    report(run_dir, found, contrast)
    return found


def rehearse(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> list[Rehearsal]:
    """Run the rehearsals that have no result yet, the control first; return all of them."""
    declared, setup = read_asked(run_dir), read_setup(run_dir)
    plan = read_record(RollPlan, run_dir / _PLAN)
    with timed(run_dir, "ground"):
        ground = lay_ground(setup, declared.kafka_version, toolbox, reporter.say)
    tools = _tools(setup, declared, ground, toolbox.downloads)
    topology = parse_topology(plan.topology)
    reporter.stage(f"{len(plan.rehearsals)} rehearsals on {describe_topology(topology)}, one after the other")
    baseline: Baseline | None = None
    found: list[Rehearsal] = []
    with timed(run_dir, "rehearse"):
        for number, name in enumerate(plan.rehearsals, 1):
            reporter.say(f"[{number}/{len(plan.rehearsals)}] {name}: {KINDS[name].question}")
            cell = _cell(name, plan, run_dir, declared, setup, ground, tools, baseline)
            carry_out([cell], run_dir, 1, reporter, "")
            found.append(_rehearsal(run_dir, cell, cell.scenario.question, _budget(name, plan, baseline, setup)))
            if name == CONTROL:
                baseline = baseline_of(found[-1])
                if baseline is None:  # what base cannot do says nothing about the candidate
                    break
    return found


def _cell(
    name: str,
    plan: RollPlan,
    run_dir: Path,
    declared: Asked,
    setup: Setup,
    ground: Ground,
    tools: Tools,
    baseline: Baseline | None,
) -> Cell:
    base = installed(_arm(declared, Role.BASE), BASE, setup, run_dir)
    candidate = installed(_arm(declared, Role.ON), CANDIDATE, setup, run_dir)
    key = setup.flag_key
    with_key = _with_key(candidate, key)
    key_left = _with_key_left(base, with_key, key)
    torn = without_class(candidate.jar, run_dir.absolute() / "builds" / "dies-on-load" / base.jar.name)
    config = RollConfig(
        parse_topology(plan.topology),
        tools,
        plan.order,
        _budget(name, plan, baseline, setup),
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
        DIES_ON_LOAD: replace(candidate, name=DIES_ON_LOAD, jar=torn, sha256=sha256_of(torn), settings={}),
    }
    java = _arm(declared, Role.BASE).java
    run = RunKey(name, ARM, 1)
    return Cell(run, rehearsal(name, config), Role.ON, ground, base, setup.overlay, key, java, others)


def _budget(name: str, plan: RollPlan, baseline: Baseline | None, setup: Setup) -> float:
    return stall_budget(name, plan.stall_budget, baseline, setup.overlay)


def _arm(declared: Asked, role: Role) -> Arm:
    arm = declared.arm(role)
    assert arm is not None  # a rollout declares base and the candidate
    return arm


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


def _rehearsal(run_dir: Path, cell: Cell, question: str, budget: float) -> Rehearsal:
    folder = run_dir / cell.key.folder
    result = read_record(RunResult, folder / "result.json")
    return rehearsal_of(result, question, budget, read_journal(folder / "journal.jsonl"))


def _tools(setup: Setup, declared: Asked, ground: Ground, downloads: Downloads) -> Tools:
    """Return what Kafka's scripts start; a Kafka that was unpacked brings it along."""
    distribution = distribution_of(setup, declared.kafka_version, downloads)
    lock = None if setup.base_dist else read_lock(declared.kafka_version)
    more = downloads.fetch_all(lock.of(Purpose.COMMANDS)) if lock else ()
    return Tools(ground.java, (*more, *distribution.jars))


def judge(run_dir: Path, rehearsals: Sequence[Rehearsal]) -> RolloutVerdict:
    """Decide what the rehearsals come to, and write rollout.json."""
    declared = read_asked(run_dir)
    outcome, sentence, reasons = decide_rollout(rehearsals)
    found = RolloutVerdict(
        SCHEMA,
        declared.kafka_version,
        read_record(RollPlan, run_dir / _PLAN),
        _arm(declared, Role.BASE),
        _arm(declared, Role.ON),
        tuple(rehearsals),
        outcome,
        sentence,
        reasons,
        declared.timings,
    )
    write_text(run_dir / "rollout.json", to_json(found))
    return found


def report(run_dir: Path, found: RolloutVerdict, contrast: Contrast | None) -> None:
    """Write report.html and runbook.md."""
    journals = {each.name: _journal(run_dir, each) for each in found.rehearsals}
    page = render_rollout(found, journals, contrast, read_asked(run_dir).argv)
    write_text(run_dir / "report.html", page)
    write_text(run_dir / "runbook.md", markdown(runbook(found)))


def _journal(run_dir: Path, rehearsed: Rehearsal) -> list[Entry]:
    return list(read_journal(run_dir / rehearsed.result.key.folder / "journal.jsonl"))


def _compare(rehearsals: Sequence[Rehearsal], run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> Contrast | None:
    """Compare the logs of versions mixed with those of one version; they are shown and do not decide."""
    from harness.logs.diff import compare, opened, read_nodes

    compared = (CONTROL, FORWARD_AND_BACK)
    by_name = {each.name: each for each in rehearsals}
    if not {*compared} <= by_name.keys():
        return None
    reporter.stage("comparing the logs of both versions mixed with those of base alone, on Spark")
    nodes = [node for name in compared for node in _logs_of_roll(run_dir, by_name[name])]
    try:
        with timed(run_dir, "diff"):
            with opened(run_dir / "logs", toolbox, reporter.say) as spark:
                counted = read_nodes(spark, run_dir, nodes, run_dir / "logs", reporter.say)
            (contrast,) = compare(counted, [compared], run_dir / "logs", reporter.say)
    except HarnessError as error:
        reporter.say(f"the log diff failed: {error}")
        return None
    return contrast


def _logs_of_roll(run_dir: Path, rehearsed: Rehearsal) -> list[NodeLogs]:
    """Return a rehearsal's logs as an arm of one question, and when every node was replaced once in it.

    What lies outside is not compared: different things were done there.
    """
    path = run_dir / rehearsed.result.key.folder / "logs.json"
    logs = from_json(tuple[NodeLogs, ...], path.read_bytes())
    return [
        replace(
            each,
            scenario=ARM,
            arm=rehearsed.name,
            phases=tuple(replace(p, name="every node once") for p in each.phases if p.name in (RESTART, FORWARD)),
            roles={},
        )
        for each in logs
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
    console.print(Text(f"\nreport: {run_dir / 'report.html'}\nrunbook: {run_dir / 'runbook.md'}"))


def _line(each: Rehearsal) -> str:
    reason = f": {each.result.reason}" if each.result.reason else ""
    return (
        f"{outcome_of(each)} in {duration(each.result.seconds)}, {len(each.turns)} turns, longest pause "
        f"{each.longest_pause_seconds:.1f} s, {each.lost} lost{reason}"
    )
