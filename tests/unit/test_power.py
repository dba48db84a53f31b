"""Planted defects of growing size: templates, which size is asked next, and the smallest that is noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sample_run import write_sample
from test_judge import FIX, SOUND, H, R, declare, ran

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.judge.decision import NOT_ROLLED, decide
from harness.judge.noticeable import would_show
from harness.model.candidate_kind import CandidateKind
from harness.model.costs import Cost
from harness.model.detection import Caught, Detection, Expected, Ground
from harness.model.power import SCHEMA, Noticed, Power
from harness.model.request import Request
from harness.model.runs import Verdict
from harness.model.setup import Profile
from harness.model.verdict import VerdictRecord
from harness.report.noticed import noticed
from harness.rundir.directory import RunDirectory
from harness.stages import power as power_stage
from harness.stages import power_data
from harness.stages.growing import load_growing
from harness.stages.judge import judge_run
from harness.stages.mutants import Workshop
from harness.stages.power import bounds, curve, measure, next_to_ask
from harness.stages.power_data import known_power, power_file, when_measured
from harness.stages.rounds import plan_rounds
from harness.stages.rules_digest import judging_digest, making_digest
from harness.toolbox.toolbox import local_toolbox

UNKNOWN = "The smallest defect that this suite would have noticed is not known"
SHIPPED = Path(__file__).parent.parent / "mutants" / "growing"
STALL = 'defect = "a stall of {size} s"\nsizes = [0.1, 0.4, 1.6]\nscale = 1000\nby = ["costs"]'


def templates(folder: Path, table: str = STALL, patch: str = "Description: stalls\n---\n+sleep(@SIZE@);\n") -> Path:
    (folder / "growing.toml").write_text(f"[stall]\n{table}\n")
    (folder / "stall.patch").write_text(patch)
    return folder


@given(st.integers(1, 40), st.integers(0, 40))
def test_the_smallest_noticed_size_is_found_by_halving(sizes: int, smallest: int) -> None:
    noticed: dict[int, bool] = {}
    while (size := next_to_ask(sizes, noticed)) is not None:
        assert size not in noticed
        noticed[size] = size >= smallest
    assert bounds(sizes, noticed) == (min(smallest, sizes) - 1, min(smallest, sizes))
    assert len(noticed) <= sizes.bit_length() + 1


@given(st.integers(1, 20), st.lists(st.booleans(), min_size=20, max_size=20))
def test_what_is_noticed_by_chance_below_a_missed_size_does_not_count(sizes: int, shown: list[bool]) -> None:
    noticed: dict[int, bool] = {}
    while (size := next_to_ask(sizes, noticed)) is not None:
        noticed[size] = shown[size]
    low, high = bounds(sizes, noticed)
    assert all(was for size, was in noticed.items() if size > low)
    assert high == sizes or noticed[high]


def test_a_template_names_a_defect_and_writes_its_patch(tmp_path: Path) -> None:
    (growing,) = load_growing(templates(tmp_path))
    assert growing.named(0.4) == "a stall of 0.4 s"
    patch = growing.write_patch(0.4, tmp_path / "made")
    assert (patch.name, patch.subject) == ("stall-0.4.patch", "stalls")
    assert "+sleep(400);" in patch.path.read_text()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("= broken", "cannot be read"),
        (STALL.replace("{size}", "some"), "has no place"),
        (STALL.replace("[0.1, 0.4, 1.6]", "[0.1, 1.6, 0.4]"), "they rise, or fall"),
        (STALL.replace("[0.1, 0.4, 1.6]", "[0, 1]"), "numbers above 0"),
        (STALL.replace("[0.1, 0.4, 1.6]", "[]"), "numbers above 0"),
        (STALL.replace("[0.1, 0.4, 1.6]", "[1, true]"), "numbers above 0"),
        (STALL + "\nodd = 1", "has odd"),
    ],
)
def test_what_is_wrong_with_a_template_is_named(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(HarnessError, match=said):
        load_growing(templates(tmp_path, table))


def test_a_template_without_a_gap_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="has no @SIZE@"):
        load_growing(templates(tmp_path, patch="+sleep(400);"))


def test_the_shipped_templates_are_of_every_kind() -> None:
    kinds = load_growing(SHIPPED)
    assert {each.kind for each in kinds} == {"sleep", "spin", "leak", "flood", "stall", "loss"}
    assert [each.kind for each in load_growing(SHIPPED, ["leak"])] == ["leak"]
    with pytest.raises(HarnessError, match="No defect that grows is named 'gone'"):
        load_growing(SHIPPED, ["gone"])
    for each in kinds:
        made = [round(size * each.scale) for size in each.sizes]
        assert len({*made}) == len(made), each.kind  # no two sizes are the same patch


class Base:
    """What a detector holds of base here: the folder that names the scenarios."""

    def __init__(self, folder: Path) -> None:
        self.directory = RunDirectory(folder)


class FakeDetector:
    without = ()

    def __init__(self, folder: Path) -> None:
        self.base = Base(folder)


@pytest.fixture
def asked(monkeypatch, tmp_path: Path):
    """Return a function that measures with what each try of a size shows; it returns the sizes that were asked."""

    def run(shows, times: int = 1):
        tried: list[str] = []

        def detect_one(about: Detection, *_):
            tried.append(about.name)
            run.scenarios.add(about.expected.scenario)
            size, number = about.name.split("-")[1:]
            shown = shows(float(size), int(number))
            if isinstance(shown, Detection):
                return replace(about, caught=shown.caught, undecided=shown.undecided)
            caught = (Caught("costs", "it costs", "idle"),) if shown else ()
            return Detection(about.name, about.does, about.expected, caught)

        monkeypatch.setattr(power_stage, "detect_one", detect_one)
        RunDirectory(tmp_path).declaration.write(replace(declare("idle"), kind=CandidateKind.UNKNOWN))
        monkeypatch.setattr(Workshop, "control", lambda _workshop: None)
        monkeypatch.setattr(Workshop, "detector", lambda *_: FakeDetector(tmp_path))
        workshop = Workshop(tmp_path, Ground.STOCK, Request(), local_toolbox(), Reporter(Console(quiet=True)))
        return measure(load_growing(templates(tmp_path, f'{STALL}\nscenario = "turn1"')), workshop, times), tried

    run.scenarios = set()
    return run


def test_the_smallest_noticed_defect_is_written_with_the_largest_that_was_missed(asked, tmp_path: Path) -> None:
    power, tried = asked(lambda size, _time: size >= 0.4)
    assert power.noticed == (Noticed("stall", "a stall of 0.4 s", "costs", "idle", "a stall of 0.1 s", 1),)
    assert tried == ["stall-0.4-1", "stall-0.1-1"]
    assert power_file(tmp_path / "power.json").read() == power
    assert "| stall | a stall of 0.4 s | a stall of 0.1 s | costs (idle) | 1 |" in curve(power)


def test_what_was_measured_names_the_suite_that_was_run_though_none_was_typed(asked) -> None:
    power, _ = asked(lambda *_: True)
    assert (power.suite, power.scenarios) == ("standard", ("idle",))


def test_the_scenario_that_is_named_is_asked_first_and_costs_of_a_fix_can_be_judged_there(asked) -> None:
    asked(lambda *_: True)
    assert asked.scenarios == {"turn1"}
    by_costs = [each for each in load_growing(SHIPPED) if "costs" in each.by]
    assert {each.scenario for each in by_costs} == {"turn1"}
    first, *_ = plan_rounds(["new-mechanism", "turn2", "turn1"], [], 2, Expected("", ("costs",), "turn1"))
    assert (first.scenarios, first.beside, first.costs) == (("turn1",), True, True)


def test_what_was_measured_of_other_kinds_by_the_same_rules_stays(asked, tmp_path: Path) -> None:
    power, _ = asked(lambda size, _time: size >= 0.4)
    file = power_file(tmp_path / power_stage.RESULTS)
    other = replace(power.noticed[0], kind="leak", defect="5 MB of heap a minute")
    file.write(replace(power, noticed=(*power.noticed, other), unnoticed=("a stall of 1.6 s", "a flood")))
    power, _ = asked(lambda size, _time: size >= 1.6)
    assert {each.kind: each.defect for each in power.noticed} == {"leak": other.defect, "stall": "a stall of 1.6 s"}
    assert power.unnoticed == ("a flood",)
    file.write(replace(file.read(), judging="of others"))
    assert [each.kind for each in asked(lambda *_: True)[0].noticed] == ["stall"]


def test_a_size_is_noticed_only_when_it_is_each_time(asked) -> None:
    power, tried = asked(lambda size, time: size > 1 or (size > 0.2 and time == 1), times=2)
    assert [each.defect for each in power.noticed] == ["a stall of 1.6 s"]
    assert tried == ["stall-0.4-1", "stall-0.4-2", "stall-1.6-1", "stall-1.6-2"]


def test_a_kind_that_is_never_noticed_is_named_with_its_largest_size(asked) -> None:
    power, _ = asked(lambda *_: False)
    assert (power.noticed, power.unnoticed) == ((), ("a stall of 1.6 s",))
    assert "Never noticed: a stall of 1.6 s." in curve(power)


def test_a_template_that_does_not_compile_is_no_defect_that_was_noticed(asked) -> None:
    broken = Detection("", "", caught=(Caught("build", "cannot find symbol"),))
    with pytest.raises(HarnessError, match=r"a stall of 0.4 s does not compile: cannot find symbol"):
        asked(lambda *_: broken)


def test_a_kind_of_which_nothing_was_decided_is_not_said_to_go_unnoticed(asked) -> None:
    power, _ = asked(lambda *_: Detection("", "", undecided="The disk is full."))
    assert (power.noticed, power.unnoticed) == ((), ())


POWER = Power(
    SCHEMA,
    "3.9.1",
    "bootstrap",
    Profile.FAST,
    ("turn1", "turn2"),
    "2026-11-23T08:00:00+00:00",
    "a" * 64,
    "b" * 64,
    (
        Noticed("stall", "a stall of 0.8 s", "costs", "turn2"),
        Noticed("spin", "5 % of a core", "costs", "turn1"),
        Noticed("flood", "2 lines of log a second", "logs"),
    ),
)


@pytest.mark.parametrize(
    ("decided", "shown"),
    [
        (("turn1", "turn2"), ("a stall of 0.8 s", "5 % of a core", "2 lines of log a second")),
        (("turn2",), ("a stall of 0.8 s",)),
        (("another",), ()),
    ],
)
def test_a_defect_would_have_shown_where_the_scenario_that_noticed_it_was_decided(decided, shown) -> None:
    assert would_show(POWER, decided, [cost("turn1"), cost("turn2")]) == shown
    assert would_show(None, decided, ()) == ()


def cost(scenario: str, not_judged: str = "") -> Cost:
    return Cost(
        scenario, "on", "stock", "commit_at_best_milliseconds", "a commit took", "ms", 1, 1, 9, False, 1, not_judged
    )


def test_what_shows_by_its_costs_would_have_shown_only_where_every_figure_was_held_against_bases() -> None:
    both = ("turn1", "turn2")
    turned = [cost("turn1"), cost("turn2"), cost("turn2", "the runs were not decided in the same way")]
    assert would_show(POWER, both, turned) == ("5 % of a core", "2 lines of log a second")
    assert would_show(POWER, both, ()) == ("2 lines of log a second",)


def test_what_shows_over_all_scenarios_would_have_shown_although_one_lacks_a_figure() -> None:
    lacking = replace(cost("turn2", "no run of the candidate that passed measured them"), candidate=None)
    stall = replace(POWER, noticed=(Noticed("stall", "a stall of 0.8 s", "costs", "all scenarios"),))
    alone = replace(POWER, noticed=(Noticed("stall", "a stall of 0.8 s", "costs", "turn2"),))
    both = ("turn1", "turn2")
    assert would_show(stall, both, [cost("turn1"), cost("turn2"), lacking]) == ("a stall of 0.8 s",)
    assert would_show(alone, both, [cost("turn1"), cost("turn2"), lacking]) == ()


def of_turn2() -> Power:
    return replace(POWER, scenarios=("turn2",))


def noticed_in(record: VerdictRecord) -> str:
    return " ".join(noticed(record, 700))


def test_ship_names_what_would_have_shown_and_hold_does_not() -> None:
    power = of_turn2()
    shipped = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), SOUND, power=power)
    assert shipped.verdict is Verdict.SHIP
    assert shipped.sentence.endswith(" Smallest planted defects the suite noticed: 2 lines of log a second.")
    assert shipped.would_show == ("2 lines of log a second",)
    held = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, R), SOUND, power=power)
    assert held.verdict is Verdict.HOLD
    assert "would have shown" not in held.sentence


@pytest.fixture
def measured(tmp_path: Path, monkeypatch):
    """Return a function that puts a measurement of today's rules, or of others, into builds/power."""
    monkeypatch.setattr(power_data, "data_root", lambda: tmp_path)

    def put(suite: str, **others: str) -> Power:
        today = {"making": making_digest(), "judging": judging_digest()}
        power = replace(POWER, suite=suite, **(today | others))
        power_file(tmp_path / "builds" / "power" / f"3.9-{suite}.json").write(power)
        return power

    return put


CLAIMED = declare("turn2", claims=(FIX,))
UNCLAIMED = replace(declare("turn1", "turn2"), kind=CandidateKind.UNKNOWN)


@pytest.mark.parametrize(("declaration", "suite"), [(CLAIMED, "bootstrap"), (UNCLAIMED, "standard")])
def test_a_verification_in_which_no_suite_was_typed_knows_what_its_own_notices(declaration, suite, measured) -> None:
    assert known_power(declaration, Request()) is None
    powers = {each: measured(each) for each in ("bootstrap", "standard")}
    assert known_power(declaration, Request()) == powers[suite]
    assert known_power(declaration, Request(suite="bootstrap")) == powers["bootstrap"]
    assert known_power(declaration, Request(suite="raft")) is None


def test_what_is_known_is_of_the_same_line_and_jvm_settings(measured) -> None:
    power = measured("bootstrap")
    assert known_power(replace(CLAIMED, kafka_version="3.9.2"), Request()) == power
    assert known_power(replace(CLAIMED, kafka_version="4.1.0"), Request()) is None
    assert known_power(CLAIMED, Request(profile=Profile.PRODUCTION)) is None
    assert known_power(CLAIMED, None) is None


def test_of_several_measurements_that_of_todays_rules_is_known_and_of_earlier_rules_the_newest(measured, tmp_path):
    newest = measured("bootstrap", judging="0" * 64)
    place = tmp_path / "builds" / "power"
    power_file(place / "3.9-before.json").write(replace(newest, measured_at="2026-11-22T08:00:00+00:00"))
    assert known_power(CLAIMED, Request()) == newest
    of_today = replace(newest, measured_at="2026-11-21T08:00:00+00:00", judging=judging_digest())
    power_file(place / "3.9-today.json").write(of_today)
    assert known_power(CLAIMED, Request()) == of_today


@pytest.mark.parametrize(
    ("changed", "rules"),
    [
        (("making",), "running"),
        (("judging",), "judging"),
        (("making", "judging"), "running and judging"),
    ],
)
def test_ship_says_when_and_by_which_earlier_rules_was_measured_what_it_names(changed, rules, measured, tmp_path):
    directory = RunDirectory(write_sample(tmp_path / "run"))
    directory.request.write(Request())
    measured("bootstrap", **dict.fromkeys(changed, "0" * 64))
    record = judge_run(directory)
    when = f"measured on 2026-11-23, by earlier rules of {rules}"
    assert record.would_show == ("5 % of a core", "2 lines of log a second")
    assert record.sentence.endswith(
        f" Smallest planted defects the suite noticed: 5 % of a core, 2 lines of log a second ({when})."
    )
    assert f"the suite noticed: 5 % of a core; 2 lines of log a second ({when})." in noticed_in(record)
    assert record.not_tested[-1] == f"{UNKNOWN} by today's rules: it was {when}. `harness power` measures it again."


def test_ship_says_when_was_measured_what_it_names_by_todays_rules(measured, tmp_path):
    directory = RunDirectory(write_sample(tmp_path / "run"))
    directory.request.write(Request())
    measured("bootstrap")
    record = judge_run(directory)
    assert record.sentence.endswith(" 5 % of a core, 2 lines of log a second (measured on 2026-11-23).")
    assert record.not_tested[-1] == NOT_ROLLED


def test_the_sentence_of_no_other_verdict_names_what_would_have_shown_and_its_page_does():
    plan, results, power = declare("turn2", claims=(FIX,)), ran("turn2", R, R, R), of_turn2()
    told = decide(plan, results, SOUND, power=power, power_measured=when_measured(power))
    assert (told.verdict, told.sentence) == (Verdict.HOLD, decide(plan, results, SOUND).sentence)
    assert "2 lines of log a second (measured on 2026-11-23, by earlier rules of" in noticed_in(told)


def test_what_nobody_measured_has_no_day(measured, tmp_path):
    directory = RunDirectory(write_sample(tmp_path / "run"))
    directory.request.write(Request())
    measured("raft")
    record = judge_run(directory)
    assert (record.would_show, record.would_show_measured) == ((), "")
    assert record.not_tested[-1] == (
        f"{UNKNOWN}: it was not measured for this release line and these JVM settings (`harness power`)."
    )
