"""Mutants: their folder, what must notice each, and the table of what did."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from harness.base.errors import HarnessError
from harness.cluster.conformance.rules import RULES, Rule
from harness.cluster.metadata_log import broken
from harness.model import outcome_names
from harness.model.detection import Caught, Detection, Expected, Ground, Part
from harness.model.runs import Verdict
from harness.model.verdict import Reason, ReasonSource
from harness.scenario.registry import load_all
from harness.scenario.steps import Expect, Guard, OnlyIf, Step
from harness.stages.detection_table import sentence, summary, table
from harness.stages.growing import load_growing
from harness.stages.mutant_folder import load_mutants
from harness.stages.rounds import stage_of

SHIPPED = Path(__file__).parent.parent / "mutants"
BOTH = tuple(Part)
COSTS = Caught("costs", "node 3: 98 % of a core on the raft I/O thread", "idle")
LOST = Caught("scenarios", "loss: regression: jar fails committed_stays; stock passes.", "loss")


def folder(where: Path, described: str, *patches: str) -> Path:
    for name in patches:
        (where / f"{name}.patch").write_text(f"Description: {name} is wrong\n---\n")
    (where / "mutants.toml").write_text(f'base = "stock"\n{described}')
    return where


def described(name: str, more: str = "") -> str:
    return f'[mutant.{name}]\nexpects = "It shows."\nby = ["costs"]\n{more}\n'


def row(expected: Expected, *caught: Caught, undecided: str = "", without: tuple[Part, ...] = ()) -> Detection:
    return Detection("m", "does|", expected, caught, undecided, without)


@pytest.mark.parametrize(
    ("expected", "caught", "without", "settled"),
    [
        (Expected("x"), (COSTS,), (), True),
        (Expected("x"), (), (), False),
        (Expected("x", survives="Equivalent: nobody calls it."), (), (), True),
        (Expected("x", survives="Equivalent: nobody calls it."), (COSTS,), (), False),
        (Expected("x", unreachable="Out of reach: by chance."), (), (), False),
        (Expected("x", unreachable="Out of reach: by chance."), (), (Part.TESTS,), False),
        (Expected("x", unreachable="Out of reach: by chance."), (), BOTH, True),
        (Expected("x", unreachable="Out of reach: by chance."), (COSTS,), BOTH, True),
    ],
)
def test_a_mutant_is_noticed_or_excused_and_what_nothing_can_notice_is_not_noticed(
    expected, caught, without, settled: bool
) -> None:
    assert row(expected, *caught, without=without).settled is settled


def test_a_mutant_that_could_not_be_tested_was_neither_noticed_nor_did_it_survive() -> None:
    undecided = row(Expected("x", survives="Equivalent: y"), undecided="the host starved")
    assert not undecided.settled
    assert "| m | does\\| | **undecided** | the host starved | x |" in table([undecided])


@pytest.mark.parametrize(
    ("by", "as_expected"),
    [(("costs",), False), (("scenarios",), True), (("committed_stays",), True), (("epoch_never_falls", "loss"), True)],
)
def test_a_reason_is_as_expected_by_its_stage_or_by_what_it_names(by, as_expected: bool) -> None:
    assert row(Expected("x", by), LOST).as_expected is as_expected


def test_the_table_shows_what_noticed_a_mutant_where_and_whether_that_was_expected() -> None:
    found = [
        row(Expected("A core burns.", ("costs",)), COSTS),
        row(Expected("A core burns.", ("costs",)), LOST),
        row(Expected("Never.", survives="Equivalent: nobody calls it.")),
    ]
    assert table(found).splitlines()[2:5] == [
        "| m | does\\| | costs (idle) | node 3: 98 % of a core on the raft I/O thread | yes |",
        "| m | does\\| | scenarios (loss) | loss: regression: jar fails committed_stays; stock passes. "
        "| another: A core burns. |",
        "| m | does\\| | **nothing** | Equivalent: nobody calls it. | Never. |",
    ]
    assert sentence(found[0]) == "m: noticed by costs (idle)"
    assert sentence(found[2]) == "m: nothing"


def test_a_kept_row_takes_the_place_of_one_that_was_asked_the_same_and_of_no_other() -> None:
    key_of = runpy.run_path(str(SHIPPED.parents[1] / "benchmarks" / "detection.py"))["key_of"]
    usual = row(Expected("x"), COSTS)
    assert key_of(row(Expected("x"))) == key_of(usual)
    assert key_of(replace(usual, asked=("--scenario", "chaos-17"))) != key_of(usual)


def test_the_sum_counts_what_was_noticed_excused_missed_and_left_undecided() -> None:
    found = [
        row(Expected("x", ("costs",)), COSTS),
        row(Expected("x", ("costs",)), LOST),
        row(Expected("x", survives="Equivalent: y")),
        row(Expected("x")),
        row(Expected("x"), undecided="starved"),
    ]
    assert summary(found) == (
        "2 of 5 are noticed (40 %), 1 of them as expected; 1 are not for a written reason, 1 for none, 1 are undecided."
    )
    assert summary([]).startswith("0 of 0 are noticed (none)")


def test_a_folder_is_read_with_what_must_notice_each(tmp_path: Path) -> None:
    more = 'scenario = "turn2"\nunreachable = "Out of reach: it takes weeks."'
    read = load_mutants(folder(tmp_path, described("one") + described("two", more), "one", "two"))
    assert read.ground is Ground.STOCK
    assert [(each.name, each.patch.subject, each.expected) for each in read.mutants] == [
        ("one", "one is wrong", Expected("It shows.", ("costs",))),
        ("two", "two is wrong", Expected("It shows.", ("costs",), "turn2", "Out of reach: it takes weeks.")),
    ]
    assert [each.name for each in load_mutants(tmp_path, ["two"]).mutants] == ["two"]


@pytest.mark.parametrize(
    ("text", "patches", "said"),
    [
        ("", (), r"holds no \*\.patch"),
        (described("gone"), ("here",), r"mutants\.toml (lacks here|describes, without a patch, gone)"),
        (described("one"), ("one", "two"), r"lacks two"),
        ("= broken", ("one",), r"mutants\.toml cannot be read"),
        ("mutant = 3", ("one",), "mutant: it is a table"),
        ("[mutant]\none = 3", ("one",), r"\[mutant.one\]: it is a table"),
        ('[mutant.one]\nexpects = ""\nby = []', ("one",), "expects: it is a text"),
        ('[mutant.one]\nexpects = "x"', ("one",), "lacks by"),
        (described("one", 'survives = "I think so"'), ("one",), "begins with Equivalent or Out of reach"),
        (described("one", "odd = 1"), ("one",), "has odd"),
    ],
)
def test_what_is_wrong_with_a_folder_is_named(tmp_path: Path, text: str, patches, said: str) -> None:
    with pytest.raises(HarnessError, match=said):
        load_mutants(folder(tmp_path, text, *patches))


def test_a_mutant_that_is_asked_for_and_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="No mutant is named 'gone'"):
        load_mutants(folder(tmp_path, described("one"), "one"), ["gone"])


def test_a_folder_of_another_base_is_refused(tmp_path: Path) -> None:
    folder(tmp_path, described("one"), "one")
    (tmp_path / "mutants.toml").write_text(f'base = "trunk"\n{described("one")}')
    with pytest.raises(HarnessError, match="trunk"):
        load_mutants(tmp_path)


@pytest.mark.parametrize(
    ("name", "ground", "least"),
    [("stock", Ground.STOCK, 40), ("unseen", Ground.STOCK, 40), ("series", Ground.SERIES, 20)],
)
def test_every_shipped_mutant_has_a_description_and_something_that_must_notice_it(name, ground, least: int) -> None:
    read = load_mutants(SHIPPED / name)
    assert read.ground is ground
    assert len(read.mutants) >= least
    assert all(each.patch.subject != each.patch.name for each in read.mutants)
    assert all(each.expected.by or each.expected.survives for each in read.mutants)


@pytest.mark.parametrize("number", [10661, 12181, 12619, 13940, 14222, 15100, 15489, 16531, 16536, 17333, 17973, 18001])
def test_a_fix_of_upstream_is_among_the_shipped_mutants_reversed(number: int) -> None:
    origins = [each.patch.headers["Origin"] for each in load_mutants(SHIPPED / "stock").mutants]
    assert sum(f"KAFKA-{number} " in origin and origin.startswith("reversed") for origin in origins) == 1


NAME = re.compile("[a-z]+(_[a-z]+)+")
BEFORE_CLUSTERS = {"build", "drop-in", "source", "tests", "simulation"}
ON_CLUSTERS = (ReasonSource.FIGURES, ReasonSource.LOGS, ReasonSource.EFFECT, ReasonSource.FLAG)


def stages() -> set[str]:
    return BEFORE_CLUSTERS | {stage_of(Reason(source, Verdict.HOLD, None, "")) for source in ON_CLUSTERS}


def names() -> set[str]:
    """Return what a run can be said to fail by: expectations and guards of plans, invariants, rules, outcomes."""
    asked = {name for each in load_all().values() for name in names_in(each.plan().everything)}
    invariants = {name for module in {broken, outcome_names, *map(module_of_rule, RULES)} for name in named_in(module)}
    return asked | invariants


def names_in(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        match step:
            case Expect(condition, _, named):
                yield from (named, condition.name)
            case Guard(condition, _):
                yield condition.name
            case OnlyIf(_, inner):
                yield from names_in(inner)


def module_of_rule(rule: Rule) -> ModuleType:
    return sys.modules[rule.judge.__module__]


def named_in(module: ModuleType) -> Iterator[str]:
    """Return the names that a module has as constants: NODE_ALIVE = "node_alive"."""
    return (value for name, value in vars(module).items() if name.isupper() and NAME.fullmatch(str(value)))


def unknown(words: Iterable[str]) -> set[str]:
    """Return the words that are no stage, and stand in no name: `new_leader` does in `new_leader_after_kill`."""
    said = [f"_{name}_" for name in names()]
    return {w for w in {*words} - stages() if not (NAME.fullmatch(w) and any(f"_{w}_" in name for name in said))}


@pytest.mark.parametrize("name", ["stock", "series"])
def test_what_must_notice_a_shipped_mutant_is_a_stage_or_named_by_something_that_a_run_can_fail(name: str) -> None:
    assert unknown(word for each in load_mutants(SHIPPED / name).mutants for word in each.expected.by) == set()


def test_what_must_notice_a_growing_defect_is_one_too() -> None:
    assert unknown(word for each in load_growing(SHIPPED / "growing") for word in each.by) == set()


def test_a_slip_in_what_must_notice_a_mutant_is_seen() -> None:
    slips = {"cost", "test", "dropin", "new_leadr", "leader", "commited_stays", "vote_is_permited"}
    assert unknown({*slips, "costs", "drop-in", "new_leader", "committed_stays", "vote_is_permitted"}) == slips


@pytest.mark.parametrize("name", ["stock", "series"])
def test_where_a_shipped_mutant_must_show_itself_is_a_scenario(name: str) -> None:
    expected = [each.expected for each in load_mutants(SHIPPED / name).mutants]
    assert {each.scenario for each in expected if each.scenario} <= {*load_all()}
