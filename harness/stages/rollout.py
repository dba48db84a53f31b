"""The rollout rehearsal as a stage: builds, rehearsals, log differences, answer, report and runbook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.progress import Reporter, duration
from harness.base.text import visible
from harness.cluster.topology import describe_topology
from harness.model.arms import Role
from harness.model.node_logs import NodeLogs
from harness.model.rollout import Rehearsal, RolloutOutcome, RolloutVerdict
from harness.rollout.baseline import Baseline, baseline_of
from harness.rollout.client_security import topology_of
from harness.rollout.rehearsals import CONTROL, FORWARD, FORWARD_AND_BACK, KINDS, RESTART
from harness.rollout.rollout_verdict import may_begin, outcome_of
from harness.rundir.directory import RunDirectory
from harness.stages.build import build
from harness.stages.compared_logs import note_comparison
from harness.stages.resume import check_builds_and_java
from harness.stages.rollout_inputs import planned_rehearsal, roll_inputs
from harness.stages.rollout_result import ARM, judge_rollout, read_rehearsal, report_rollout, topic_ids_not_checked
from harness.stages.run import carry_out
from harness.stages.timing import timed
from harness.stages.upgrade_notes import note_upgrade
from harness.toolbox.toolbox import Toolbox

_COLOURS = {RolloutOutcome.PASSED: "green", RolloutOutcome.STOPPED: "red", RolloutOutcome.INCONCLUSIVE: "magenta"}


def rollout(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> RolloutVerdict:
    """Build, rehearse, compare and report as request.json and roll-plan.json say; return what rollout.json holds.

    What is there already is used: one that was cut short goes on.
    """
    directory = RunDirectory(run_dir)
    if not directory.declaration.exists:
        build(run_dir, toolbox, reporter)
    _say_what_was_not_checked(directory, reporter)
    rehearsals = rehearse(directory, toolbox, reporter)
    _compare(rehearsals, directory, toolbox, reporter)
    note_upgrade(directory, toolbox, reporter)
    found = judge_rollout(directory, reporter)
    report_rollout(directory, reporter)
    return found


def _say_what_was_not_checked(directory: RunDirectory, reporter: Reporter) -> None:
    base = directory.declaration.read().arm(Role.BASE)
    if base and (said := topic_ids_not_checked(directory.roll_plan.read(), base)):
        reporter.report(said)


def rehearse(directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> list[Rehearsal]:
    """Run the rehearsals that have no result yet, the control first; return all of them."""
    check_builds_and_java(directory.path, directory.declaration.read(), toolbox)
    inputs = roll_inputs(directory, toolbox, reporter)
    names = [each.name for each in inputs.declared.scenarios]
    cluster = describe_topology(topology_of(inputs.plan))
    reporter.stage(f"{len(names)} rehearsals on {cluster}, one after the other")
    baseline: Baseline | None = None
    found: list[Rehearsal] = []
    with timed(directory, "rehearse"):
        for number, name in enumerate(names, 1):
            if not may_begin(name, found):
                reporter.report("the features are not finalised: what comes before that did not pass")
                break
            reporter.report(f"[{number}/{len(names)}] {name}: {KINDS[name].question}")
            cell = planned_rehearsal(inputs, name, baseline)
            carry_out([cell], directory.path, 1, reporter, "")
            budget = inputs.budget(name, baseline)
            found.append(read_rehearsal(directory.run(cell.key), cell.scenario.question, budget, found))
            if name == CONTROL:
                baseline = baseline_of(found[-1])
                if baseline is None:  # what base cannot do says nothing about the candidate
                    break
    return found


def _compare(rehearsals: Sequence[Rehearsal], directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> None:
    """Compare the logs of versions mixed with those of one version; they are shown and do not decide."""
    from harness.logs.log_diff import compare, opened, read_nodes

    compared = (CONTROL, FORWARD_AND_BACK)
    by_name = {each.name: each for each in rehearsals}
    if not {*compared} <= by_name.keys():
        return
    reporter.stage("comparing the logs of both versions mixed with those of base alone, on Spark")
    logs = directory.logs
    logs.findings.path.unlink(missing_ok=True)  # those of an earlier roll are not shown when this fails
    try:
        nodes = [node for name in compared for node in _logs_of_roll(directory, by_name[name])]
        with timed(directory, "diff"):
            with opened(logs.path, toolbox, reporter.report) as spark:
                counted = read_nodes(spark, directory.path, nodes, logs, reporter.report)
            compare(counted, [compared], logs, reporter.report)
        note_comparison(directory)
    except HarnessError as error:
        note_comparison(directory, error.message)
        reporter.report(f"the log diff failed: {error}")


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
    console.print(Text(f"  strongest reason against it: {visible(found.against)}", style="italic"))
    directory = RunDirectory(run_dir)
    console.print(
        Text(f"\nreport: {directory.report}\nrunbook: {directory.runbook}, and as a script {directory.runbook_script}")
    )


def _line(each: Rehearsal) -> str:
    reason = f": {visible(each.result.reason)}" if each.result.reason else ""
    return (
        f"{outcome_of(each)} in {duration(each.result.seconds)}, {len(each.turns)} turns, longest pause "
        f"{each.longest_pause_seconds:.1f} s, {each.lost} lost{reason}"
    )
