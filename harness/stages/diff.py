"""The log diff as a stage: over a run directory, or over two folders of logs from anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.progress import Reporter
from harness.logs.folders import RepeatPlaces
from harness.logs.folders import diff_folders as compare_folders
from harness.logs.log_diff import diff_run
from harness.model.findings import Contrast, Finding, Significance
from harness.report.diff_cases import render_findings
from harness.report.diff_summary import render_diff_summary
from harness.report.diffpage import render_diff
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import LogsFolder
from harness.stages.compared_logs import note_comparison
from harness.stages.known_noise import noise_of
from harness.stages.timing import timed
from harness.toolbox.toolbox import Toolbox

_SHOWN = 20


def diff(run_dir: Path, toolbox: Toolbox, reporter: Reporter, master: str = "") -> tuple[Contrast, ...]:
    """Compare the arms' node logs, on a Spark cluster if one is named; writes logs/ in the run directory.

    Raises HarnessError; that it failed is noted for the judge.
    """
    directory = RunDirectory(run_dir)
    arms = directory.declaration.read().arms
    reporter.stage("comparing node logs on Spark")
    with timed(directory, "diff"):
        try:
            contrasts = diff_run(directory, arms, toolbox, reporter.report, master, noise_of(directory))
        except HarnessError as error:
            note_comparison(directory, error.message)
            raise
        note_comparison(directory)
    for contrast in contrasts:
        reporter.report(f"{contrast.base} against {contrast.candidate}: {describe(contrast.findings)}")
    return contrasts


def describe(findings: Sequence[Finding]) -> str:
    """Return how many findings there are, and how they compare with the noise where that is known."""
    counts = Counter(finding.significance for finding in findings)
    if counts.keys() <= {Significance.UNKNOWN}:
        return f"{len(findings)} findings"
    of_each = f"{counts[Significance.WITHIN]} within it, {counts[Significance.UNKNOWN]} unknown"
    return f"{counts[Significance.BEYOND]} findings beyond the noise, {of_each}"


def _beside(finding: Finding) -> str:
    """Return what counts do not show of a finding, and whose logs still have it at their end."""
    ends = [name for name, lasts in (("base", finding.base_lasting), ("candidate", finding.candidate_lasting)) if lasts]
    parts = [" ".join(finding.detail.split())[:160], f"still logged at the end by {' and '.join(ends)}" if ends else ""]
    return "".join(f"; {each}" for each in parts if each)


def diff_folders(
    base: str,
    candidate: str,
    out: Path,
    layout: str | None,
    toolbox: Toolbox,
    reporter: Reporter,
    repeats: RepeatPlaces,
    master: str = "",
) -> None:
    """Compare two folders of logs, or two logs; write the results and diff.html into `out`, print the worst.

    `repeats` are further runs of what wrote either: they show what is noise.
    """
    reporter.stage(f"comparing {base} with {candidate} on Spark")
    logs = LogsFolder(out)
    contrast = compare_folders(base, candidate, logs, layout, toolbox, reporter.report, repeats, master)
    found = contrast.findings
    table = Table("kind", "level", "base", "candidate", "template", box=None, header_style="bold")
    apart = [finding for finding in found if finding.significance is not Significance.WITHIN]
    for finding in apart[:_SHOWN]:
        template = Text(f"{' '.join(finding.template.split())[:160]}{_beside(finding)}")
        table.add_row(finding.kind, finding.level, str(finding.base_count), str(finding.candidate_count), template)
    if apart:
        reporter.console.print(table)
    more = f", the first {_SHOWN} above" if len(apart) > _SHOWN else ""
    write_text(logs.junit, render_findings(contrast))
    write_text(logs.summary, render_diff_summary(contrast))
    page = write_text(logs.page, render_diff(contrast, logs.totals.read(), out))
    reporter.console.print(f"{describe(found)}{more}: {page}")
