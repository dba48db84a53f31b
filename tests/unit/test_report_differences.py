"""Log differences in the report: folded by family, noise apart, what a claim foretells behind what none does."""

from dataclasses import replace

import pytest
from nightly_sample import document

from harness.model import FindingKind, Significance
from harness.report.differences import beside, contrast_view
from harness.report.document import ContrastDoc, Document, FindingDoc


@pytest.fixture(scope="module")
def repeated() -> Document:
    return replace(document(), repeats=3)


@pytest.fixture(scope="module")
def finding(repeated) -> FindingDoc:
    first = repeated.contrasts[2].findings[0]
    return replace(first, significance=Significance.BEYOND, base_runs=(0, 0, 0), candidate_runs=(4, 5, 6))


def view(whole, *findings):
    return contrast_view(ContrastDoc("stock", "patched-on", findings), beside(whole), 40, 700)


def test_the_same_family_in_several_places_is_told_once_with_its_counts_of_each_repeat(repeated, finding):
    shown = view(repeated, finding, replace(finding, scenario="turn1"), replace(finding, role="voter"))
    (only,) = shown.findings
    assert (only.base, only.candidate) == ("0 · 0 · 0", "4 · 5 · 6")
    assert len(only.also) == 2
    assert shown.told.startswith("1 family of lines differs beyond the noise, 0 within it, and 0 that these")


def test_noise_is_shown_apart_and_counted(repeated, finding):
    noise = replace(finding, template="elected", significance=Significance.WITHIN, q=0.8)
    shown = view(repeated, noise, finding)
    assert [each.template for each in shown.findings] == [finding.template]
    assert ([each.template for each in shown.noise], shown.within) == (["elected"], 1)
    assert shown.noise[0].told == "within the noise, false discovery rate 0.8"


def test_what_nobody_foretold_comes_first_and_what_cannot_be_told_last(repeated, finding):
    claim = repeated.claims[0]
    changed = replace(repeated, claims=(replace(claim, foretells="Updated bootstrap servers"), *repeated.claims[1:]))
    unknown = replace(finding, template="sometimes", candidate_excerpt="", significance=Significance.UNKNOWN)
    surprise = replace(finding, kind=FindingKind.VANISHED, template="gone", candidate_excerpt="")
    shown = view(changed, unknown, finding, surprise)
    assert [(each.template, each.explained) for each in shown.findings] == [
        ("gone", ""),
        (finding.template, claim.id),
        ("sometimes", ""),
    ]
    assert [each.unknown for each in shown.findings] == [False, False, True]


def test_with_one_run_of_each_arm_nothing_is_called_noise(repeated, finding):
    once = replace(finding, significance=Significance.UNKNOWN, base_runs=(0,), candidate_runs=(4,))
    shown = view(replace(repeated, repeats=1), once)
    assert (
        shown.told == "1 family of lines differs; each arm ran once, so that nobody can tell which of them are noise."
    )
    assert (shown.findings[0].candidate, shown.findings[0].told, shown.findings[0].unknown) == ("94", "", False)
