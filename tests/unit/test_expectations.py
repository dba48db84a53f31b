"""What is expected of Kafka as it is, where there is no candidate to compare with it."""

import pytest
from still_cluster import STOCK

from harness.base.paths import data_root
from harness.judge.decision import decide
from harness.judge.expectations import Met, MetCell, all_met, exit_code, met_by, met_cells
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.runs import Outcome, RunResult
from harness.model.verdict import CellOutcome, CellState
from harness.scenario import fails, kraft, scenario
from harness.scenario.registry import load_all
from harness.scenario.steps import Expect

BUILD = Build("stock", "3.9.1", "x.jar", STOCK.sha256, "release", Flag("", known=False))
SCENARIOS = (
    DeclaredScenario("one"),
    DeclaredScenario("two", expected="FAILED(nothing_lost)", known="KAFKA-1"),
    DeclaredScenario("three"),
)
ALONE = Declaration(SCHEMA, "3.9.1", (Arm("stock", Role.BASE, BUILD, "absent"),), SCENARIOS, 1)


@pytest.mark.parametrize(
    ("expected", "cell", "met"),
    [
        ("PASSED", CellOutcome(CellState.PASSED), Met.EXPECTED),
        ("PASSED", CellOutcome(CellState.FAILED, "nothing_lost"), Met.UNEXPECTED),
        ("PASSED", CellOutcome(CellState.UNSTABLE), Met.UNEXPECTED),
        ("FAILED(nothing_lost)", CellOutcome(CellState.FAILED, "nothing_lost"), Met.EXPECTED),
        ("FAILED(nothing_lost)", CellOutcome(CellState.FAILED, "node_alive"), Met.UNEXPECTED),
        ("FAILED(nothing_lost)", CellOutcome(CellState.PASSED), Met.UNEXPECTED),
        ("PASSED", CellOutcome(CellState.INCONCLUSIVE, "is_up"), Met.UNDECIDED),
        ("PASSED", CellOutcome(CellState.UNSUPPORTED), Met.UNDECIDED),
        ("PASSED", CellOutcome(CellState.MISSING), Met.UNDECIDED),
        ("PASSED", CellOutcome(CellState.BROKEN), Met.UNDECIDED),
    ],
)
def test_a_cell_is_as_expected_or_not_or_nobody_can_tell(expected, cell, met):
    assert met_by(expected, cell) is met


def result(name, outcome, expectation=""):
    return RunResult(name, "stock", Role.BASE, 1, outcome, expectation)


def test_every_cell_is_told_with_what_was_expected_of_it():
    results = [result("one", Outcome.FAILED, "x"), result("two", Outcome.FAILED, "nothing_lost")]
    cells = met_cells(ALONE, decide(ALONE, results, None))
    assert [str(cell) for cell in cells] == [
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
    assert (all_met(cells), exit_code(answer)) == (answer, code)


def test_a_known_defect_that_does_not_show_is_named():
    cells = met_cells(ALONE, decide(ALONE, [result("two", Outcome.PASSED)], None))
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
