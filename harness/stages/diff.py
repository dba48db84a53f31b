"""The log diff as a stage: over a run directory, or over two folders of logs from anywhere."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.progress import Reporter
from harness.engine.sealing import check_logs
from harness.logs.folders import RepeatPlaces
from harness.logs.folders import diff_folders as compare_folders
from harness.logs.log_diff import Opener, diff_run
from harness.model.findings import Contrast
from harness.report.diff_cases import render_findings
from harness.report.diff_markdown import render_diff_markdown
from harness.report.diffpage import render_diff
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import LogsFolder
from harness.stages.compared_logs import note_comparison
from harness.stages.diff_output import describe
from harness.stages.known_noise import noise_of
from harness.stages.timing import noted, timed
from harness.toolbox.toolbox import Toolbox


def diff(
    run_dir: Path, toolbox: Toolbox, reporter: Reporter, master: str = "", opener: Opener | None = None
) -> tuple[Contrast, ...]:
    """Compare the arms' node logs, on a Spark cluster if one is named; writes logs/ in the run directory.

    `opener` gives a session in place of one that is started now. Raises HarnessError, also for a log that was changed
    after its run; that it failed is noted for the judge.
    """
    directory = RunDirectory(run_dir)
    arms = directory.declaration.read().arms
    reporter.stage("comparing node logs on Spark")
    with timed(directory, "diff"):
        try:
            check_logs(run_dir)
            clock = partial(noted, directory)
            contrasts = diff_run(directory, arms, toolbox, reporter.report, master, noise_of(directory), clock, opener)
        except HarnessError as error:
            note_comparison(directory, error.message)
            raise
        note_comparison(directory)
    for contrast in contrasts:
        reporter.report(f"{contrast.base} against {contrast.candidate}: {describe(contrast.findings)}")
    return contrasts


def diff_folders(
    base: str,
    candidate: str,
    out: Path,
    layout: str | None,
    toolbox: Toolbox,
    reporter: Reporter,
    repeats: RepeatPlaces,
    master: str = "",
) -> Contrast:
    """Compare two folders of logs, or two logs; write the results and diff.html into `out`.

    `repeats` are further runs of what wrote either: they show what is noise.
    """
    reporter.stage(f"comparing {base} with {candidate} on Spark")
    logs = LogsFolder(out)
    contrast = compare_folders(base, candidate, logs, layout, toolbox, reporter.report, repeats, master)
    totals = logs.totals.read()
    write_text(logs.junit, render_findings(contrast, totals))
    write_text(logs.summary, render_diff_markdown((contrast,), totals))
    write_text(logs.page, render_diff(contrast, totals, out))
    return contrast
