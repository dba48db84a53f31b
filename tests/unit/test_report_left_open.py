"""What is not fixed, as the card says it: one sentence with counts, and behind it each with where to look."""

from dataclasses import replace

import pytest
import sample_run

from harness.audit.claims_file import load_claims
from harness.audit.graph import graph_of
from harness.audit.java_sources import parse
from harness.audit.questions import FollowedBy, OnlyWhenChanged
from harness.audit.source_answers import answer
from harness.base.paths import data_root
from harness.judge.decision import decide
from harness.model.proof import Answer, AuditAnswer
from harness.model.runs import Evidence
from harness.report.left_open import left_open
from harness.report.links import Link

SHIPPED = data_root() / "patches/3.9.1/dynamic-bootstrap/claims.toml"
PATCHED = data_root() / "tests/unit/audit-fixtures/patched"
STALE = "1 of 4 calls of Log.read is not followed by a write of Cache.entries: in Client.start (Client.java:7)."
AGAIN = "Cache.entries is written after 3 of 4 calls of Log.read, whether anything changed or not: Client.poll."
TWICE = "Cache.entries is read more than once in one method, between which it may be replaced: Client.poll."


def gap(question, detail, line=7):
    evidence = (Evidence("builds/patched/sources/raft/Client.java", line, "log.read();"),)
    return AuditAnswer(question, Answer.DOES_NOT_HOLD, detail, "", evidence)


def left(gaps=(), failing=()):
    """Return what the report shows where these gaps were found and these scenarios fail as on base."""
    results = [result for result, _ in sample_run.results("ship")]
    proof = replace(sample_run.proof("ship"), audit=tuple(gaps))
    record = decide(sample_run.declaration(), results, proof)
    of_runs = tuple(f"{name}: patched-on fails observer_recovers, as stock does." for name in failing)
    return replace(record, not_fixed=(*of_runs, *record.not_fixed))


def shown(gaps=(), failing=(), most=200):
    return left_open(left(gaps, failing), most, 700)


def test_nothing_is_said_where_nothing_is_left():
    assert shown() is None


def test_gaps_are_one_sentence_that_leads_with_what_a_user_is_left_with_and_counts_them():
    gaps = [gap("log-again", AGAIN), gap("start", STALE), gap("write-again", AGAIN)]
    assert shown(gaps).summary == (
        "In 1 case the candidate keeps using old values after a change and in 2 it repeats the same step although "
        "nothing changed: 3 open cases found in its source, which no claim promises to close (log-again, start and "
        "write-again)."
    )


def test_a_gap_of_another_kind_is_counted_too():
    assert shown([gap("read-once", TWICE)]).summary == (
        "In 1 case the candidate does not do what the source audit looked for: 1 open case found in its source, which "
        "no claim promises to close (read-once)."
    )


@pytest.mark.parametrize(
    ("names", "summary"),
    [
        (("turn2",), "1 of 3 scenarios fails with the candidate as it does without it (turn2)."),
        (("turn1", "turn2"), "2 of 3 scenarios fail with the candidate as they do without it (turn1 and turn2)."),
        (("turn2", "turn2"), "1 of 3 scenarios fails with the candidate as it does without it (turn2)."),
    ],
)
def test_scenarios_that_fail_as_before_are_counted_and_named(names, summary):
    assert shown(failing=names).summary == summary


def test_of_many_scenarios_that_fail_as_before_the_sentence_names_four():
    assert shown(failing="abcdef").summary.endswith("(a, b, c, d and 2 more).")


def test_what_fails_in_scenarios_is_said_before_what_the_source_shows():
    summary = shown([gap("start", STALE)], ["turn2"]).summary
    assert summary.startswith("1 of 3 scenarios fails with the candidate as it does without it (turn2); in 1 case the")


def test_each_has_its_whole_text_and_leads_to_its_scenario_or_to_the_lines_of_the_source():
    failing, gapping = shown([gap("start", STALE)], ["turn2"]).items
    assert (failing.text, failing.scenario, failing.links) == (
        "turn2: patched-on fails observer_recovers, as stock does.",
        "turn2",
        (),
    )
    link = Link("builds/patched/sources/raft/Client.java", "Client.java:7")
    assert (gapping.text, gapping.scenario, gapping.links) == (f"start: {STALE}", "", (link,))


def test_of_more_than_fit_the_sentence_counts_all_and_the_rest_is_counted():
    gaps = [gap(f"start-{number}", STALE) for number in range(5)]
    found = shown(gaps, most=2)
    assert (len(found.items), found.hidden) == (2, 3)
    assert "5 open cases" in found.summary


def test_what_the_audit_finds_in_the_shipped_series_is_of_a_kind_that_a_user_is_told():
    """Kinds are known by the audit's own words, which this holds the two to."""
    files = {path.relative_to(PATCHED).as_posix(): path.read_bytes() for path in PATCHED.rglob("*.java")}
    questions = [each for each in load_claims(SHIPPED).questions if isinstance(each.ask, FollowedBy | OnlyWhenChanged)]
    found = [answer(question, graph_of(parse(files))) for question in questions]
    assert shown([each for each in found if each.standing == "gap"]).summary == (
        "In 2 cases the candidate keeps using old values after a change and in 2 it repeats the same step although "
        "nothing changed: 4 open cases found in its source, which no claim promises to close (every-update-refreshes, "
        "every-truncation-refreshes, refresh-only-on-change and log-only-on-change)."
    )
