"""Real folders of before (tests/kept): converted and judged by today's code they say what they said then.

What is held against what is the field map of docs/run-directory.md, "Folders of before".
"""

import json
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from harness.base.progress import Reporter
from harness.nightly.concluding import conclude
from harness.nightly.folder import NightFolder
from harness.nightly.merging import merge
from harness.report.verdict import read_verdict
from harness.rundir.directory import RunDirectory
from harness.stages.convert import convert
from harness.stages.judge import judge, report

JUDGED = ("ship", "hold-by-proof", "hold-by-runs", "inconclusive")
ROLLOUTS = ("rollout-held", "rollout-stopped")
QUIET = Reporter(Console(quiet=True))
RENAMED = {"HELD": "PASSED", "REFUTED": "FAILED"}


@pytest.fixture(scope="module")
def folders(kept_folders, tmp_path_factory) -> Path:
    """Return copies of all kept folders, converted and judged again by the stages themselves."""
    copies = tmp_path_factory.mktemp("converted")
    for name in (*JUDGED, *ROLLOUTS, "night-kept"):
        shutil.copytree(kept_folders / name, copies / name)
        convert(copies / name, QUIET)
    for name in JUDGED:
        judge(copies / name, QUIET)
        report(copies / name, QUIET)
    return copies


@pytest.fixture(scope="module")
def night(folders, tmp_path_factory) -> tuple[Path, object]:
    """Return the folder of the night that the four verifications are merged to, and its report."""
    out = tmp_path_factory.mktemp("night")
    merge([folders / name for name in JUDGED], out)
    return out, conclude(out, tmp_path_factory.mktemp("history") / "history.jsonl")


def read(path: Path):
    return json.loads(path.read_text())


def renamed(text: str) -> str:
    return re.sub(r"\b(HELD|REFUTED)\b", lambda found: RENAMED[found[0]], text)


@pytest.mark.parametrize("name", JUDGED)
def test_the_verdict_is_what_it_was_and_rests_on_the_same_reasons(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), read_verdict(folders / name)
    assert now["verdict"] == before["verdict"]
    assert now["reasons"] == [renamed(reason) for reason in before["reasons"]]
    assert now["against"] == renamed(before["against"])
    assert now["not_tested"] == [renamed(sentence) for sentence in before["not_tested"]]


def cells(verdict, key):
    return {
        (scenario["name"], cell["role"]): key(cell) for scenario in verdict["scenarios"] for cell in scenario["cells"]
    }


def run_again(command: str) -> set[str]:
    """Return the words of a command that asks again, in no order; a path by its file's name."""
    return {Path(word).name for word in shlex.split(command)}


@pytest.mark.parametrize("name", JUDGED)
def test_every_cell_shows_what_it_showed_and_stands_as_it_stood(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), read_verdict(folders / name)
    same = ("arm", "expectation", "reason", "agreeing", "declared")

    def shown_then(cell):
        outcome, expected = RENAMED.get(cell["state"], cell["state"]), [renamed(each) for each in cell["expected"]]
        return (outcome, expected, run_again(cell["rerun"]), *(cell[field] for field in same))

    def shown_now(cell):
        return (cell["state"], cell["expected"], run_again(cell["rerun"]), *(cell[field] for field in same))

    assert cells(now, shown_now) == cells(before, shown_then)
    kept = ("name", "question", "verdict", "effect", "inertness", "discriminates")
    assert [[row[field] for field in kept] for row in now["scenarios"]] == [
        [row[field] for field in kept] for row in before["scenarios"]
    ]


@pytest.mark.parametrize("name", JUDGED)
def test_every_run_has_its_outcome_its_evidence_and_its_check(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), read_verdict(folders / name)
    same = ("scenario", "arm", "role", "repeat", "expectation", "reason", "evidence", "seconds", "measures", "check")
    assert [(run["outcome"], *(run[field] for field in same)) for run in now["runs"]] == [
        (RENAMED.get(run["outcome"], run["outcome"]), *(run[field] for field in same)) for run in before["runs"]
    ]
    assert [file["path"] for file in now["evidence"]] == [file["path"] for file in before["evidence"]]


@pytest.mark.parametrize("name", JUDGED)
def test_every_claim_has_its_status_and_the_line_that_shows_it(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), read_verdict(folders / name)
    same = ("id", "says", "source", "scenario", "status", "foretells", "logged")
    assert [([*each["expected"].items()], *(each[field] for field in same)) for each in now["claims"]] == [
        (
            [(role, renamed(expected)) for role, expected in each["expected"].items()],
            *(each[field] for field in same),
        )
        for each in before["claims"]
    ]


@pytest.mark.parametrize("name", JUDGED)
def test_every_finding_of_the_logs_and_of_the_proof_is_there(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), read_verdict(folders / name)
    assert now["contrasts"] == before["contrasts"]
    assert now["proof"] == before["proof"]
    assert now["coverage"] == before["coverage"]
    assert now["arms"] == before["arms"]


def cases(path: Path, *, before: bool):
    """Return (suite, case, time) of a JUnit file with how each ended and what it says."""
    found = {}
    for suite in ET.parse(path).getroot():
        for case in suite:
            told = case[0]
            tag = "passed" if told.tag == "system-out" else told.tag
            message = (told.get("message") or told.text or "").strip()
            key = (suite.get("name"), case.get("classname"), case.get("name"), case.get("time"))
            found[key] = (tag, renamed(message) if before else message)
    return found


@pytest.mark.parametrize("name", JUDGED)
def test_junit_has_the_same_cases_with_the_same_results(folders, kept_folders, name):
    now = cases(folders / name / "junit.xml", before=False)
    assert now == cases(kept_folders / name / "junit.xml", before=True)


def test_the_night_of_the_four_verifications_ends_as_it_ended(night, kept_folders):
    folder, told = night
    before = read(kept_folders / "night-kept" / "night.json")
    assert {each.id: str(each.ending) for each in NightFolder(folder).night.read().ended} == {
        each["id"]: each["ending"] for each in before["ended"]
    }
    assert str(told.ending) == "HOLD"
    assert cases(folder / "junit.xml", before=False) == cases(kept_folders / "night-kept" / "junit.xml", before=True)
    assert (folder / "retry.txt").read_text() == (kept_folders / "night-kept" / "retry.txt").read_text()


def test_the_night_finds_as_much_new_as_it_found(night, kept_folders):
    folder, _ = night
    titles = re.compile(r"^## (.+) \((\d+)\)$", re.MULTILINE)
    assert titles.findall((folder / "summary.md").read_text()) == titles.findall(
        (kept_folders / "night-kept" / "summary.md").read_text()
    )


def test_a_night_of_before_is_read_once_it_is_converted(folders, kept_folders):
    before = read(kept_folders / "night-kept" / "night.json")
    now = NightFolder(folders / "night-kept").night.read()
    assert [(each.id, list(each.words), each.shard, each.seconds) for each in now.planned] == [
        tuple(each.values()) for each in before["planned"]
    ]


@pytest.mark.parametrize("name", ROLLOUTS)
def test_a_rollout_has_its_answer_its_reasons_and_what_each_rehearsal_showed(folders, kept_folders, name):
    before, now = read(kept_folders / name / "rollout.json"), RunDirectory(folders / name).rollout.read()
    assert str(now.outcome) == RENAMED.get(before["ending"], before["ending"])
    assert list(now.reasons) == before["reasons"]
    ended = {**RENAMED, "STOPPED": "FAILED"}
    assert [(each.name, str(each.result.outcome), each.result.reason) for each in now.rehearsals] == [
        (each["name"], ended.get(each["ending"], each["ending"]), each["reason"]) for each in before["rehearsals"]
    ]
    assert RunDirectory(folders / name).declaration.read().claims


def test_what_is_kept_has_every_kind_of_verdict(kept_folders):
    verdicts = Counter(read(kept_folders / name / "verdict.json")["verdict"] for name in JUDGED)
    assert verdicts == {"SHIP": 1, "HOLD": 2, "INCONCLUSIVE": 1}
