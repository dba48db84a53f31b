"""What is expected of Kafka as it is, where there is no candidate: one answer, wherever it is told."""

import json
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
import sample_run
from still_cluster import STOCK

from harness.base.json import to_json
from harness.base.paths import data_root
from harness.cli import app as cli
from harness.judge.decision import decide
from harness.judge.expectations import answer_of
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.expectations import Met, MetCell
from harness.model.runs import Outcome, RunResult, Verdict
from harness.model.verdict import Check
from harness.model.verdict_schema import check_record
from harness.report import write_reports
from harness.report.annotations import of_verdict
from harness.report.context import report_context
from harness.report.github import Level
from harness.report.run_cases import render_runs
from harness.rundir.directory import RunDirectory
from harness.scenario import fails, kraft, scenario
from harness.scenario.registry import load_all
from harness.scenario.steps import Expect
from harness.stages.judge import judge_run

BUILD = Build("stock", "3.9.1", "x.jar", STOCK.sha256, "release", Flag("", known=False))
SCENARIOS = (
    DeclaredScenario("one"),
    DeclaredScenario("two", expected="FAILED(nothing_lost)", known="KAFKA-1"),
    DeclaredScenario("three"),
)
ALONE = Declaration(SCHEMA, "3.9.1", (Arm("stock", Role.BASE, BUILD, "absent"),), SCENARIOS, 1)


def result(name, outcome, expectation="", repeat=1, **more):
    return RunResult(name, "stock", Role.BASE, repeat, outcome, expectation, **more)


@pytest.mark.parametrize(
    ("expected", "shown", "met"),
    [
        ("PASSED", [(Outcome.PASSED, "")], Met.EXPECTED),
        ("PASSED", [(Outcome.FAILED, "nothing_lost")], Met.UNEXPECTED),
        ("PASSED", [(Outcome.PASSED, ""), (Outcome.FAILED, "nothing_lost")], Met.UNEXPECTED),
        ("FAILED(nothing_lost)", [(Outcome.FAILED, "nothing_lost")], Met.EXPECTED),
        ("FAILED(nothing_lost)", [(Outcome.FAILED, "node_alive")], Met.UNEXPECTED),
        ("FAILED(nothing_lost)", [(Outcome.PASSED, "")], Met.UNEXPECTED),
        ("PASSED", [(Outcome.INCONCLUSIVE, "is_up")], Met.UNDECIDED),
        ("PASSED", [(Outcome.PASSED, ""), (Outcome.INCONCLUSIVE, "host_not_starved")], Met.UNDECIDED),
        ("PASSED", [(Outcome.FAILED, "x"), (Outcome.INCONCLUSIVE, "host_not_starved")], Met.UNEXPECTED),
        ("PASSED", [(Outcome.UNSUPPORTED, "")], Met.UNDECIDED),
        ("PASSED", [], Met.UNDECIDED),
        ("PASSED", [(Outcome.BROKEN, "")], Met.UNDECIDED),
    ],
)
def test_a_cell_is_as_expected_or_not_or_nobody_can_tell(expected, shown, met):
    declared = replace(ALONE, scenarios=(DeclaredScenario("one", expected=expected),), repeats=max(len(shown), 1))
    results = [result("one", *each, repeat=number) for number, each in enumerate(shown, 1)]
    assert decide(declared, results, None).answer is met


RESULTS = [result("one", Outcome.FAILED, "x"), result("two", Outcome.FAILED, "nothing_lost")]


def test_every_cell_is_told_with_what_was_expected_of_it():
    assert [str(cell) for cell in decide(ALONE, RESULTS, None).expectations.cells] == [
        "one on stock: FAILED(x), not PASSED: UNEXPECTED",
        "two on stock: FAILED(nothing_lost) (known: KAFKA-1): EXPECTED",
        "three on stock: MISSING, not PASSED: UNDECIDED",
    ]


def of(*mets):
    return [MetCell("s", "stock", "PASSED", "PASSED", met) for met in mets]


@pytest.mark.parametrize(
    ("cells", "answer", "code"),
    [
        (of(Met.EXPECTED, Met.EXPECTED), Met.EXPECTED, 0),
        (of(Met.EXPECTED, Met.UNDECIDED), Met.UNDECIDED, 3),
        (of(Met.UNEXPECTED, Met.UNDECIDED), Met.UNEXPECTED, 1),
        ([], Met.UNDECIDED, 3),
    ],
)
def test_one_unexpected_cell_outweighs_one_that_is_undecided(cells, answer, code):
    assert (answer_of(cells), answer.exit_code) == (answer, code)


def test_the_record_has_the_answer_its_reasons_and_what_speaks_against_it_and_says_nothing_of_a_rollout():
    record = decide(ALONE, RESULTS, None)
    check_record(record)
    told = json.loads(to_json(record))
    assert (told["verdict"], told["expectations"]["answer"]) == ("INCONCLUSIVE", "UNEXPECTED")
    assert record.sentence == "1 of 3 cells show what is expected of stock. There is no candidate."
    assert [reason.sentence for reason in record.reasons if reason.weight] == [
        "one on stock: FAILED(x), not PASSED: UNEXPECTED",
        "three on stock: MISSING, not PASSED: UNDECIDED",
    ]
    assert record.against.endswith("Each scenario ran once per arm, so a single unlucky run would look the same.")
    assert record.not_tested == ("three on stock: MISSING.",)


@pytest.mark.parametrize(
    ("results", "against"),
    [
        ([*RESULTS[1:], result("one", Outcome.PASSED), result("three", Outcome.PASSED)], "a fault that shows only in"),
        ([*RESULTS[1:], result("one", Outcome.PASSED)], "Nothing that could be decided is unexpected: 2 cells."),
        ([], "None: nothing was decided."),
    ],
)
def test_each_answer_has_a_reason_against_it(results, against):
    assert against in decide(ALONE, results, None).against


def test_with_a_candidate_the_record_has_no_expectations():
    record = decide(sample_run.declaration(), [], None)
    assert (record.expectations, record.answer) == (None, Verdict.INCONCLUSIVE)


def test_a_run_is_checked_by_what_is_expected_of_stock_for_whoever_tells_of_it():
    crashed = [result("one", Outcome.FAILED, "node_alive"), RESULTS[1], result("three", Outcome.INCONCLUSIVE, "is_up")]
    record = decide(ALONE, crashed, None)
    assert [run.check for run in record.runs] == [Check.FAILED, Check.EXPECTED_FAILURE, Check.ERROR]
    root = ET.fromstring(render_runs(record))
    assert root.get("name") == "verdict UNEXPECTED"
    assert [case[0].tag for case in root.iter("testcase")] == ["failure", "system-out", "error"]


def test_on_github_the_answer_comes_first_and_then_what_was_not_expected():
    crashed = [replace(RESULTS[0], evidence=sample_run.contrasts("ship")[1].findings[0].evidence), RESULTS[1]]
    answer, *places = of_verdict(decide(ALONE, crashed, None), "out/x")
    assert (answer.level, answer.title) == (Level.ERROR, "UNEXPECTED")
    assert "one on stock: FAILED(x), not PASSED: UNEXPECTED" in answer.message
    assert [(each.level, each.title) for each in places] == [(Level.ERROR, "one on stock: FAILED(x)")]
    (fine,) = of_verdict(decide(replace(ALONE, scenarios=SCENARIOS[1:2]), RESULTS[1:], None), "out/x")
    assert (fine.level, fine.title) == (Level.NOTICE, "EXPECTED")


@pytest.fixture
def suite(tmp_path):
    """Return the folder of a suite without a candidate: on stock `new-mechanism` and others fail, as real runs do."""
    directory = RunDirectory(sample_run.write_sample(tmp_path / "run"))
    declared = directory.declaration.read()
    stock = tuple(arm for arm in declared.arms if arm.role is Role.BASE)
    directory.declaration.write(replace(declared, arms=stock, claims=()))
    return directory


def test_an_unexpected_run_is_shown_at_once_and_in_its_colour(suite):
    record = judge_run(suite)
    write_reports(suite, record)
    journals = {
        run.key.folder: sample_run.journal(run.scenario, record.arms[0], 1, run.outcome, "") for run in record.runs
    }
    shown = report_context(record, journals)
    failed = {run.scenario for run in record.runs if run.outcome is Outcome.FAILED}
    assert failed
    tones = {group.title: (group.expanded, group.shown[0].tone) for group in shown.timelines}
    assert {tones[name] for name in failed} == {(True, "bad")}
    standings = {row.name: row.cells[0].standing for row in shown.rows}
    assert {standings[name] for name in failed} == {"not as expected"}
    assert "PASSED is expected" in suite.report.read_text()


def test_the_page_says_what_speaks_against_the_answer_what_would_have_been_noticed_and_what_was_not_tested(suite):
    page = write_reports(suite, judge_run(suite)).read_text()
    assert "Strongest reason against UNEXPECTED" in page
    assert "A Kafka that shows anything but what is expected of it, by name: 3 cells were decided." in page
    assert "What was not tested" in page
    assert "INCONCLUSIVE" not in page


@pytest.mark.parametrize(("expected", "answer", "code"), [("PASSED", "UNEXPECTED", 1), ("", "EXPECTED", 0)])
def test_judging_again_ends_with_the_answer_of_the_verification(suite, monkeypatch, capsys, expected, answer, code):
    record = judge_run(suite)
    declared = suite.declaration.read()
    scenarios = tuple(
        replace(each, expected=expected or str(record.runs_of(each.name, "stock")[0].label))
        for each in declared.scenarios
    )
    suite.declaration.write(replace(declared, scenarios=scenarios))
    monkeypatch.setattr("harness.stages.judge.check_results", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["harness", "judge", str(suite.path), "-o", "json"])
    assert cli._run() == code
    assert json.loads(capsys.readouterr().out)["expectations"]["answer"] == answer


def test_a_known_defect_that_does_not_show_is_named():
    cells = decide(ALONE, [result("two", Outcome.PASSED)], None).expectations.cells
    assert str(cells[1]) == "two on stock: PASSED, not FAILED(nothing_lost), known: KAFKA-1: UNEXPECTED"


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ("3.9.1", "FAILED(x)"),
        ("3.9.1-p1", "FAILED(x)"),
        ("4.1.10", "FAILED(x)"),
        ("4.2.0", "PASSED"),
        ("4.10.0", "PASSED"),
    ],
)
def test_a_defect_is_expected_of_the_releases_that_have_it(version, shown):
    known = scenario(
        kraft(controllers=1, observers=0), suite="s", budget="1m", expected=fails("x", known="KAFKA-1", before="4.2")
    )(asks)
    failure = known.failure_of(version)
    assert (failure.label if failure else "PASSED") == shown


def asks(plan, cluster):
    """Does it?"""


@pytest.mark.parametrize("each", [each for each in load_all().values() if each.expected], ids=lambda each: each.name)
def test_what_stock_is_known_to_fail_is_asked_by_the_scenario_and_described(each):
    steps = [step for outer in each.plan().steps for step in (outer, *getattr(outer, "steps", ()))]
    assert each.expected.expectation in {step.named for step in steps if isinstance(step, Expect)}
    assert each.expected.known.startswith("KAFKA-") or (data_root() / each.expected.known).is_file()


@pytest.mark.parametrize("expected", ["PASSED", "FAILED(x)"])
def test_what_stock_cannot_show_is_refused_when_the_scenario_is_written(expected):
    with pytest.raises(TypeError, match="nothing that stock can show"):
        scenario(kraft(controllers=1, observers=0), suite="s", budget="1m", expected=expected)
    with pytest.raises(ValueError, match="nothing that stock can fail"):
        fails(expected)
    with pytest.raises(ValueError, match="is no release"):
        fails("x", before="next")
