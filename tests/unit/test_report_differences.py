"""Log differences in the report: folded by family, noise apart, what a claim expects behind what none does."""

from dataclasses import replace

import pytest
from nightly_sample import document

from harness.model.findings import Contrast, Finding, FindingKind, Significance, StockRate
from harness.model.verdict import VerdictRecord
from harness.report.differences import contrast_view, known_noise, known_of
from harness.report.fallout import causes_of


@pytest.fixture(scope="module")
def repeated() -> VerdictRecord:
    return replace(document(), repeats=3)


@pytest.fixture(scope="module")
def finding(repeated) -> Finding:
    first = repeated.contrasts[2].findings[0]
    return replace(first, significance=Significance.BEYOND, base_runs=(0, 0, 0), candidate_runs=(4, 5, 6))


def view(whole, *findings):
    return contrast_view(Contrast("stock", "patched-on", findings), known_of(whole), 40, 700)


def test_the_same_family_in_several_places_is_shown_once_with_its_counts_of_each_repeat(repeated, finding):
    shown = view(repeated, finding, replace(finding, scenario="turn1"), replace(finding, node_kind="voter"))
    (only,) = shown.findings
    assert (only.base, only.candidate) == ("0 · 0 · 0", "4 · 5 · 6")
    assert len(only.also) == 2
    assert shown.summary.startswith("1 message type differs beyond the noise, 0 within it; 0 cannot be separated")


def test_noise_is_shown_apart_and_counted(repeated, finding):
    noise = replace(finding, template="elected", significance=Significance.WITHIN, fdr=0.8)
    shown = view(repeated, noise, finding)
    assert [each.finding.template for each in shown.findings] == [finding.template]
    assert ([each.finding.template for each in shown.noise], shown.within) == (["elected"], 1)
    assert shown.noise[0].chance == "within the noise, false discovery rate 0.8"


def test_what_no_claim_expects_comes_first_and_what_cannot_be_known_last(repeated, finding):
    claim = repeated.claims[0]
    changed = replace(repeated, claims=(replace(claim, expected_log="Updated bootstrap servers"), *repeated.claims[1:]))
    unknown = replace(finding, template="sometimes", candidate_excerpt="", significance=Significance.UNKNOWN)
    surprise = replace(finding, kind=FindingKind.VANISHED, template="gone", candidate_excerpt="")
    shown = view(changed, unknown, finding, surprise)
    assert [(each.finding.template, each.explained) for each in shown.findings] == [
        ("gone", ""),
        (finding.template, claim.id),
        ("sometimes", ""),
    ]
    assert [each.unknown for each in shown.findings] == [False, False, True]


def test_with_one_run_of_each_arm_nothing_is_called_noise(repeated, finding):
    once = replace(finding, significance=Significance.UNKNOWN, base_runs=(0,), candidate_runs=(4,))
    shown = view(replace(repeated, repeats=1), once)
    assert shown.summary == "1 message type differs. One run per arm, so noise cannot be separated; use --repeats 3."
    assert (shown.findings[0].candidate, shown.findings[0].chance, shown.findings[0].unknown) == ("94", "", False)


def test_with_one_run_of_each_arm_known_noise_says_what_is_beyond_it_and_how_often_bases_jar_logs_it(repeated, finding):
    once = replace(finding, base_runs=(0,), candidate_runs=(4,), scenario="turn2")
    flood = replace(once, stock=StockRate(41, 0, 0))
    rare = replace(once, template="rare", stock=StockRate(41, 3, 2), significance=Significance.UNKNOWN)
    shown = view(replace(repeated, repeats=1), flood, rare)
    assert shown.summary.startswith("1 message type differs beyond the noise, 0 within it; 1 cannot be separated")
    assert [each.chance for each in shown.findings] == [
        "beyond the noise, base's jar logs it in none of 41 known runs",
        "cannot be separated from noise, base's jar logs it in 3 of 41 known runs, at most 2 times",
    ]
    assert known_noise(
        [Contrast("stock", "jar", (flood, replace(flood, scenario="turn1", stock=StockRate(9, 0, 0))))]
    ) == (
        "What base's jar logs by chance is known from its runs, including those of base here: 9 of turn1, 41 of turn2."
    )
    assert known_noise([Contrast("stock", "jar", (once,))]) == ""


@pytest.mark.parametrize(
    ("base", "candidate", "text"),
    [
        (True, True, "still logged at the end by both"),
        (True, False, "still logged at the end by base only"),
        (False, True, "still logged at the end by the candidate only"),
        (False, False, ""),
    ],
)
def test_it_says_which_arm_still_logs_at_the_end(repeated, finding, base, candidate, text):
    lasting = replace(finding, base_count=3, base_lasting=base, candidate_lasting=candidate)
    assert view(repeated, lasting).findings[0].lasting == text


def test_a_finding_names_the_nodes_that_logged_it_unless_their_kind_says_as_much(repeated, finding):
    def where(**changed):
        return view(repeated, replace(finding, node_kind="observer", **changed)).findings[0].where

    assert where(logged_by="restarted observer").endswith(" · logged by restarted observer")
    assert "logged by" not in where(logged_by="observer") + where(logged_by="")


def test_the_same_slot_with_other_values_elsewhere_is_shown_by_itself(repeated, finding):
    value = replace(finding, kind=FindingKind.VALUE, detail="base: false; candidate: true")
    elsewhere = replace(value, scenario="turn1")
    other = replace(value, node_kind="voter", detail="base: null; candidate: true")
    shown = view(repeated, value, elsewhere, other)
    assert [(each.finding.detail, len(each.also)) for each in shown.findings] == [(value.detail, 1), (other.detail, 0)]


def upgraded(whole, *findings):
    contrast = Contrast("stock", "kafka", findings, of_two_kafkas=True)
    return contrast_view(contrast, known_of(whole), 40, 700)


def test_of_two_kafkas_warnings_are_listed_floods_first_and_what_only_informs_is_counted(repeated, finding):
    warned = replace(finding, level="WARN", stock=StockRate(41, 0, 0))
    gone = replace(warned, kind=FindingKind.VANISHED, template="gone", level="ERROR")
    flood = replace(warned, template="flood", stock=replace(warned.stock, flood=True))
    error = replace(warned, template="error", level="ERROR", significance=Significance.UNKNOWN)
    informs = [replace(finding, level="INFO", template=f"new {n}", logger="a.b.New") for n in range(30)]
    less = [replace(informs[0], kind=FindingKind.VANISHED, template=f"gone {n}", logger="a.b.Old") for n in range(2)]
    debug = replace(informs[0], level="DEBUG")
    within = replace(informs[0], template="noise", significance=Significance.WITHIN)
    shown = upgraded(repeated, gone, warned, *informs, *less, error, flood, debug, within)
    assert [each.finding.template for each in shown.findings] == ["flood", "error", finding.template, "gone"]
    assert shown.folded == (
        "INFO: 32 message types differ, 30 new and 2 vanished; most are of New (30) and Old (2).",
        "DEBUG: 1 message type differs, 1 new; most are of New (1).",
    )
    assert shown.hidden == 0
    assert shown.summary == (
        "4 message types differ at WARN or worse, one of them a flood; 33 at lower levels are counted below."
    )


def test_of_two_kafkas_that_warn_alike_the_page_says_so(repeated, finding):
    shown = upgraded(repeated, replace(finding, level="INFO"))
    assert shown.summary == "No message type differs at WARN or worse; 1 at a lower level is counted below."
    assert view(repeated, replace(finding, level="INFO")).folded == ()


LAST = ("turn2", "leader stops")


def caused(whole, *findings):
    contrast = Contrast("stock", "patched-on", findings)
    return contrast_view(contrast, known_of(whole), 40, 700, causes=causes_of(whole, contrast, {LAST}))


def test_what_differs_only_where_outcomes_differ_is_folded_under_that_outcome(repeated, finding):
    there = replace(finding, scenario=LAST[0], phase=LAST[1])
    elsewhere = replace(finding, scenario="turn1", template="elsewhere")
    shown = caused(repeated, there, elsewhere)
    (cause,) = shown.causes
    assert cause.sentence == "turn2: stock is FAILED(observer_recovers), patched-on PASSED"
    assert [each.finding.template for each in cause.findings] == [finding.template]
    assert [each.finding.template for each in shown.findings] == ["elsewhere"]


def test_what_differs_in_another_phase_as_well_is_no_fallout(repeated, finding):
    there = replace(finding, scenario=LAST[0], phase=LAST[1])
    assert caused(repeated, there, replace(there, phase="start")).causes == ()


def test_a_warning_that_the_arm_which_passed_adds_is_never_folded_away(repeated, finding):
    there = replace(finding, scenario=LAST[0], phase=LAST[1], level="WARN", base_count=0, candidate_count=9)
    assert caused(repeated, there).causes == ()
    assert len(caused(repeated, replace(there, base_count=90)).causes) == 1


def test_arms_with_the_same_outcome_have_no_cause(repeated):
    assert causes_of(repeated, Contrast("stock", "patched-off", ()), {LAST}) == ()
