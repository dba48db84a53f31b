"""Concluding a night: everything that is written about it, from the run directories in its folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from harness.base.files import write_bytes, write_text
from harness.model.waivers import load_waivers
from harness.nightly.folder import NightFolder, read_night, verdicts_of
from harness.nightly.history import add_to_history, read_history
from harness.nightly.judging import ConcludedVerification, NightReport, judge_night
from harness.nightly.night_cases import render_night_junit
from harness.nightly.night_summary import render_summary
from harness.nightly.nightpage import render_night
from harness.nightly.sparkline import sparklines_of
from harness.report import write_reports


def keep_waivers(path: Path, folder: Path) -> None:
    """Copy waivers into a night, so that whoever merges it judges by the same."""
    write_bytes(NightFolder(folder).waivers, path.read_bytes())


def conclude(folder: Path, history: Path) -> NightReport:
    """Write index.html, summary.md, junit.xml, retry.txt and seconds.toml of a night; return what they say.

    Each run's report is written again, with what became of its cells in the nights before. A night that is all there
    also goes into the history; a shard alone does not.
    """
    night, place = read_night(folder), NightFolder(folder)
    verdicts = verdicts_of(folder, night)
    known = load_waivers(place.waivers) if place.waivers.is_file() else ()
    report = judge_night(night, verdicts, read_history(history), known, datetime.now(UTC).date())
    write_text(place.junit, render_night_junit(report, verdicts))
    write_text(place.summary, render_summary(report))
    write_text(place.page, render_night(report))
    write_text(place.retries, "".join(f"{line}\n" for line in report.retries))
    write_text(place.seconds, "[seconds]\n" + "".join(_known(each) for each in report.verifications))
    for verification, record in verdicts.items():
        directory = place.run(verification)
        directory.sparklines.write(sparklines_of(verification, report.cells, report.earlier))
        write_reports(directory, record)
    if night.shard == 0 or night.whole:
        add_to_history(history, report.entry)
    return report


def _known(each: ConcludedVerification) -> str:
    """Return the line that balances the next night; one that came to no verdict says nothing of its length."""
    judged = each.outcome.value in ("SHIP", "HOLD", "INCONCLUSIVE")
    return f'"{each.planned.id}" = {max(1, round(each.seconds))}\n' if judged else ""
