"""Was the patched code reached? Scenarios once more on the candidate with JaCoCo's agent; nothing is judged by it.

The agent takes a fifth more CPU time at a node's start (docs/adr/0005-coverage-has-runs-of-its-own.md), so that it is
kept out of the runs that count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.coverage.agent import Agent, collecting
from harness.coverage.changes import ChangedCode, classes_from, code_of_methods, lines_of_series, methods_with
from harness.coverage.jacoco import Jacoco, read_hits
from harness.coverage.reached import gap_in, in_tree, reached_lines, reached_methods, read_texts
from harness.engine.planned_run import PlannedRun
from harness.kafka.patching import load_series
from harness.model.arms import Arm, Role
from harness.model.declaration import Declaration
from harness.model.proof import Coverage
from harness.model.runs import RunKey
from harness.model.setup import Setup
from harness.proof.proof_summary import describe_reach
from harness.rundir.directory import RunDirectory
from harness.stages.arm_kafka import parts_of_arms
from harness.stages.run import carry_out, declared_runs
from harness.stages.timing import timed
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class _Question:
    """What is looked into: a candidate's arm, with its declaration."""

    directory: RunDirectory
    declaration: Declaration
    setup: Setup
    arm: Arm
    toolbox: Toolbox
    reporter: Reporter

    @property
    def jar(self) -> Path:
        """The candidate's jar."""
        return self.directory.path / self.arm.build.jar

    @property
    def sources(self) -> Path:
        """The candidate's kept sources, which need not be there."""
        return self.directory.build(self.arm.build.name).sources

    @property
    def runs(self) -> RunDirectory:
        """The runs with the agent."""
        return self.directory.coverage_runs


def coverage(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> None:
    """Run declared scenarios once with the agent; write proof/<build>/coverage.json.

    Nothing is written when there is no candidate. What cannot be measured becomes the gap of the Coverage: which
    lines ran never decides anything, so that no failure in here ends a verification.
    """
    directory = RunDirectory(run_dir)
    declaration = directory.declaration.read()
    arm = declaration.arm(Role.ON) or declaration.arm(Role.OFF)
    if arm is None:
        return
    reporter.stage("which changed lines are reached")
    with timed(directory, "coverage"):
        try:
            found = _cover(_Question(directory, declaration, directory.setup.read(), arm, toolbox, reporter))
        except HarnessError as error:
            found = Coverage((), str(error))
    directory.proof(arm.build.name).coverage.write(found)
    reporter.report(describe_reach(found) if found.lines else found.gap)


def _cover(question: _Question) -> Coverage:
    changed, why = _changed_code(question)
    classes = tuple(sorted({*classes_from(question.jar, changed.lines), *changed.classes}))
    if not classes:
        nothing = "Nothing that differs from base has instructions."
        return Coverage((), f"{_of_another_kafka(question) or nothing} {why}".strip())
    known = _look(question, changed, classes)
    return replace(known, gap=" ".join(filter(None, (why, known.gap))))


def _of_another_kafka(question: _Question) -> str:
    kafkas = question.declaration.kafkas
    return (
        f"What changed between {kafkas[0].label} and {kafkas[1].label} was not looked for line by line."
        if kafkas
        else ""
    )


def _look(question: _Question, changed: ChangedCode, classes: tuple[str, ...]) -> Coverage:
    """Run scenarios with the agent until each changed method was entered, or all have run."""
    cells, known = _cells_with_agent(question, classes), Coverage(())
    jobs = question.directory.request.read().jobs
    question.reporter.report(f"{len(cells)} runs with JaCoCo's agent at most, {jobs} at a time, which judge nothing")
    for end in range(jobs, len(cells) + jobs, jobs):
        carry_out(cells[end - jobs : end], question.runs.path, jobs, question.reporter, "")
        known = reached(question, changed, classes, [cell.key for cell in cells[:end]])
        if end < len(cells) and known.methods and not known.unreached_methods:
            said = f"{end} of {len(cells)} scenarios were run for this: they enter each changed method."
            return replace(known, gap=" ".join(filter(None, (said, known.gap))))
    return known


def _cells_with_agent(question: _Question, classes: tuple[str, ...]) -> Sequence[PlannedRun]:
    declaration, request, reporter = question.declaration, question.directory.request.read(), question.reporter
    agent = Agent(question.toolbox.tool(Purpose.COVERAGE_AGENT), classes)
    once = replace(declaration, arms=(question.arm,), repeats=1)
    node_parts = parts_of_arms(once.arms, request, question.toolbox, reporter.report)
    declared = declared_runs(once, question.directory, node_parts)
    return [replace(cell, instrument=partial(collecting, agent), soak=0.0) for cell in declared]


def reached(question: _Question, changed: ChangedCode, classes: tuple[str, ...], runs: Sequence[RunKey]) -> Coverage:
    """Return which changed code ran, from the execution data that runs have left. Raises HarnessError."""
    jacoco = Jacoco(question.toolbox.java(), question.toolbox.tool(Purpose.COVERAGE_READER))
    hits = {key.scenario: read_hits(jacoco, _data_of(question, key), question.jar, classes) for key in runs}
    texts = read_texts(question.sources, list(changed.lines))
    lines = reached_lines(changed.lines, {scenario: found.lines for scenario, found in hits.items()}, texts)
    methods = reached_methods(changed.methods, {scenario: found.methods for scenario, found in hits.items()})
    silent = [key.scenario for key in runs if not _data_of(question, key)]
    return Coverage(lines, gap_in([question.runs.run(key).result.read() for key in runs], silent), methods)


def _data_of(question: _Question, key: RunKey) -> list[Path]:
    file = question.runs.run(key).execution_data
    return [file] if file.is_file() else []


def _changed_code(question: _Question) -> tuple[ChangedCode, str]:
    """Return the changed code, and a sentence where the sources that are there do not show its lines."""
    why = ""
    if question.setup.series and question.sources.is_dir():
        try:
            lines = lines_of_series(question.sources, load_series(Path(question.setup.series)))
            return ChangedCode(lines, methods_with(question.jar, lines)), ""
        except HarnessError as error:
            why = f"The lines are those of methods whose code differs, since the series is not in the sources: {error}"
    proof = question.directory.proof(question.arm.build.name).proof
    if not proof.exists:
        raise HarnessError("The jar was not proved, so that nothing shows what changed.")
    found = code_of_methods(question.jar, proof.read().changed_methods)
    return replace(found, lines=in_tree(found.lines, question.sources)), why
