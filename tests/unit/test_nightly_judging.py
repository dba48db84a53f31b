"""What a night comes to: exit codes, waivers, summary, JUnit, page and retry list."""

from dataclasses import replace
from datetime import date
from xml.etree import ElementTree as ET

import pytest
from nightly_sample import BROKEN, FAILED, STARTED, STARVED, UNSUPPORTED, document, night, showing

from harness.base.errors import HarnessError
from harness.model.findings import Significance, StockRate
from harness.model.runs import Outcome, Verdict
from harness.model.verdict import CellName, Reason, ReasonSource
from harness.model.waivers import Waiver, WaiverKind, load_waivers
from harness.nightly.history import PastNight
from harness.nightly.judging import judge_night
from harness.nightly.night import VerificationStatus
from harness.nightly.night_cases import render_night_junit
from harness.nightly.night_summary import render_summary
from harness.nightly.nightpage import night_page, render_night
from harness.nightly.trend import Trend

TODAY = date(2026, 3, 5)
LOST = "FAILED(observer_recovers)"
SHIP, HOLD, OPEN = document("ship"), document("ship", FAILED), document("ship", STARVED)
FILE = """
[[waiver]]
rule = "config-default"
where = "x"
reason = "known"
owner = "kim"
expires = 2026-04-01
[[outcome]]
where = "a/turn2/patched-on"
shows = "FAILED(observer_recovers)"
reason = "known"
owner = "kim"
expires = 2026-04-01
[[finding]]
where = "*/turn2"
contains = "Updated bootstrap servers"
reason = "by design"
owner = "kim"
expires = 2026-04-01
"""


def judged(documents, history=(), waivers=(), **more):
    endings = {name: VerificationStatus(verdict.verdict.value) for name, verdict in documents.items()}
    of = night(*documents, **{"ended": endings, **more})
    return judge_night(of, documents, history, waivers, TODAY)


@pytest.mark.parametrize(("source", "lines"), [(ReasonSource.LOGS, 1), (ReasonSource.CLAIM, 0)])
def test_what_another_try_may_answer_is_asked_again_and_what_nobody_asked_for_is_not(source, lines):
    reason = Reason(source, Verdict.INCONCLUSIVE, None, "nobody knows")
    undecided = replace(SHIP, verdict=Verdict.INCONCLUSIVE, reasons=(reason,))
    assert len(judged({"a": undecided}).retries) == lines


def test_a_night_on_a_host_that_cannot_run_any_more_what_an_earlier_one_decided_decides_nothing():
    before = judged({"a": SHIP}).entry
    report = judged({"a": document("ship", UNSUPPORTED)}, [replace(before, label="yesterday", started_at="2026-03-01")])
    assert (report.outcome, report.exit_code) == (VerificationStatus.INCONCLUSIVE, 3)
    (doubt,) = report.doubts
    assert doubt == "a: earlier nights decided turn2, which this host cannot run."
    assert all(doubt in shown for shown in (render_summary(report), render_night(report)))
    assert "doubt 1" in render_night_junit(report, {"a": SHIP})


def test_verifications_of_the_same_builds_made_of_different_jars_are_no_night():
    arms = tuple(replace(arm, build=replace(arm.build, jar_sha256="e" * 64)) for arm in SHIP.arms)
    assert judged({"a": SHIP, "b": SHIP}).doubts == ()
    report = judged({"a": SHIP, "b": replace(SHIP, arms=arms)})
    assert report.doubts == ("a and b name the same builds, and were made of different jars.",)
    assert report.exit_code == 3


def waiver(**changes):
    return replace(Waiver(WaiverKind.OUTCOME, "a/turn2/patched-on", LOST, "known", "kim", date(2026, 4, 1)), **changes)


@pytest.mark.parametrize(
    ("endings", "code"),
    [
        ((SHIP, SHIP), 0),
        ((SHIP, OPEN), 3),
        ((OPEN, HOLD), 1),
        ((HOLD, None), 1),
        ((OPEN, None), 2),
        ((SHIP, None), 2),
    ],
)
def test_the_exit_code_is_that_of_the_worst_hold_before_errors_before_inconclusive(endings, code):
    documents = {f"v{number}": each for number, each in enumerate(endings) if each}
    ended = {
        f"v{number}": VerificationStatus(each.verdict.value) if each else VerificationStatus.ERROR
        for number, each in enumerate(endings)
    }
    assert judge_night(night(*ended, ended=ended), documents, (), (), TODAY).exit_code == code


def test_what_nobody_ran_makes_a_night_inconclusive_and_is_run_again():
    report = judge_night(night("a", "b", ended={"a": VerificationStatus.SHIP}), {"a": SHIP}, (), (), TODAY)
    assert (report.exit_code, report.outcome) == (3, VerificationStatus.INCONCLUSIVE)
    assert report.retries == ("harness verify --suite long --profile production",)


def test_a_night_without_verifications_is_never_ship():
    assert judged({}).exit_code == 3


def test_a_shard_without_work_has_nothing_to_say():
    report = judge_night(night("a", shard=2, shards=2), {}, (), (), TODAY)
    assert (report.exit_code, report.outcome) == (0, VerificationStatus.INCONCLUSIVE)
    assert "nothing to do: 0 verifications" in render_summary(report)


def test_broken_and_starved_are_run_again_but_never_what_is_held_back():
    both = document("ship", lambda result: STARVED(result) if result.scenario == "turn2" else result)
    report = judged({"a": both, "b": HOLD, "c": document("ship", BROKEN), "d": SHIP})
    again = "harness verify --scenario turn2 --profile production"
    assert report.retries == (again, again)


def test_a_scenario_that_is_held_back_is_not_asked_again_for_an_arm_that_starved():
    off = showing("turn2", "patched-off", Outcome.INCONCLUSIVE, "host_not_starved")
    report = judged({"a": document("ship", lambda result: off(FAILED(result)))})
    assert report.outcome is VerificationStatus.HOLD
    assert report.retries == ()


def test_a_waived_outcome_no_longer_holds_the_night_back_and_stays_reported():
    report = judged({"a": HOLD}, waivers=[waiver()])
    assert (report.outcome, report.exit_code) == (VerificationStatus.SHIP, 0)
    (shown,) = report.verifications
    assert (shown.outcome, shown.counts_as) == (VerificationStatus.HOLD, VerificationStatus.SHIP)
    assert "kim" in render_summary(report)
    assert "1 of them waived" in render_summary(report)


def test_a_waived_outcome_does_not_excuse_a_warning_that_the_candidate_adds_to_the_logs():
    contrast = HOLD.contrasts[2]
    worse = replace(
        contrast.findings[0],
        level="WARN",
        template="It failed",
        base_excerpt="",
        candidate_excerpt="It failed",
        significance=Significance.BEYOND,
        base_runs=(0, 0, 0),
        candidate_runs=(2, 2, 2),
        stock=StockRate(40, 0, 0, unmatched=True),
    )
    held = document("ship", FAILED, contrasts=(replace(contrast, findings=(worse,)),))
    assert judged({"a": held}, waivers=[waiver()]).exit_code == 1


def test_a_waiver_of_one_cell_does_not_excuse_a_hold_about_another_one_of_the_scenario():
    off = document("ship", showing("turn1", "patched-off", Outcome.FAILED, "observer_recovers"))
    waived = waiver(where="a/turn1/patched-off")
    assert judged({"a": off}, waivers=[waived]).exit_code == 0
    unstable = Reason(ReasonSource.EFFECT, Verdict.HOLD, CellName("turn1", "patched-on"), "patched-on is unstable.")
    assert judged({"a": replace(off, reasons=(*off.reasons, unstable))}, waivers=[waived]).exit_code == 1


def test_a_waiver_covers_that_cell_and_that_outcome_only():
    other = document(
        "ship",
        lambda result: replace(FAILED(result), expectation="node_alive") if FAILED(result) != result else result,
    )
    assert judged({"a": other}, waivers=[waiver()]).exit_code == 1
    assert judged({"b": HOLD}, waivers=[waiver()]).exit_code == 1


def test_a_waiver_does_not_excuse_what_the_jar_itself_is_held_back_for():
    report = judged({"a": document("hold", FAILED)}, waivers=[waiver(where="a/*/*")])
    assert report.verifications[0].counts_as is VerificationStatus.HOLD


def test_behind_a_waived_outcome_what_could_not_be_tested_is_still_inconclusive():
    def change(result):
        return (
            replace(STARVED(replace(result, scenario="turn2")), scenario="turn1")
            if (result.scenario, result.arm) == ("turn1", "patched-on")
            else FAILED(result)
        )

    assert judged({"a": document("ship", change)}, waivers=[waiver()]).exit_code == 3


def test_a_waiver_is_good_through_its_last_day_and_a_fault_after_it():
    assert judged({"a": HOLD}, waivers=[waiver(expires=TODAY)]).exit_code == 0
    report = judged({"a": HOLD}, waivers=[waiver(expires=date(2026, 3, 4))])
    assert report.exit_code == 1
    assert report.waived.faults[0].startswith("A waiver has expired: outcome")
    assert report.verifications[0].counts_as is VerificationStatus.HOLD


def test_a_waiver_that_nothing_needs_holds_the_night_back():
    report = judged({"a": SHIP}, waivers=[waiver()])
    assert report.exit_code == 1
    assert "stale" in report.waived.faults[0]


def test_a_waiver_is_not_stale_while_its_cell_could_not_be_tested_or_the_night_is_in_parts():
    assert judged({"a": OPEN}, waivers=[waiver()]).exit_code == 3
    assert (
        judged({"a": SHIP}, waivers=[waiver(where="b/*/*")], ended={"a": VerificationStatus.SHIP}).waived.faults != ()
    )
    part = judge_night(night("a", "b", shard=1, shards=2), {"a": SHIP}, (), [waiver(where="b/*/*")], TODAY)
    assert part.exit_code == 0


def test_a_waiver_of_a_finding_is_not_stale_while_nothing_could_show_the_finding():
    about = waiver(kind=WaiverKind.FINDING, where="a/turn2", what="is not there")
    assert judged({"a": SHIP}, waivers=[about]).exit_code == 1, "its logs were compared"
    gap = Reason(ReasonSource.LOGS, Verdict.INCONCLUSIVE, None, "The logs were not compared.")
    blind = replace(SHIP, verdict=Verdict.INCONCLUSIVE, reasons=(gap,), contrasts=())
    assert judged({"a": blind}, waivers=[about]).exit_code == 3
    assert judged({"a": OPEN}, waivers=[about]).exit_code == 3


def test_a_waiver_is_not_stale_where_the_host_does_not_support_what_it_is_about():
    unable = document("ship", showing("turn2", "patched-on", Outcome.UNSUPPORTED))
    assert judged({"a": unable}, waivers=[waiver()]).waived.faults == ()


def test_findings_are_waived_by_a_part_of_their_template(tmp_path):
    (tmp_path / "waivers.toml").write_text(FILE)
    report = judged({"a": HOLD}, waivers=load_waivers(tmp_path / "waivers.toml"))
    assert len(report.waived.findings) == 2, "off/on and base/on"
    assert report.waived.faults == ()
    assert "waived" in render_summary(report)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[[outcome]]\nwhere="x"', "outcome 1: it needs where, shows, reason, owner, expires, and nothing else"),
        (FILE.replace("2026-04-01", '"soon"'), "expires: 'soon' is not a day like"),
        ("[[outcom]]", "tables of the names waiver, outcome, finding, not outcom"),
        (FILE.replace('"kim"', '" "'), "owner: it is a text that is not empty"),
        (FILE.replace("contains", "shows"), "finding 1: it needs where, contains, reason"),
        ("[[outcome]", "waivers.toml: "),
        (FILE.replace(LOST, "HELD"), "outcome 1, shows: there is no outcome 'HELD'; it is called PASSED now"),
        (FILE.replace("FAILED", "REFUTED"), f"it is called {LOST} now"),
        (FILE.replace(LOST, "INCONCLUSIVE(askable)"), "it is called INCONCLUSIVE(testable) now"),
        (FILE.replace(LOST, "LOST"), "there is no outcome 'LOST'; outcomes are PASSED, FAILED, INCONCLUSIVE"),
        (FILE.replace(LOST, "PASSED(x)"), "there is no outcome 'PASSED(x)'"),
        ("outcome = [1]", "outcome 1: it needs"),
    ],
)
def test_a_mistake_in_waivers_is_reported(tmp_path, text, sentence):
    (tmp_path / "waivers.toml").write_text(text)
    with pytest.raises(HarnessError, match=r"waivers\.toml") as shown:
        load_waivers(tmp_path / "waivers.toml")
    assert sentence in shown.value.message


def test_marks_are_made_by_the_nights_before():
    first = judged({"a": HOLD})
    past = replace(first.entry, label="yesterday", started_at="2026-03-04")
    again = judged({"a": HOLD}, history=[past])
    assert [each.trend for each in first.cells if each.cell.standing == "not as claimed"] == [Trend.NEW]
    assert [each.trend for each in again.cells if each.cell.standing == "not as claimed"] == [Trend.RECURRING]
    assert [each.trend for each in judged({"a": SHIP}, history=[past]).cells if each.trend] == [Trend.FIXED]
    assert isinstance(past, PastNight)
    assert past.started_at < STARTED


def test_the_summary_shows_new_outcomes_before_findings_and_escapes_what_others_wrote():
    shown = render_summary(judged({"a": document("hostile", FAILED)}))
    assert shown.index("Outcomes: new") < shown.index("Findings: new")
    assert "<script>" not in shown
    assert "\x1b" not in shown
    assert "no earlier night" in shown


def test_the_summary_is_cut_where_anybody_can_see_it():
    documents = dict.fromkeys([f"v{number}" for number in range(60)], document("hostile", FAILED))
    shown = render_summary(judged(documents))
    assert 15_000 < len(shown.encode()) <= 20_000
    assert "more lines are cut here" in shown


def test_a_small_summary_is_not_cut():
    assert "cut here" not in render_summary(judged({"a": SHIP}))


def test_junit_names_cases_by_verification_and_counts_them():
    report = judged({"a": HOLD, "b": OPEN}, waivers=[waiver(where="*/turn2/patched-on")])
    root = ET.fromstring(render_night_junit(report, {"a": HOLD, "b": OPEN}))
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("18", "0", "1", "1")
    skipped = root.find("testsuite[@name='a/turn2']/testcase/skipped")
    assert skipped.get("message").startswith("waived: outcome FAILED(observer_recovers) at */turn2/patched-on (kim")
    assert root.find("testsuite[@name='b/turn2']/testcase/error") is not None


def test_junit_has_a_case_for_what_came_to_no_verdict_and_for_each_waiver_at_fault():
    of = night("a", "b", "c", ended={"a": VerificationStatus.SHIP, "b": VerificationStatus.ERROR})
    report = judge_night(of, {"a": SHIP}, (), [waiver(expires=date(2026, 1, 1))], TODAY)
    root = ET.fromstring(render_night_junit(report, {"a": SHIP}))
    assert root.find("testsuite[@name='b']/testcase/error") is not None
    assert root.find("testsuite[@name='c']/testcase/skipped") is not None
    assert "expired" in root.find("testsuite[@name='waivers']/testcase/failure").get("message")


def test_junit_of_a_night_is_never_green_for_a_verification_that_is_held_back_by_what_no_run_shows():
    costs = Reason(ReasonSource.FIGURES, Verdict.HOLD, None, "turn1: jar costs more than stock")
    held = replace(SHIP, verdict=Verdict.HOLD, sentence=costs.sentence, reasons=(*SHIP.reasons, costs))
    root = ET.fromstring(render_night_junit(judged({"a": held}), {"a": held}))
    (failure,) = root.iter("failure")
    assert failure.get("message") == costs.sentence
    assert not [*ET.fromstring(render_night_junit(judged({"a": SHIP}), {"a": SHIP})).iter("failure")]


def test_the_card_of_a_night_tells_the_regression_before_what_nobody_ran_and_a_waiver_at_fault_first():
    ended = {"b": VerificationStatus.ERROR, "c": VerificationStatus.HOLD}
    of_three = judge_night(night("a", "b", "c", ended=ended), {"c": HOLD}, (), (), TODAY)
    assert night_page(of_three).worst == ("c: HOLD", HOLD.sentence)
    stale = judged({"a": SHIP}, waivers=(waiver(),))
    assert stale.waived.faults
    assert night_page(stale).worst == ("waivers", stale.waived.faults[0])
    assert night_page(judged({"a": SHIP})).worst == ("", "")


def test_a_night_says_that_all_is_as_it_was_only_where_that_was_seen():
    broken = judge_night(night("a", "b", ended={"a": VerificationStatus.ERROR}), {}, (), (), TODAY)
    assert night_page(broken).quiet == "2 of 2 verifications came to no verdict: nothing is said of their cells."
    assert night_page(judged({"a": SHIP})).quiet == "Every cell is as claimed; there is no earlier night."
    again = replace(judged({"a": SHIP}), earlier=("one",))
    assert night_page(again).quiet == "Every cell is as claimed, as it was before."


def test_a_shard_without_work_is_no_open_answer_on_its_page_nor_in_junit():
    idle = judge_night(night("a", shard=2, shards=2), {}, (), (), TODAY)
    assert idle.idle
    page = night_page(idle)
    assert (page.outcome, page.against, page.quiet) == ("nothing to do", "", "")
    assert "INCONCLUSIVE" not in render_night(idle) + render_night_junit(idle, {})


def test_a_shard_without_work_whose_waiver_is_at_fault_is_held_back_on_its_page_as_by_its_exit_code():
    stale = judge_night(night("a", shard=2, shards=2), {}, (), (waiver(expires=date(2026, 3, 4)),), TODAY)
    assert stale.waived.faults
    assert (stale.exit_code, night_page(stale).outcome) == (1, "HOLD")
    assert "nothing to do" not in render_night_junit(stale, {})


def test_the_page_links_reports_escapes_everything_and_allows_nothing_but_its_own_style():
    page = render_night(judged({"a": document("hostile", FAILED), "b": SHIP}))
    assert 'href="a/report.html"' in page
    assert "<script" not in page
    assert "\x1b" not in page
    assert "default-src 'none'" in page
    assert "style=" not in page


def test_the_card_of_a_night_says_what_speaks_against_its_outcome():
    def against(documents, *waivers):
        return night_page(judged(documents, *waivers)).against

    assert against({"a": SHIP}) == "There is no earlier night to compare it with."
    assert against({"a": HOLD, "b": SHIP}) == "1 of 2 verifications is SHIP."
    assert against({"a": SHIP, "b": SHIP, "c": OPEN}) == "2 of 3 verifications are SHIP."
    assert "What speaks against it" in render_night(judged({"a": SHIP}))


def test_a_night_that_ships_thanks_to_waivers_or_beside_flaky_cells_says_so():
    shipped = judged({"a": SHIP})
    earlier = replace(shipped, earlier=("yesterday",))
    assert night_page(earlier).against == "A fault that shows only in some runs may have been missed."
    flaky = tuple(replace(cell, trend=Trend.FLAKY) for cell in earlier.cells)
    changed = night_page(replace(earlier, cells=flaky)).against
    assert changed == f"{len(flaky)} cells changed the answer in the last nights."
    (key, *_) = [cell.cell.key for cell in flaky]
    waiver = Waiver(WaiverKind.OUTCOME, "*", "x", "known", "kim", date(2026, 4, 1))
    waived = replace(shipped, waived=replace(shipped.waived, cells={key: waiver}))
    assert night_page(waived).against == "1 thing that did not go as claimed is waived."


def test_the_same_night_gives_the_same_bytes():
    assert render_night(judged({"a": HOLD})) == render_night(judged({"a": HOLD}))


def test_the_page_of_a_huge_night_says_what_it_cuts():
    documents = dict.fromkeys([f"v{number:03}" for number in range(200)], document("hostile", FAILED))
    page = render_night(judged(documents))
    assert len(page.encode()) < 2_000_000
    assert "more findings are cut here" in page


def test_a_verification_without_a_verdict_has_no_link():
    page = render_night(judge_night(night("a", ended={"a": VerificationStatus.ERROR}), {}, (), (), TODAY))
    assert "a/report.html" not in page
