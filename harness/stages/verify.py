"""All stages in a row, ending with the verdict in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import zip_longest
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.progress import Reporter, duration
from harness.base.text import visible
from harness.engine.left_places import Errand, left_places
from harness.engine.quiet import held_together
from harness.judge.reasons import beyond_the_sentence, rests_on
from harness.logs.log_diff import Opener
from harness.model.expectations import Expectations, Met
from harness.model.proof import ChangedMethod
from harness.model.runs import Verdict
from harness.model.verdict import JudgedCell, JudgedScenario, VerdictRecord
from harness.report.left_open import left_open
from harness.rundir.directory import RunDirectory
from harness.scenario.host_meter import host_speed
from harness.stages import diff as diff_stage
from harness.stages import judge as judge_stage
from harness.stages import run as run_stage
from harness.stages.build import build
from harness.stages.compared_logs import why_not_compared
from harness.stages.coverage import coverage, errands
from harness.stages.known_noise import grow_noise
from harness.stages.preflight import has_room_beside
from harness.stages.prove import has_candidate, prove
from harness.stages.prove_beside import Beside, proving_beside
from harness.stages.reuse import Reuse
from harness.stages.rules_digest import code_digest
from harness.stages.spark_beside import spark_beside
from harness.stages.timing import begin_times, end_times, noted, timed
from harness.stages.upgrade_notes import note_upgrade
from harness.toolbox.toolbox import Toolbox

_REASONS = 6
_LONGEST = 700  # characters of a sentence
_COLOURS = {Verdict.SHIP: "green", Verdict.HOLD: "red", Verdict.INCONCLUSIVE: "magenta"}

_COLOURS_OF_EXPECTATIONS = {Met.EXPECTED: "green", Met.UNEXPECTED: "red", Met.UNDECIDED: "magenta"}


def verify(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> VerdictRecord:
    """Build, prove, run, diff, judge and report as request.json says; print the verdict and return what it rests on.

    What is there already is used: one that was cut short goes on.
    """
    directory = RunDirectory(run_dir)
    profiled = directory.request.read().profile_time
    if profiled:
        begin_times(directory)
    if not directory.declaration.exists:
        build(run_dir, toolbox, reporter)
    host_speed()  # before anything goes on beside the runs
    with _proving(directory, toolbox, reporter) as beside, spark_beside(directory, toolbox, reporter) as spark:
        reuse = Reuse(directory, toolbox, reporter, beside.changed_methods)
        ahead = partial(_errands, directory, toolbox, reporter, beside.changed_methods)
        with left_places(directory.request.read().jobs, ahead) as left:
            quiet, on_left = held_together(beside.quiet, spark.held), in_order(spark.begin, left.leave)
            leave_alone = in_order(left.leave_all, left.finish)
            run_stage.run(run_dir, toolbox, reporter, quiet, on_left, reuse.take, leave_alone)
            left.leave_all()
            compare_logs(run_dir, toolbox, reporter, spark.session)
            with timed(directory, "coverage") if covers(directory) else nullcontext():
                left.finish()
    if covers(directory):
        coverage(run_dir, toolbox, reporter)
    note_upgrade(directory, toolbox, reporter)
    record = judge_stage.judge(run_dir, reporter)
    with noted(directory, "results are kept"):
        reuse.keep()
    with noted(directory, "noise is learned"):
        grow_noise(directory, toolbox, reporter)
    if profiled:
        end_times(directory)
    page = judge_stage.report(run_dir, reporter)
    if record.expectations:
        print_expectations(reporter.console, record, record.expectations, page)
    else:
        print_verdict(reporter.console, record, directory.declaration.read().timings, page)
    if reporter.verbose:
        print_more(reporter.console, record)
    return record


def in_order(*calls: Callable[[], object]) -> Callable[[], None]:
    """Return a function that calls all of these."""

    def call() -> None:
        for each in calls:
            each()

    return call


def covers(directory: RunDirectory) -> bool:
    """Whether it is still to be seen which changed lines are reached."""
    known = directory.proof(directory.declaration.read().candidate)
    return directory.request.read().coverage and not known.coverage.is_whole


def _errands(
    directory: RunDirectory, toolbox: Toolbox, reporter: Reporter, methods: tuple[ChangedMethod, ...] | None
) -> Sequence[Errand]:
    return errands(directory.path, toolbox, reporter, methods) if covers(directory) else ()


def _proving(directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> AbstractContextManager[Beside]:
    if not has_candidate(directory.path) or is_proved(directory):
        return nullcontext(Beside())
    if has_room_beside(directory.request.read()):
        return proving_beside(directory.path, toolbox, reporter)
    prove(directory.path, toolbox, reporter)
    return nullcontext(Beside())


def is_proved(directory: RunDirectory) -> bool:
    """Return whether the proof of what is declared is there, by these rules.

    A damaged one, or that of another jar, is none; and waivers, where there are any, may have expired since.
    """
    declaration = directory.declaration.read()
    request, rules = directory.request.read_if_exists(), directory.proof(declaration.candidate).rules
    if (request and request.waivers) or not rules.is_file() or rules.read_text("utf-8") != code_digest():
        return False
    try:
        return judge_stage.read_proof(directory, declaration) is not None
    except HarnessError:
        return False


def compare_logs(run_dir: Path, toolbox: Toolbox, reporter: Reporter, opener: Opener | None = None) -> None:
    """Compare the logs of the results that are there, unless that was done; a failure is a gap in the verdict.

    `opener` gives a Spark session in place of one that is started now.
    """
    if not why_not_compared(RunDirectory(run_dir)):
        return
    try:
        diff_stage.diff(run_dir, toolbox, reporter, opener=opener)
    except HarnessError as error:  # the runs are still worth a verdict, in which this is a gap
        reporter.report(f"the log diff failed, which leaves a gap in the verdict: {error}")


def print_expectations(console: Console, record: VerdictRecord, found: Expectations, page: Path) -> None:
    """Print what Kafka as it is showed beside what the scenarios expect of it; nothing is said of a rollout."""
    style = f"bold reverse {_COLOURS_OF_EXPECTATIONS[found.answer]}"
    for cell in found.cells:
        console.print(Text(f"  {visible(str(cell))}"))
    console.print(Text.assemble("\n", (f" {found.answer} ", style), " ", visible(record.sentence)))
    console.print(Text(f"  strongest reason against it: {visible(record.against)}", style="italic"))
    console.print(Text(f"\nreport: {page}"))


def print_verdict(console: Console, record: VerdictRecord, timings: Mapping[str, float], page: Path) -> None:
    """Print the matrix, where the time went, the verdict with its reasons, and where the report is."""
    for line in matrix_lines(record, console.width if console.is_terminal else None):
        console.print(Text(visible(line)))
    spent = ", ".join(f"{stage} {duration(seconds)}" for stage, seconds in timings.items())
    console.print(Text(f"  time: {spent}; {duration(sum(timings.values()))} before judging", style="dim"))
    answer = record.verdict
    console.print(
        Text.assemble("\n", (f" {answer} ", f"bold reverse {_COLOURS[answer]}"), " ", visible(record.sentence))
    )
    for sentence in record.reused:
        console.print(Text(f"  {visible(sentence)}"))
    for reason in _reasons(record)[:_REASONS]:
        console.print(Text(f"  · {visible(reason)}"))
    console.print(Text(f"  strongest reason against it: {visible(record.against)}", style="italic"))
    if left := _not_fixed(record):
        console.print(Text(f"  not fixed: {visible(left)}"))
    console.print(Text(f"\nreport: {page}"))


def _not_fixed(record: VerdictRecord) -> str:
    """Return the sentence of the page's card on what is not fixed; empty where there is nothing."""
    left = left_open(record, 0, _LONGEST)
    return left.summary if left else ""


def matrix_lines(record: VerdictRecord, width: int | None) -> list[str]:
    """Return a line for each scenario, arms below each other; where one is wider than `width`, a line for each cell."""
    rows = [
        (row.name, *(f"{cell.arm} {cell}{_expected(cell)}" for cell in row.cells), _evidence(record, row))
        for row in record.scenarios
    ]
    columns = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    lines = ["  " + "  ".join(map(str.ljust, row, columns)).rstrip() for row in rows]
    if width is None or max(map(len, lines), default=0) <= width:
        return lines
    return [
        line for name, *cells, mark in rows for line in (f"  {name}  {mark}".rstrip(), *(f"    {c}" for c in cells))
    ]


def _evidence(record: VerdictRecord, scenario: JudgedScenario) -> str:
    """Mark a scenario that shows nothing of what is claimed."""
    return f"({said})" if (said := record.beside_claims(scenario)) else ""


def print_more(console: Console, record: VerdictRecord) -> None:
    """Print the reasons that the verdict left out, remarks, what is not fixed or tested, and failed runs' evidence."""
    for reason in _reasons(record)[_REASONS:]:
        console.print(Text(f"  · {visible(reason)}"))
    for remark in record.remarks:
        console.print(Text(f"  worth knowing: {visible(remark)}"))
    for left in record.not_fixed:
        console.print(Text(f"  not fixed: {visible(left)}"))
    for gap in record.not_tested:
        console.print(Text(f"  not tested: {visible(gap)}"))
    for run in (each for each in record.runs if not each.check.is_fine):
        for place in run.evidence:
            console.print(Text(f"  {run.key.folder}: {visible(run.label)}, see {visible(place.place)}"))


def _reasons(record: VerdictRecord) -> list[str]:
    return beyond_the_sentence(record.sentence, rests_on(record.verdict, record.reasons))


def _expected(cell: JudgedCell) -> str:
    return " as expected" if cell.is_expected_failure else ""
