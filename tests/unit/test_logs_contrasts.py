"""Findings between two arms: what is new, gone, more or less frequent, or logged at another level."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.text import visible
from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.read.excerpts import excerpt
from harness.model.findings import FindingKind

SECONDS = {
    Where(arm, "turn2", role, phase): 10.0
    for arm in ("stock", "on")
    for role in ("voter", "observer")
    for phase in ("start", "stop")
}


def logged(arm, number=1, template="Node <n> disconnected.", *, level="INFO", phase="stop", role="observer", line=7):
    where = Where(arm, "turn2", role, phase)
    return Count(where, level, "a.B", template, number, f"{arm}/server.log", line, f"{level} {template} {line}")


def findings(*counts, base="stock", candidate="on", seconds=SECONDS):
    return contrast(base, candidate, counts, seconds).findings


def kinds(*counts, **names):
    return [finding.kind for finding in findings(*counts, **names)]


def test_a_template_of_the_candidate_only_is_new_with_its_line():
    (finding,) = findings(logged("on", 3))
    assert (
        finding.kind,
        finding.base_count,
        finding.candidate_count,
        finding.phase,
    ) == (FindingKind.NEW, 0, 3, "stop")
    assert [(place.path, place.line) for place in finding.evidence] == [("on/server.log", 7)]
    assert (finding.base_excerpt, finding.candidate_excerpt) == ("", "INFO Node <n> disconnected. 7")


def test_a_template_of_the_base_only_has_vanished():
    assert kinds(logged("stock")) == [FindingKind.VANISHED]


def test_the_same_template_at_another_level_is_one_finding_at_the_worse_level():
    (finding,) = findings(logged("stock", level="INFO"), logged("on", level="WARN"))
    assert (finding.kind, finding.level) == (FindingKind.LEVEL, "WARN")


def test_equal_counts_are_no_finding():
    assert kinds(logged("stock", 40), logged("on", 40)) == []


@pytest.mark.parametrize(("base", "candidate", "shown"), [(10, 15, 0), (10, 16, 1), (16, 10, 1), (1, 5, 0), (1, 6, 1)])
def test_a_rate_is_reported_when_it_differs_by_more_than_half_and_by_five_events(base, candidate, shown):
    assert [FindingKind.RATE] * shown == kinds(logged("stock", base), logged("on", candidate))


def test_a_longer_phase_does_not_make_a_rate():
    longer = SECONDS | {Where("on", "turn2", "observer", "stop"): 100.0}
    assert kinds(logged("stock", 10), logged("on", 100), seconds=longer) == []


def test_a_rate_in_a_phase_that_lasts_longer_on_one_side_says_how_often_a_second():
    longer = SECONDS | {Where("on", "turn2", "observer", "stop"): 40.0}
    (finding,) = findings(logged("stock", 24), logged("on", 24), seconds=longer)
    assert (finding.kind, finding.detail) == (FindingKind.RATE, "2.4 → 0.6 a second")
    (alike,) = findings(logged("stock", 10), logged("on", 100))
    assert alike.detail == ""


def test_a_rate_names_the_phase_in_which_it_differs_most():
    counts = [
        logged("stock", 20, phase="start"), logged("on", 40, phase="start"),
        logged("stock", 1), logged("on", 500),
    ]  # fmt: skip
    (finding,) = findings(*counts)
    assert (finding.phase, finding.base_count, finding.candidate_count) == ("stop", 21, 540)


def test_events_outside_all_phases_make_no_rate_because_their_time_is_unknown():
    assert kinds(logged("stock", 1, phase=""), logged("on", 900, phase="")) == []


def test_kinds_of_node_are_compared_apart():
    assert kinds(logged("stock", role="voter"), logged("on", role="observer")) == [
        FindingKind.NEW,
        FindingKind.VANISHED,
    ]


def test_a_kind_of_node_without_logs_in_one_arm_is_not_compared():
    only_base = {where: time for where, time in SECONDS.items() if where.arm == "stock"}
    assert kinds(logged("stock", 99), seconds=only_base) == []


def test_the_worst_level_comes_first_and_then_the_greatest_difference():
    counts = [logged("on", n, f"{level} {n}", level=level) for level in ("INFO", "ERROR", "WARN") for n in (1, 9)]
    assert [f.template for f in findings(*counts)] == ["ERROR 9", "ERROR 1", "WARN 9", "WARN 1", "INFO 9", "INFO 1"]


def test_of_one_level_what_is_logged_to_the_end_comes_before_what_passes():
    ended = logged("on", 900, "ended", level="WARN", phase="start")
    lasting = dataclasses.replace(logged("on", 9, "lasting", level="WARN"), before_end=True, at_end=True)
    found = findings(ended, lasting)
    assert [(f.template, f.base_lasting, f.candidate_lasting) for f in found] == [
        ("lasting", False, True), ("ended", False, False),
    ]  # fmt: skip


@pytest.mark.parametrize(("before", "still", "lasts"), [(True, True, True), (False, True, False), (True, False, False)])
def test_what_is_logged_once_at_the_end_does_not_last(before, still, lasts):
    (found,) = findings(dataclasses.replace(logged("on"), before_end=before, at_end=still))
    assert found.candidate_lasting is lasts


def by(role, count):
    return dataclasses.replace(count, role=role)


def test_it_is_reported_what_the_nodes_were_that_logged_it_in_its_phase():
    elsewhere = by("follower", logged("on", phase="start"))
    (found,) = findings(elsewhere, by("restarted leader", logged("on", 5)), by("leader", logged("on", 5)))
    assert (found.phase, found.logged_by) == ("stop", "leader and restarted leader")


@pytest.mark.parametrize(
    ("base", "candidate", "shown"),
    [
        ("leader", "follower", "leader in base, follower in the candidate"),
        ("leader", "leader", "leader"),
        ("", "leader", "leader"),
        ("leader", "", "leader"),
        ("", "", ""),
    ],
)
def test_nodes_of_both_arms_are_distinguished_where_they_were_not_the_same(base, candidate, shown):
    (found,) = findings(by(base, logged("stock", 10)), by(candidate, logged("on", 100)))
    assert found.logged_by == shown


def test_the_excerpt_is_the_first_line_of_the_phase():
    counts = [logged("on", line=3, phase="start"), logged("on", 5, line=9), logged("on", 5, line=8)]
    assert findings(*counts)[0].evidence[0].line == 8


counted = st.builds(
    logged,
    st.sampled_from(["stock", "on"]),
    st.integers(1, 100),
    st.sampled_from(["a", "b", "c"]),
    level=st.sampled_from(["INFO", "WARN", "CUSTOM"]),
    phase=st.sampled_from(["start", "stop", ""]),
    role=st.sampled_from(["voter", "observer"]),
    line=st.integers(1, 99),
)


@given(st.lists(counted, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_the_counts_does_not_matter(counts, random):
    # Two first events of a node cannot be on one line of one file.
    counts = [dataclasses.replace(count, file=f"{n}.log") for n, count in enumerate(counts)]
    shuffled = random.sample(counts, len(counts))
    assert findings(*counts) == findings(*shuffled)


@given(st.lists(counted, max_size=20))
def test_looked_at_from_the_other_side_new_has_vanished_and_the_rest_is_the_same(counts):
    turned = {FindingKind.NEW: FindingKind.VANISHED, FindingKind.VANISHED: FindingKind.NEW}
    there = {(turned.get(f.kind, f.kind), f.template, f.node_kind, f.candidate_count) for f in findings(*counts)}
    back = findings(*counts, base="on", candidate="stock")
    assert there == {(f.kind, f.template, f.node_kind, f.base_count) for f in back}


@given(st.lists(counted, max_size=20))
def test_an_arm_compared_with_its_own_copy_has_no_findings(counts):
    of_base = [count for count in counts if count.where.arm == "stock"]
    copy = [dataclasses.replace(count, where=dataclasses.replace(count.where, arm="on")) for count in of_base]
    assert findings(*of_base, *copy) == ()


def test_hidden_characters_of_a_log_are_made_visible():
    assert visible("a\x1b[31m\u202eb\u200b\tc\nd é") == "a\\x1b[31m\\u202eb\\u200b\tc\nd é"


def test_a_long_event_is_cut_where_the_reader_sees_it():
    assert excerpt("x" * 2001) == "x" * 2000 + " … [cut]"
    assert excerpt("x" * 2000) == "x" * 2000


@pytest.mark.parametrize(
    ("numbers", "at_end", "told"),
    [
        ((60, 60), False, False),  # a start's lines: the same, however long the nodes ran then
        ((60, 200), False, False),  # more, and fewer a second: who ran thirty times as long met more of it
        ((60, 3600), False, True),
        ((60, 60), True, True),  # it goes on to the end: thirty times as rarely
        ((60, 1800), True, False),
    ],
)
def test_in_logs_without_phases_what_ended_long_ago_is_compared_in_number_too(numbers, at_end, told):
    def line(arm, number, last_at, template="Node <n> disconnected."):
        is_late = last_at >= 0.9 * lengths[arm]
        return dataclasses.replace(logged(arm, number, template, phase="log"), last_at=last_at, at_end=is_late)

    lengths = {"stock": 60.0, "on": 1800.0}
    counts = [line(arm, n, lengths[arm] if at_end else 5.0) for arm, n in zip(lengths, numbers, strict=True)]
    steady = [line(arm, int(length), length, "It goes on.") for arm, length in lengths.items()]
    first = [line(arm, 1, 0.0, "It begins.") for arm in lengths]
    seconds = {count.where: lengths[count.where.arm] for count in counts}
    found = findings(*counts, *steady, *first, seconds=seconds)
    assert [each.kind for each in found if "disconnected" in each.template] == [FindingKind.RATE] * told
