"""What became of a rollout: its rehearsals read back from their runs, decided together, and reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.files import write_text
from harness.base.progress import Reporter
from harness.engine.sealing import check_result
from harness.kafka.release_lines import Mode, line_of
from harness.model.arms import Arm, Role
from harness.model.rollout import SCHEMA, Rehearsal, RolloutVerdict, RollPlan
from harness.model.runs import RunKey
from harness.report.log_excerpt import with_excerpts
from harness.report.rollout_cases import render_rehearsals
from harness.report.rollout_markdown import render_rollout_summary
from harness.report.rolloutpage import render_rollout
from harness.rollout.acknowledged import judged_by_clients
from harness.rollout.baseline import baseline_of, stall_budget
from harness.rollout.not_rehearsed import against, left_out, not_rehearsed
from harness.rollout.rehearsals import CONTROL, FORWARD_AND_BACK
from harness.rollout.rollout_verdict import decide_rollout
from harness.rollout.runbook import runbook
from harness.rollout.runbook_markdown import markdown
from harness.rollout.runbook_shell import shell_script
from harness.rollout.turns import rehearsal_of
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal, read_undamaged
from harness.rundir.parts import RunFolder

ARM = "roll"
_TOPIC_IDS_NOT_CHECKED = (
    "Topic ids of your own cluster were not checked: to have that done first, name each broker's server.properties by "
    "--cluster."
)


def judge_rollout(directory: RunDirectory, reporter: Reporter) -> RolloutVerdict:
    """Decide what the declared rehearsals come to by the results of their runs, and write rollout.json.

    Raises HarnessError for a result that has no seal, or that was changed after its run.
    """
    reporter.stage("judging")
    declared = directory.declaration.read()
    base, candidate = declared.arm(Role.BASE), declared.arm(Role.ON)
    assert base is not None
    assert candidate is not None
    rehearsals, line = read_rehearsals(directory), line_of(base.build.kafka_version)
    known = {each.name for each in rehearsals}
    missing = [each.name for each in declared.scenarios if each.name not in known]
    plan, features = directory.roll_plan.read(), directory.features.read_if_exists()
    outcome, sentence, reasons = decide_rollout(rehearsals, missing)
    lacking, whole_kafkas = left_out(features, rehearsals), not candidate.build.kafka.is_same(base.build.kafka)
    tried_by_nobody = not_rehearsed(plan, features, lacking, _why_not_compared(directory), whole_kafkas=whole_kafkas)
    gaps = (*tried_by_nobody, *filter(None, [topic_ids_not_checked(plan, base)]))
    found = RolloutVerdict(
        SCHEMA,
        declared.kafka_version,
        plan,
        base,
        candidate,
        tuple(rehearsals),
        outcome,
        sentence,
        reasons,
        declared.timings,
        features,
        line.config_options,
        Mode.ZOOKEEPER in line.modes,
        against(outcome, rehearsals, lacking),
        gaps,
    )
    directory.rollout.write(found)
    return found


def topic_ids_not_checked(plan: RollPlan, base: Arm) -> str:
    """Return in a sentence that nobody looked at topic ids; empty where that was done, or base knows no ZooKeeper."""
    knows_zookeeper = Mode.ZOOKEEPER in line_of(base.build.kafka_version).modes
    return _TOPIC_IDS_NOT_CHECKED if knows_zookeeper and not plan.topic_ids_checked else ""


def _why_not_compared(directory: RunDirectory) -> str:
    """Return in a sentence why no logs of the roll were compared with those of base alone; empty where they were."""
    noted = directory.logs.comparison.read_if_exists()
    if noted and noted.failed:
        return f"What the candidate logs otherwise: the log diff failed. {noted.failed}"
    if directory.logs.findings.exists:
        return ""
    return f"What the candidate logs otherwise: that takes the logs of {CONTROL} and of {FORWARD_AND_BACK}."


def read_rehearsals(directory: RunDirectory) -> list[Rehearsal]:
    """Return the declared rehearsals that have a result; none after a control that did not pass.

    Raises HarnessError for a result that has no seal, or that was changed after its run.
    """
    plan, setup, baseline = directory.roll_plan.read(), directory.setup.read(), None
    found: list[Rehearsal] = []
    for declared in directory.declaration.read().scenarios:
        run = directory.run(RunKey(declared.name, ARM, 1))
        if not run.result.exists:
            continue
        budget = stall_budget(declared.name, plan.stall_budget, baseline, setup.overlay)
        found.append(read_rehearsal(run, declared.question, budget, found))
        if declared.name == CONTROL:
            baseline = baseline_of(found[-1])
            if baseline is None:  # what base cannot do says nothing about the candidate
                break
    return found


def read_rehearsal(run: RunFolder, question: str, budget_seconds: float, before: Sequence[Rehearsal] = ()) -> Rehearsal:
    """Return what a run shows as a rehearsal, clients judged by the control, where that is among those `before` it.

    Raises HarnessError for a result that has no seal, or that was changed after its run.
    """
    seal, result = check_result(run), run.result.read()
    if seal.is_of_a_conversion:
        return replace(run.rehearsal.read(), result=result)
    control = next((each for each in before if each.name == CONTROL), None)
    return judged_by_clients(rehearsal_of(result, question, budget_seconds, read_journal(run.journal)), control)


def report_rollout(directory: RunDirectory, reporter: Reporter) -> Path:
    """Write report.html, junit.xml, summary.md and both runbooks of a judged rollout; return the report's path."""
    reporter.stage("writing the report")
    found = _with_excerpts(directory, directory.rollout.read())
    contrast = next(iter(directory.logs.findings.read_if_exists() or ()), None)
    journals = {each.name: list(read_undamaged(directory.run(each.result.key).journal)) for each in found.rehearsals}
    upgrade, argv = directory.upgrade.changes.read_if_exists(), directory.declaration.read().argv
    write_text(directory.report, render_rollout(found, journals, contrast, argv, upgrade))
    write_text(directory.junit, render_rehearsals(found))
    write_text(directory.summary, render_rollout_summary(found))
    book = runbook(found)
    write_text(directory.runbook, markdown(book))
    write_text(directory.runbook_script, shell_script(book))
    return directory.report


def _with_excerpts(directory: RunDirectory, found: RolloutVerdict) -> RolloutVerdict:
    """Return the verdict with the lines that its evidence is about, for a reader."""
    quoted = [
        replace(each, result=replace(each.result, evidence=with_excerpts(directory.path, each.result.evidence)))
        for each in found.rehearsals
    ]
    return replace(found, rehearsals=tuple(quoted))
