"""Real folders of before (tests/kept): converted and judged by today's code they say what they said then.

What is held against what is the field map of docs/run-directory.md, "Folders of before".
"""

import json
import re
import runpy
import shlex
import shutil
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.judge.decision import NOT_ROLLED
from harness.judge.reasons import rests_on
from harness.model.runs import Outcome, Verdict
from harness.model.verdict import Check, ReasonSource, VerdictRecord
from harness.nightly.concluding import conclude
from harness.nightly.folder import NightFolder
from harness.nightly.merging import merge
from harness.rundir.directory import RunDirectory
from harness.stages.convert import convert
from harness.stages.judge import judge, report

ROOT = Path(__file__).parents[2]
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


# How the sentences that the kept verdicts rest on, and those against them, are worded now.
REWORDED = (
    (
        r"(\S+): (\S+) is REFUTED\((\w+)\) and (\S+) held, which supports the claim (\S+)\.",
        r"\1: \2 fails \3 and \4 passes, as the claim \5 says.",
    ),
    (
        r"(\S+): (\S+) held and \S+ held; it does not discriminate, so it proves nothing about the patch\.",
        r"\1 passes on \2 too, so it is no evidence for the patch.",
    ),
    (
        r"is refuted: (\S+) is REFUTED\((\w+)\) (.+); (\S+) is REFUTED\((\w+)\)\.",
        r"is refuted: \1 fails \2 \3; \4 fails \5.",
    ),
    (r"^The jar is no sound drop-in: ", "Not a drop-in: "),
    (r"^What could be decided does not speak against", "Nothing that could be decided speaks against"),
    (
        r"Each cell ran once: a fault that shows in only some runs",
        "Each scenario ran once per arm: a fault that shows only in some runs",
    ),
    (r"some runs can have been missed", "some runs may have been missed"),
    (r"Each cell ran once, so", "Each scenario ran once per arm, so"),
)


def reworded(sentence: str) -> str:
    for then, now in REWORDED:
        sentence = re.sub(then, now, sentence)
    return sentence


def renamed(text: str) -> str:
    return re.sub(r"\b(HELD|REFUTED)\b", lambda found: RENAMED[found[0]], text)


def judged(folders: Path, name: str) -> VerdictRecord:
    return RunDirectory(folders / name).verdict.read()


# A promise of which nothing was shown is a gap by now.
SINCE = {
    "hold-by-proof": [
        "The claim refresh-is-no-alarm is untested: "
        "There are no sources, and the order of instructions does not tell it."
    ]
}
# Figures of runs that a fix turned: nothing said so then.
_TURNED = (
    "Not compared with stock: 8 figures of {} in new-mechanism and turn2, because the runs were not decided in the "
    "same way."
)
NOT_TESTED_SINCE = {
    "ship": [_TURNED.format("patched-on")],
    "hold-by-proof": [*SINCE["hold-by-proof"], _TURNED.format("jar-on")],
}
NOBODY_MEASURED = (
    "The smallest defect that this suite would have noticed is not known: it was not measured for this release line "
    "and these JVM settings (`harness power`)."
)
# What the proof alone holds back was no bad luck of one run.
NO_CHANCE = {"hold-by-proof": " Each scenario ran once per arm, so a single unlucky run would look the same."}


@pytest.mark.parametrize("name", JUDGED)
def test_the_verdict_is_what_it_was_and_rests_on_the_same_reasons(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), judged(folders, name)
    assert now.verdict == before["verdict"]
    reasons = [reworded(reason) for reason in before["reasons"]]
    assert [*rests_on(now.verdict, now.reasons)] == [*reasons, *SINCE.get(name, [])]
    assert now.against == reworded(before["against"]).removesuffix(NO_CHANCE.get(name, ""))
    said = [reworded(sentence) for sentence in before["not_tested"]]
    unknown = [NOT_ROLLED, NOBODY_MEASURED] * (now.verdict is Verdict.SHIP)
    assert [*now.not_tested] == [*NOT_TESTED_SINCE.get(name, []), *said, *unknown]


SOURCES = (
    (r"The jar is no sound drop-in", ReasonSource.PROOF),
    (r"The claim \S+ is untested", ReasonSource.CLAIM),
    (r"[\w-]+: ", ReasonSource.EFFECT),
)


@pytest.mark.parametrize("name", JUDGED)
def test_every_reason_has_its_source_its_weight_and_its_scenario(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), judged(folders, name)
    found = {(each.source, each.weight, each.cell.scenario if each.cell else "") for each in now.reasons}
    for sentence in before["reasons"]:
        source = next(source for pattern, source in SOURCES if re.match(pattern, sentence))
        scenario = {ReasonSource.EFFECT: sentence.partition(":")[0], ReasonSource.PROOF: ""}.get(source)
        weights = {weight for of, weight, about in found if of is source and scenario in (None, about)}
        assert before["verdict"] in weights, sentence
    assert {about: weight for of, weight, about in found if of is ReasonSource.EFFECT} == {
        row["name"]: row["verdict"] for row in before["scenarios"]
    }


def run_again(command: str) -> set[str]:
    """Return the words of a command that asks again, in no order; a path by its file's name."""
    return {Path(word).name for word in shlex.split(command)}


@pytest.mark.parametrize("name", JUDGED)
def test_every_cell_shows_what_it_showed(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), judged(folders, name)
    same = ("role", "arm", "expectation", "reason", "agreeing", "declared")
    assert [
        (
            row.name,
            cell.state,
            [str(each) for each in cell.expected],
            run_again(cell.rerun),
            *(getattr(cell, field) for field in same),
        )
        for row in now.scenarios
        for cell in row.cells
    ] == [
        (
            row["name"],
            RENAMED.get(cell["state"], cell["state"]),
            [renamed(each) for each in cell["expected"]],
            run_again(cell["rerun"]),
            *(cell[field] for field in same),
        )
        for row in before["scenarios"]
        for cell in row["cells"]
    ]
    kept = ("name", "question", "verdict", "effect", "inertness", "discriminates")
    assert [[getattr(row, field) for field in kept] for row in now.scenarios] == [
        [row[field] for field in kept] for row in before["scenarios"]
    ]


@pytest.mark.parametrize("name", JUDGED)
def test_every_cell_stands_on_the_page_as_it_stood(folders, kept_folders, name):
    standing = re.compile(r'<p class="standing">(.+?)</p>')
    now, before = ((folder / name / "report.html").read_text() for folder in (folders, kept_folders))
    as_then = [each.replace("expected failure", "as claimed") for each in standing.findall(now)]
    assert as_then == standing.findall(before) != []
    failures = [cell for row in judged(folders, name).scenarios for cell in row.cells if cell.is_expected_failure]
    assert now.count('<p class="standing">expected failure') == len(failures)


@pytest.mark.parametrize("name", JUDGED)
def test_every_run_has_its_outcome_its_evidence_and_its_check(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), judged(folders, name)
    same = ("scenario", "arm", "role", "repeat", "expectation", "reason", "seconds", "measures")

    def evidence(places):
        return [(each["path"], each["line"], each["excerpt"]) for each in places]

    def shown_now(run):
        check = "passed" if run.check.is_fine else run.check.value
        places = [(each.path, each.line, each.excerpt) for each in run.evidence]
        return (run.outcome, check, places, *(getattr(run, field) for field in same))

    def shown_then(run):
        outcome = RENAMED.get(run["outcome"], run["outcome"])
        return (outcome, run["check"], evidence(run["evidence"]), *(run[field] for field in same))

    assert list(map(shown_now, now.runs)) == list(map(shown_then, before["runs"]))
    assert [file.path for file in now.evidence] == [file["path"] for file in before["evidence"]]
    expected_failures = [run.outcome for run in now.runs if run.check is Check.EXPECTED_FAILURE]
    assert set(expected_failures) <= {Outcome.FAILED}


@pytest.mark.parametrize("name", JUDGED)
def test_every_claim_has_its_status_and_the_line_that_shows_it(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), judged(folders, name)
    shown = [
        (
            {str(role): str(each) for role, each in claim.expected.items()},
            (claim.id, claim.text, claim.source, claim.scenario, str(claim.status), claim.expected_log),
            claim.logged and vars_of(claim.logged),
        )
        for claim in now.claims
    ]
    assert shown == [
        (
            {role: renamed(expected) for role, expected in claim["expected"].items()},
            tuple(claim[field] for field in ("id", "says", "source", "scenario", "status", "foretells")),
            claim["logged"],
        )
        for claim in before["claims"]
    ]


def vars_of(record):
    """Return a record as the plain document that it is in JSON."""
    return json.loads(to_json(record))


@pytest.mark.parametrize("name", JUDGED)
def test_every_finding_of_the_logs_is_there(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), judged(folders, name)
    names = {"role": "node_kind", "says": "detail", "q": "fdr"}
    for contrast in before["contrasts"]:
        contrast["findings"] = [
            {names.get(field, field): value for field, value in finding.items()} | {"stock": None}
            for finding in contrast["findings"]
        ]
        contrast |= {"renamed": [], "of_two_kafkas": False}  # nobody compared versions then
    assert vars_of(now.contrasts) == before["contrasts"]


@pytest.mark.parametrize("name", JUDGED)
def test_the_proof_the_coverage_and_the_arms_are_what_they_were(folders, kept_folders, name):
    before, now = read(kept_folders / name / "verdict.json"), judged(folders, name)
    for part, field in (("differences", "detail"), ("audit", "detail"), ("chains", "text")):
        for each in before["proof"][part]:
            each[field] = each.pop("says")
    for chain in before["proof"]["chains"]:
        chain["level"] = "info"  # what a claim that does not say expects of its line
    before["proof"]["tests"]["origin"] = None  # nothing was taken over then
    assert vars_of(now.proof) == {**before["proof"], "changed_methods": [], "kafka": "", "simulation": None}
    if now.coverage:
        before["coverage"] |= {"methods": [], "origin": None}  # nobody asked for them then, nor took any over
    assert (vars_of(now.coverage) if now.coverage else None) == before["coverage"]
    flattened = [
        (arm.name, arm.role, arm.flag, arm.java, arm.build.name, arm.build.jar_sha256, arm.build.flag.default)
        for arm in now.arms
    ]
    fields = ("name", "role", "flag", "java", "build", "jar_sha256", "flag_default")
    assert flattened == [tuple(arm[field] for field in fields) for arm in before["arms"]]


def cases(path: Path, *, before: bool):
    """Return (suite, case, time) of a JUnit file with how each ended and what it says."""
    found = {}
    for suite in ET.parse(path).getroot():
        if suite.get("name").rpartition("/")[2] == "verdict":
            continue  # what no run shows had no case before
        for case in suite:
            output = case[0]
            tag = "passed" if output.tag == "system-out" else output.tag
            message = (output.get("message") or output.text or "").strip().removeprefix("expected failure: ")
            key = (suite.get("name"), case.get("classname"), case.get("name"), case.get("time"))
            found[key] = (tag, renamed(message) if before else message)
    return found


@pytest.mark.parametrize("name", JUDGED)
def test_junit_has_the_same_cases_with_the_same_results(folders, kept_folders, name):
    now = cases(folders / name / "junit.xml", before=False)
    assert now == cases(kept_folders / name / "junit.xml", before=True)


def test_the_night_of_the_four_verifications_ends_as_it_ended(night, kept_folders):
    folder, output = night
    before = read(kept_folders / "night-kept" / "night.json")
    assert {each.id: str(each.outcome) for each in NightFolder(folder).night.read().ended} == {
        each["id"]: each["ending"] for each in before["ended"]
    }
    assert str(output.outcome) == "HOLD"
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
    assert [(each.id, list(each.arguments), each.shard, each.seconds) for each in now.planned] == [
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
    assert now.knows_zookeeper is ("## Topic ids" in RunDirectory(folders / name).runbook.read_text("utf-8"))


def test_what_is_kept_has_every_kind_of_verdict(kept_folders):
    verdicts = Counter(read(kept_folders / name / "verdict.json")["verdict"] for name in JUDGED)
    assert verdicts == {"SHIP": 1, "HOLD": 2, "INCONCLUSIVE": 1}


def test_no_kept_run_breaks_a_rule_of_raft(folders, capsys):
    replay = runpy.run_path(str(ROOT / "benchmarks" / "raft_rules.py"))
    assert replay["main"]([str(folders / name) for name in ("ship", "hold-by-runs", *ROLLOUTS)]) == 0
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[-6:-4] for line in table[1:]] == [["12", "0"], ["5", "0"]]
