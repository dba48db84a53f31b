"""A second `harness verify` of the same jar: what it takes over, what it says of it, and when it does not."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.paths import cache_root

pytestmark = [pytest.mark.live, pytest.mark.clusters, pytest.mark.whole]

SHORT = ("--scenario", "new-mechanism", "--arms", "base,on", "--tests", "none", "--no-coverage", "--builder", "ecj")
UNDECIDED = 3  # of one scenario on two arms: what the series claims is asked of more


def harness(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-c", "from harness.cli import main; main()", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def verdict_of(folder: Path):
    return json.loads((folder / "verdict.json").read_text())


def taken_over(verdict):
    return {(run["scenario"], run["arm"]) for run in verdict["runs"] if run["origin"]}


def shown(verdict):
    return {(run["scenario"], run["arm"]): (run["outcome"], run["expectation"]) for run in verdict["runs"]}


def test_a_second_verification_of_the_shipped_series_runs_the_candidate_alone(
    shipped_verification, tests_of_series, tmp_path
):
    first, _ = shipped_verification
    before = verdict_of(first)
    done = harness("verify", "--profile-time", "--out", "again", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    again = verdict_of(tmp_path / "again")
    assert (again["verdict"], shown(again)) == ("SHIP", shown(before))
    assert taken_over(before) == set()
    assert taken_over(again) == {(name, "stock") for name in ("new-mechanism", "turn1", "turn2")}
    assert {run["origin"]["made_in"] for run in again["runs"] if run["origin"]} == {str(first)}
    assert again["proof"]["tests"]["origin"]["made_in"] == str(first)
    assert before["coverage"]["gap"] == "", "what was not wholly measured is not taken over"
    assert again["coverage"]["origin"]["made_in"] == str(first)
    for part in ("differences", "audit", "chains", "changed_methods"):
        assert again["proof"][part] == before["proof"][part], part
    assert again["coverage"]["lines"] == before["coverage"]["lines"]
    assert before["costs"]
    assert again["costs"] == []
    assert any(gap.startswith("Costs were not judged in ") for gap in again["not_tested"])
    (told,) = again["reused"]
    assert told in " ".join(done.stdout.split())
    assert "3 runs of stock" in told
    assert f" {tests_of_series} tests that passed on it" in told
    assert "the record of which changed lines are reached" in told
    assert "tests, 0 failed" not in done.stdout
    assert "JaCoCo" not in done.stdout
    assert {(each["base"], each["candidate"]) for each in again["contrasts"]} >= {("stock", "patched-on")}
    assert all(each["findings"] for each in again["contrasts"] if each["candidate"] == "patched-on")
    _has_the_chart(tmp_path / "again")
    resumed = harness("verify", "--resume", "again", cwd=tmp_path)
    assert "no runs on live clusters are left to do" in resumed.stdout, resumed.stdout + resumed.stderr
    assert verdict_of(tmp_path / "again")["reused"] == [told]


def _has_the_chart(folder: Path):
    spans = json.loads((folder / "time.json").read_text())["spans"]
    assert len([span for span in spans if span["kind"] == "run"]) == 6, "those of base were made before"
    assert {"build", "prove", "prepare", "run", "diff", "judge"} <= {s["name"] for s in spans if s["kind"] == "stage"}
    assert {"Spark starts", "logs are read"} <= {span["name"] for span in spans if span["kind"] == "part"}
    assert all(span["cpu_seconds"] > 0 for span in spans if span["kind"] == "run")
    page = (folder / "report.html").read_text()
    assert '<svg class="timeline gantt"' in page
    assert "turn2 on patched-on" in page[page.index('id="spans-caption"') :]


def test_base_runs_anew_with_fresh_and_where_what_was_kept_is_damaged(tmp_path):
    first = harness("verify", "--fresh", *SHORT, "--out", "first", cwd=tmp_path)
    assert first.returncode == UNDECIDED, first.stdout + first.stderr
    entry = _kept_of(tmp_path / "first")
    journal = entry / "content/runs/new-mechanism/stock/1/journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"FAILED", b"PASSED"))
    damaged = harness("verify", *SHORT, "--out", "damaged", cwd=tmp_path)
    assert damaged.returncode == UNDECIDED, damaged.stdout + damaged.stderr
    said = " ".join(damaged.stdout.split())
    assert "new-mechanism: base is run again. " in said
    assert "was damaged and is removed: " in said
    assert taken_over(verdict_of(tmp_path / "damaged")) == set()
    assert verdict_of(tmp_path / "damaged")["costs"]

    again = harness("verify", *SHORT, "--out", "again", cwd=tmp_path)
    assert again.returncode == UNDECIDED, again.stdout + again.stderr
    verdict = verdict_of(tmp_path / "again")
    assert taken_over(verdict) == {("new-mechanism", "stock")}
    assert {run["origin"]["made_in"] for run in verdict["runs"] if run["origin"]} == {str(tmp_path / "damaged")}
    seal = json.loads((tmp_path / "again/runs/new-mechanism/stock/1/seal.json").read_text())
    copied = (tmp_path / "again/runs/new-mechanism/stock/1/journal.jsonl").read_bytes()
    assert hashlib.sha256(copied).hexdigest() == seal["journal"]

    fresh = harness("verify", "--fresh", *SHORT, "--out", "fresh", cwd=tmp_path)
    assert fresh.returncode == UNDECIDED, fresh.stdout + fresh.stderr
    assert taken_over(verdict_of(tmp_path / "fresh")) == set()
    assert verdict_of(tmp_path / "fresh")["reused"] == []
    assert shown(verdict_of(tmp_path / "fresh")) == shown(verdict)


def _kept_of(folder: Path) -> Path:
    """Return the entry with runs that a verification has left."""
    found = [
        listed.parent
        for listed in (cache_root() / "results").glob("*/kept.json")
        if json.loads(listed.read_text())["origin"]["made_in"] == str(folder)
    ]
    (entry,) = [each for each in found if (each / "content/runs").is_dir()]
    return entry
