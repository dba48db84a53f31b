"""Waivers: who may say that a difference is known, and for how long."""

from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.model.proof import Difference, Severity
from harness.model.waivers import load_waivers, parse_waivers
from harness.proof.waived_differences import waive_differences

TODAY = date(2026, 11, 21)
RULES = ("class-missing", "member-removed")
MISSING = Difference("class-missing", Severity.FAIL, "a.B", "the class a.B is missing")
WAIVER = """[[waiver]]
rule = "class-missing"
where = "a.*"
reason = "nobody uses it"
owner = "raft team"
expires = "2026-11-21"
"""


def waived(text: str, *differences: Difference, today: date = TODAY) -> tuple[Difference, ...]:
    return waive_differences(differences, parse_waivers(text.encode(), "waivers.toml", RULES), today)


def test_a_waiver_covers_its_difference_up_to_its_last_day_and_says_who_answers():
    (found,) = waived(WAIVER, MISSING)
    assert not found.blocks
    assert found.waived == "nobody uses it (raft team, until 2026-11-21)"


def test_an_expired_waiver_covers_nothing_and_fails_itself():
    complaint, found = waived(WAIVER, MISSING, today=date(2026, 11, 22))
    assert found.blocks
    assert (complaint.rule, complaint.blocks) == ("waiver-expired", True)
    assert "owned by raft team, expired on 2026-11-21" in complaint.detail


def test_a_waiver_that_matches_nothing_is_stale_and_fails():
    (complaint,) = waived(WAIVER)
    assert (complaint.rule, complaint.severity) == ("waiver-stale", Severity.FAIL)


def test_a_waiver_is_for_one_rule_alone():
    other = Difference("member-removed", Severity.FAIL, "a.B", "")
    complaint, found = waived(WAIVER, other)
    assert (complaint.rule, found.blocks) == ("waiver-stale", True)


def test_a_place_with_brackets_is_also_taken_as_it_stands():
    text = WAIVER.replace("a.*", "a.B.f([I)V")
    (found,) = waived(text, Difference("class-missing", Severity.FAIL, "a.B.f([I)V", ""))
    assert found.waived


def test_a_day_may_be_a_toml_date():
    (found,) = waived(WAIVER.replace('"2026-11-21"', "2026-11-21"), MISSING)
    assert found.waived


def test_waivers_of_nights_stand_in_the_same_file():
    of_a_night = WAIVER.replace("[[waiver]]", "[[outcome]]").replace('rule = "class-missing"', 'shows = "FAILED(x)"')
    assert waived(of_a_night) == ()
    (found,) = waived(WAIVER + of_a_night, MISSING)
    assert not found.blocks


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("nonsense", "waivers.toml"),
        ("[[waver]]\n", "it holds tables of the names waiver, outcome, finding"),
        ("waiver = 1\n", "waiver: each is a [[waiver]] table"),
        (WAIVER.replace('owner = "raft team"\n', ""), "waiver 1: it needs where, rule, reason, owner, expires"),
        (WAIVER.replace("raft team", " "), "waiver 1, owner: it is a text that is not empty"),
        (WAIVER.replace("class-missing", "clas-missing"), "there is no rule 'clas-missing'"),
        (WAIVER.replace("2026-11-21", "soon"), "waiver 1, expires: 'soon' is not a day like"),
        (WAIVER.replace('"2026-11-21"', "2026-11-21T10:00:00"), "is not a day like"),
    ],
)
def test_a_file_that_is_not_well_formed_is_reported_with_its_place(text, shown):
    with pytest.raises(HarnessError, match=r"waivers\.toml") as raised:
        waived(text)
    assert shown in raised.value.message


def test_a_file_that_cannot_be_read_is_reported(tmp_path):
    with pytest.raises(HarnessError, match="cannot be read: No such file"):
        load_waivers(tmp_path / "none.toml", RULES)


@given(st.binary(max_size=60))
def test_whatever_the_bytes_there_are_waivers_or_a_sentence(content):
    with suppress(HarnessError):
        parse_waivers(content, "waivers.toml", RULES)
