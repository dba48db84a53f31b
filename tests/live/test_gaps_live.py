"""The incident and the gaps on real clusters: what each build shows is what docs/gaps.md says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from gap_rows import BUILDS, said_of, unlike

from harness.model.events import Noted
from harness.rundir.journal import events_of, read_journal

pytestmark = [pytest.mark.live, pytest.mark.clusters]
PAGE = (Path(__file__).parent.parent.parent / "docs" / "gaps.md").read_text(encoding="utf-8")


def verified(folder: Path, *words: str) -> dict[tuple[str, str], dict[str, str]]:
    command = [sys.executable, "-c", "from harness.cli import main; main()", "verify", *words]
    done = subprocess.run(
        [*command, "--fresh", "--tests", "none", "--no-coverage", "--out", "run"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert (folder / "run" / "verdict.json").exists(), done.stdout + done.stderr
    runs = json.loads((folder / "run" / "verdict.json").read_text())["runs"]
    return {(run["scenario"], run["arm"]): run for run in runs}


@pytest.mark.whole
def test_the_incident_loses_stock_after_every_configured_address_was_tried_and_not_the_patch(tmp_path):
    runs = verified(tmp_path, "--scenario", "voters-replaced", "--arms", "base,on")
    assert {arm: (run["outcome"], run["expectation"]) for (_, arm), run in runs.items()} == {
        "stock": ("FAILED", "observer_recovers"),
        "patched-on": ("PASSED", ""),
    }
    folder = tmp_path / "run" / "runs" / "voters-replaced" / "stock" / "1"
    reason = json.loads((folder / "result.json").read_text())["reason"]
    assert "it warned that 3 of the 3 addresses of its configuration cannot be reached" in reason
    notes = [event.text for event in events_of(read_journal(folder / "journal.jsonl")) if isinstance(event, Noted)]
    counts = [int(note[0]) for note in notes if "configured addresses are right" in note]
    assert counts == [2, 1, 0]


@pytest.mark.whole
@pytest.mark.parametrize("series", BUILDS[1:])
def test_each_gap_is_as_the_page_says(series, tmp_path):
    runs = verified(tmp_path, "--series", series, "--suite", "gaps", "--arms", "base,on")
    build = {"stock": "stock", "patched-on": series}
    found = {(scenario, arm): unlike(said_of(PAGE, scenario, build[arm]), run) for (scenario, arm), run in runs.items()}
    assert {cell: otherwise for cell, otherwise in found.items() if otherwise} == {}
