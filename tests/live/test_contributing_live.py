"""What CONTRIBUTING.md shows, on live clusters: its scenario with all of its verbs, against its patch series."""

import json
import subprocess
import sys

import pytest

from harness.base.paths import data_root
from harness.model.events import Noted, StepChanged
from harness.rundir.journal import events_of, read_journal

pytestmark = [pytest.mark.live, pytest.mark.clusters]

SERIES = "candidates-name-the-epoch"
# A repository of which the page's series is a part; nothing is written into this one.
HARNESS = """
import sys
from pathlib import Path
from harness.base import paths
paths._INSTALLED = Path(sys.argv.pop(1))
from harness.cli import main
main()
"""


@pytest.fixture
def repository(shown_files):
    """Return the page's files with whatever else a repository holds."""
    lines = shown_files / "builds" / "lines"
    (lines / "3.9.toml").symlink_to(data_root() / "builds" / "lines" / "3.9.toml")
    for name in ("scenarios", "reports", *(f"builds/{each.name}" for each in (data_root() / "builds").iterdir())):
        if not (shown_files / name).exists():
            (shown_files / name).symlink_to(data_root() / name)
    return shown_files


@pytest.mark.whole
def test_the_pages_scenario_action_and_monitor_are_seen_in_journal_and_report(repository):
    command = ["verify", "--fresh", "--series", SERIES, "--scenarios", "my-scenarios", "--scenario", "leader-pauses"]
    done = subprocess.run(
        [sys.executable, "-c", HARNESS, repository, *command, "--tests", "none", "--no-coverage", "--out", "run"],
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (repository / "run" / "verdict.json").exists(), done.stdout + done.stderr
    verdict = json.loads((repository / "run" / "verdict.json").read_text())
    assert {run["arm"]: run["outcome"] for run in verdict["runs"]} == {"stock": "PASSED", "patched-on": "PASSED"}
    (claim,) = verdict["claims"]
    assert claim["logged"], "no voter of the patched arm logged the epoch of the leader that fell silent"
    for run in verdict["runs"]:
        assert run["measures"]["newest_epoch"] > 0
        journal = repository / "run" / "runs" / "leader-pauses" / run["arm"] / "1" / "journal.jsonl"
        events = list(events_of(read_journal(journal)))
        steps = [event.text for event in events if isinstance(event, StepChanged) and event.status == "done"]
        assert "pause the first leader (SIGSTOP)" in steps
        assert any(isinstance(event, Noted) and "the quorum came to epoch" in event.text for event in events)
    report = (repository / "run" / "report.html").read_text()
    assert "newest epoch" in report
    assert "pause the first leader (SIGSTOP)" in report
