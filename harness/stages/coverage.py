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
from harness.base.progress import Reporter, duration
from harness.coverage.agent import Agent, collecting
from harness.coverage.changes import ChangedCode, classes_from, code_of_methods, lines_of_series, methods_with
from harness.coverage.jacoco import Jacoco, read_hits
from harness.coverage.reached import gap_in, in_tree, reached_lines, reached_methods, read_texts
from harness.engine.apart import run_apart
from harness.engine.cancel import Cancellation
from harness.engine.left_places import Errand
from harness.engine.planned_run import PlannedRun
from harness.kafka.patching import load_series
from harness.model.arms import Arm, Role
from harness.model.declaration import Declaration
from harness.model.proof import ChangedMethod, Coverage
from harness.model.runs import RunKey
from harness.model.setup import Setup
from harness.proof.proof_summary import describe_reach
from harness.rundir.directory import RunDirectory
from harness.scenario.host_meter import host_speed
from harness.stages.arm_kafka import parts_of_arms
from harness.stages.run import carry_out, declared_runs, left_to_do
from harness.stages.timing import timed
from harness.toolbox.download_progress import unwatched
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class _Question:
    """What is looked into: a candidate's arm, with its declaration.

    `methods` are those that changed, where they are known before the proof is there.
    """

    directory: RunDirectory
    declaration: Declaration
    setup: Setup
    arm: Arm
    toolbox: Toolbox
    reporter: Reporter
    methods: tuple[ChangedMethod, ...] | None = None

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


@dataclass(frozen=True, slots=True)
class _Search:
    """What is looked for, in which cells with the agent; `classes` are those that it watches."""

    question: _Question
    changed: ChangedCode
    classes: tuple[str, ...]
    cells: tuple[PlannedRun, ...]

    def known(self) -> Coverage:
        """Return what is reached by the runs whose results are there. Raises HarnessError."""
        there = [cell.key for cell in self.cells if self.question.runs.run(cell.key).result.exists]
        return reached(self.question, self.changed, self.classes, there)


def coverage(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> None:
    """Run declared scenarios once with the agent; write proof/<build>/coverage.json.

    Nothing is written when there is no candidate. What cannot be measured becomes the gap of the Coverage: which
    lines ran never decides anything, so that no failure in here ends a verification.
    """
    question = _question_of(run_dir, toolbox, reporter)
    if question is None:
        return
    reporter.stage("measuring which changed lines are reached")
    with timed(question.directory, "coverage"):
        try:
            found = _cover(question)
        except HarnessError as error:
            found = Coverage((), str(error))
    question.directory.proof(question.arm.build.name).coverage.write(found)
    reporter.report(describe_reach(found) if found.lines else found.gap)


def errands(
    run_dir: Path, toolbox: Toolbox, reporter: Reporter, methods: tuple[ChangedMethod, ...] | None
) -> Sequence[Errand]:
    """Return the runs with the agent, for the places that judged runs leave; `coverage` then makes those still needed.

    `methods` are those that changed, where the proof is not there yet.
    """
    unseen = replace(toolbox, show=unwatched)  # the bar at the end of the terminal is that of the judged runs
    question = _question_of(run_dir, unseen, reporter, methods)
    try:
        search, _ = _search_of(question) if question else (None, "")
    except HarnessError:  # which `coverage` meets as well, and reports
        return ()
    if search is None:
        return ()
    cells = left_to_do(search.cells, search.question.runs.path, reporter)
    search.question.runs.host.write(host_speed())
    return tuple(partial(_run_ahead, search, cell) for cell in cells)


def _run_ahead(search: _Search, cell: PlannedRun, cancellation: Cancellation) -> None:
    report, name = search.question.reporter.report, f"{cell.key.scenario} with JaCoCo's agent"
    try:
        if _is_complete(search.known()):
            return
        report(f"{name} starts in a slot that no judged run needs any more")
        result = run_apart(cell, search.question.runs.path, lambda _: None, cancellation)
        report(f"{name}: {result.label} in {duration(result.seconds)}")
    except HarnessError:  # which `coverage` meets as well, and reports
        return


def _question_of(
    run_dir: Path, toolbox: Toolbox, reporter: Reporter, methods: tuple[ChangedMethod, ...] | None = None
) -> _Question | None:
    directory = RunDirectory(run_dir)
    declaration = directory.declaration.read()
    arm = declaration.arm(Role.ON) or declaration.arm(Role.OFF)
    if arm is None:
        return None
    return _Question(directory, declaration, directory.setup.read(), arm, toolbox, reporter, methods)


def _cover(question: _Question) -> Coverage:
    search, why = _search_of(question)
    if search is None:
        nothing = "Nothing that differs from base has instructions."
        return Coverage((), f"{_of_another_kafka(question) or nothing} {why}".strip())
    known = _look(search)
    return replace(known, gap=" ".join(filter(None, (why, known.gap))))


def _search_of(question: _Question) -> tuple[_Search | None, str]:
    """Return what to look for, None where nothing has instructions; and why lines are not those of the sources."""
    changed, why = _changed_code(question)
    classes = tuple(sorted({*classes_from(question.jar, changed.lines), *changed.classes}))
    return (_Search(question, changed, classes, _cells_with_agent(question, classes)) if classes else None), why


def _of_another_kafka(question: _Question) -> str:
    kafkas = question.declaration.kafkas
    return (
        f"What changed between {kafkas[0].label} and {kafkas[1].label} was not looked for line by line."
        if kafkas
        else ""
    )


def _look(search: _Search) -> Coverage:
    """Run scenarios with the agent until each changed method was entered, or all have run."""
    runs, reporter = search.question.runs.path, search.question.reporter
    jobs = search.question.directory.request.read().jobs
    waiting, known = left_to_do(search.cells, runs, reporter), search.known()
    if waiting and not _is_complete(known):
        reporter.report(f"up to {len(waiting)} runs with JaCoCo's agent, {jobs} at a time; they decide nothing")
    while waiting and not _is_complete(known):
        batch, waiting = waiting[:jobs], waiting[jobs:]
        carry_out(batch, runs, jobs, reporter, "")
        known = search.known()
    if not waiting:
        return known
    ran = f"{len(search.cells) - len(waiting)} of {len(search.cells)} scenarios"
    said = f"{ran} were run for this: together they enter every changed method."
    return replace(known, gap=" ".join(filter(None, (said, known.gap))))


def _is_complete(known: Coverage) -> bool:
    return bool(known.methods) and not known.unreached_methods


def _cells_with_agent(question: _Question, classes: tuple[str, ...]) -> tuple[PlannedRun, ...]:
    declaration, request, reporter = question.declaration, question.directory.request.read(), question.reporter
    agent = Agent(question.toolbox.tool(Purpose.COVERAGE_AGENT), classes)
    once = replace(declaration, arms=(question.arm,), repeats=1)
    node_parts = parts_of_arms(once.arms, request, question.toolbox, reporter.report)
    declared = declared_runs(once, question.directory, node_parts)
    return tuple(replace(cell, instrument=partial(collecting, agent), soak=0.0) for cell in declared)


def reached(question: _Question, changed: ChangedCode, classes: tuple[str, ...], runs: Sequence[RunKey]) -> Coverage:
    """Return which changed code ran, from the execution data that runs have left. Raises HarnessError."""
    if not runs:
        return Coverage(())
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
    found = code_of_methods(question.jar, _changed_methods(question))
    return replace(found, lines=in_tree(found.lines, question.sources)), why


def _changed_methods(question: _Question) -> tuple[ChangedMethod, ...]:
    if question.methods is not None:
        return question.methods
    proof = question.directory.proof(question.arm.build.name).proof
    if not proof.exists:
        raise HarnessError("The jar was not proved, so that nothing shows what changed.")
    return proof.read().changed_methods
