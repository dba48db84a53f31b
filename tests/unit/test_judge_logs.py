"""What candidates add to the logs beyond the noise: a warning or an error that no claim expects holds a jar back."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_judge import BROKEN, FIX, FLAG, GUARD, SOUND, STARVED, H, R, declare, ran, rests

from harness.judge.decision import decide
from harness.judge.log_verdict import describe_rate
from harness.logs.read.excerpts import excerpt
from harness.model.arms import Role
from harness.model.findings import Contrast, Finding, FindingKind, Significance, StockRate
from harness.model.proof import ERROR_ADDED, ClaimChain, Difference, Severity
from harness.model.runs import Evidence, Verdict
from harness.model.verdict import ClaimStatus
from harness.proof.dropin.rules import Rule

FOUND = Finding(
    FindingKind.NEW, "It failed (…)", "turn2", "voter", "start", "ERROR", "a.B", 0, 6, "", "ERROR It failed (x)", (),
    significance=Significance.BEYOND, base_runs=(0, 0, 0), candidate_runs=(2, 2, 2),
    stock=StockRate(40, 0, 0, unmatched=True),
)  # fmt: skip


def judged(*findings, base="stock", candidate="patched-on", proof=SOUND):
    plan = declare("turn2", repeats=3, claims=(FIX,))
    contrasts = [Contrast(base, candidate, findings)]
    return decide(plan, ran("turn2", [R, R, R], [R, R, R], [H, H, H]), proof, contrasts)


def test_an_error_in_every_run_of_the_candidate_and_in_none_of_base_is_a_hold_that_quotes_it():
    record = judged(FOUND)
    assert record.verdict is Verdict.HOLD
    assert rests(record)[0] == (
        "turn2: patched-on logs a line at ERROR that no claim expects, 2, 2, 2 times in its runs and 0, 0, 0 times on "
        "stock (base's jar logs it in none of 40 known runs): It failed (…)"
    )


@pytest.mark.parametrize(
    "finding",
    [
        replace(FOUND, level="INFO"),
        replace(FOUND, significance=Significance.UNKNOWN),
        replace(FOUND, significance=Significance.WITHIN),
        replace(FOUND, stock=None),
        replace(FOUND, kind=FindingKind.VANISHED, base_runs=(2, 2, 2), candidate_runs=(0, 0, 0)),
        replace(FOUND, kind=FindingKind.RATE, base_runs=(20, 20, 20)),
        replace(FOUND, kind=FindingKind.LEVEL, base_runs=(2, 2, 2), candidate_runs=(0, 0, 0)),
        replace(FOUND, kind=FindingKind.ORDER),
        replace(FOUND, template=f"KafkaConfig: {FLAG.key} = true", level="INFO"),
    ],
    ids=[
        "not a warning",
        "one run",
        "noise",
        "nothing known of base's jar",
        "gone",
        "rarer",
        "a lesser level",
        "another order",
        "the flag's own key",
    ],
)
def test_what_is_no_worse_or_no_more_than_noise_or_the_flags_own_decides_nothing(finding):
    assert judged(finding).verdict is Verdict.SHIP


def test_more_warnings_than_base_beyond_the_noise_are_a_hold():
    rate = replace(FOUND, kind=FindingKind.RATE, level="WARN", base_count=1, base_runs=(0, 1, 0))
    assert judged(rate).verdict is Verdict.HOLD


def test_as_many_lines_at_a_worse_level_than_base_are_a_hold():
    assert judged(replace(FOUND, kind=FindingKind.LEVEL, base_count=6)).verdict is Verdict.HOLD


def test_a_warning_with_a_value_that_base_never_writes_is_a_hold_and_a_value_that_is_gone_is_not():
    value = replace(FOUND, kind=FindingKind.VALUE, base_runs=(9, 9, 9))
    assert judged(value).verdict is Verdict.HOLD
    assert judged(replace(value, candidate_runs=(0, 0, 0))).verdict is Verdict.SHIP


def test_a_warning_that_only_comes_later_decides_nothing():
    assert judged(replace(FOUND, kind=FindingKind.SHIFT)).verdict is Verdict.SHIP


EXPECTS = ClaimChain(FIX.id, "", "", (), (), "turn2", r"It failed \(\w\)")
LINE = Evidence("runs/turn2/patched-on/1/3.log", 7, "It failed (x)")


def expecting(chain, *findings, logged=LINE):
    plan = declare("turn2", repeats=3, claims=(FIX,))
    contrasts = [Contrast("stock", "patched-on", findings)]
    results = ran("turn2", [R, R, R], [R, R, R], [H, H, H])
    found = {FIX.id: logged} if logged else {}
    return decide(plan, results, replace(SOUND, chains=(chain,)), contrasts, logged=found)


@pytest.mark.parametrize(
    ("expected", "found", "verdict"),
    [
        ("info", "INFO", Verdict.SHIP),
        ("info", "WARN", Verdict.HOLD),
        ("info", "ERROR", Verdict.HOLD),
        ("warn", "WARN", Verdict.SHIP),
        ("warn", "ERROR", Verdict.HOLD),
        ("error", "ERROR", Verdict.SHIP),
        ("error", "FATAL", Verdict.HOLD),
    ],
)
def test_what_a_claim_expects_decides_nothing_unless_it_is_logged_at_a_worse_level(expected, found, verdict):
    assert expecting(replace(EXPECTS, level=expected), replace(FOUND, level=found)).verdict is verdict


def test_the_flags_own_key_excuses_no_warning():
    assert judged(replace(FOUND, template=f"{FLAG.key} is ignored", level="WARN")).verdict is Verdict.HOLD


def test_a_claim_whose_line_was_never_logged_is_a_gap():
    record = expecting(EXPECTS, logged=None)
    assert record.verdict is Verdict.INCONCLUSIVE
    assert rests(record)[0] == (
        "The claim follows-moved-voters lacks its evidence: "
        "patched-on logs no line that matches It failed \\(\\w\\) in turn2."
    )
    assert expecting(replace(EXPECTS, evidence=""), logged=None).verdict is Verdict.SHIP


def test_a_line_is_missed_only_where_the_scenario_went_as_claimed():
    chain = replace(SOUND, chains=(EXPECTS,))
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, BROKEN), chain)
    assert not any("lacks its evidence" in sentence for sentence in rests(record))


def test_logs_that_were_not_compared_are_a_gap_that_is_named_last():
    results = ran("turn2", R, R, H)
    record = decide(declare("turn2", claims=(FIX,)), results, SOUND, not_compared="The log diff failed: no memory.")
    assert (record.verdict, rests(record)) == (Verdict.INCONCLUSIVE, ("The log diff failed: no memory.",))
    assert record.not_tested == ("The log diff failed: no memory.",)
    undecided = ran("turn2", R, R, BROKEN)
    record = decide(declare("turn2", claims=(FIX,)), undecided, SOUND, not_compared="The log diff failed: no memory.")
    assert rests(record)[-1] == "The log diff failed: no memory."
    assert "the candidate is undecided" in rests(record)[0]
    held = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, R), SOUND, not_compared="The log diff failed.")
    assert (held.verdict, rests(held)[-1]) == (Verdict.HOLD, "The log diff failed.")


def test_what_the_flag_does_to_the_patched_build_is_judged_against_base_alone():
    assert judged(FOUND, base="patched-off").verdict is Verdict.SHIP


def test_the_same_line_in_many_places_is_named_once_and_many_lines_are_cut():
    places = [replace(FOUND, scenario="turn1"), FOUND]
    lines = [replace(FOUND, template=f"It failed {n}") for n in range(9)]
    reasons = rests(judged(*places, *lines))
    assert len([each for each in reasons if "It failed" in each]) == 5
    assert "5 more such lines are among the log differences." in reasons


@pytest.mark.parametrize(
    ("base", "candidate", "stock", "counted"),
    [
        (H, H, StockRate(40, 3, 2), True),
        (R, R, StockRate(40, 3, 2), True),
        (R, H, StockRate(40, 3, 2), False),
        (H, R, StockRate(40, 0, 0, 12), False),
        (BROKEN, H, StockRate(40, 3, 2), False),
        (R, H, StockRate(40, 0, 0, unmatched=True), True),
        (H, GUARD, StockRate(40, 0, 0, unmatched=True), True),
        (H, STARVED, StockRate(40, 0, 0, unmatched=True), False),
        (H, BROKEN, StockRate(40, 0, 0, unmatched=True), False),
    ],
    ids=[
        "both passed", "both failed alike", "the candidate recovers", "the candidate fails", "base is broken",
        "nowhere on base's jar", "nowhere, before a guard that was not met", "the host starved it", "it is broken",
    ],
)  # fmt: skip
def test_what_runs_log_that_ended_otherwise_than_bases_counts_only_where_bases_jar_logs_nothing_like_it_anywhere(
    base, candidate, stock, counted
):
    plan = declare("turn2")
    contrasts = [Contrast("stock", "patched-on", (replace(FOUND, stock=stock),))]
    record = decide(plan, ran("turn2", base, base, candidate), SOUND, contrasts)
    assert any("It failed" in sentence for sentence in rests(record)) is counted


GONE = replace(
    FOUND, kind=FindingKind.VANISHED, template="It has failed (…)", base_runs=(2, 2, 2), candidate_runs=(0, 0, 0),
    stock=StockRate(41, 41, 2),
)  # fmt: skip
SOMETIMES = StockRate(41, 20, 2)


@pytest.mark.parametrize(
    ("gone", "verdict"),
    [
        (GONE, Verdict.SHIP),
        (replace(GONE, base_runs=(1, 1, 1)), Verdict.HOLD),
        (replace(GONE, level="WARN"), Verdict.HOLD),
        (replace(GONE, logger="a.C"), Verdict.HOLD),
        (replace(GONE, node_kind="observer"), Verdict.HOLD),
        (replace(GONE, template="Connection could not be established"), Verdict.HOLD),
        (replace(GONE, template="[a <n>] Bad (…)"), Verdict.HOLD),
        (replace(GONE, stock=SOMETIMES, significance=Significance.WITHIN), Verdict.HOLD),
        (replace(GONE, stock=None, significance=Significance.UNKNOWN), Verdict.SHIP),
        (replace(GONE, stock=None, significance=Significance.UNKNOWN, base_runs=(2, 2)), Verdict.HOLD),
        (replace(GONE, stock=None, significance=Significance.UNKNOWN, base_runs=(2, 2, 0)), Verdict.HOLD),
    ],
    ids=[
        "another wording", "rarer", "another level", "another logger", "other nodes", "other words", "the same context",
        "base's jar logs it in some runs", "base logs it in each of three runs", "in two", "in two of three",
    ],
)  # fmt: skip
def test_a_line_that_takes_the_place_of_one_as_frequent_in_like_words_is_another_wording_of_it(gone, verdict):
    found = replace(FOUND, template=f"[a <n>] {FOUND.template}") if gone.template.startswith("[") else FOUND
    assert judged(found, gone).verdict is verdict


def test_another_wording_of_what_base_always_logs_in_one_scenario_is_one_where_it_only_sometimes_does():
    rare = replace(GONE, scenario="turn1", stock=SOMETIMES, significance=Significance.WITHIN)
    there = replace(FOUND, scenario="turn1")
    plan = declare("turn1", "turn2", repeats=3)
    results = [*ran("turn1", [H] * 3, [H] * 3, [H] * 3), *ran("turn2", [H] * 3, [H] * 3, [H] * 3)]

    def held(*findings):
        return decide(plan, results, SOUND, [Contrast("stock", "patched-on", findings)]).verdict is Verdict.HOLD

    assert not held(FOUND, GONE, there, rare)
    assert held(there, rare)


def test_the_flood_that_stands_beside_the_warnings_that_a_fix_ends_is_a_hold():
    """The fix is meant to end these; that gives its logger no free warning."""
    ended = replace(GONE, template="Connection to node <n> could not be established.", base_runs=(60, 60, 60))
    flood = replace(FOUND, template="Truncating committed records", candidate_runs=(80, 80, 80))
    assert judged(flood, ended).verdict is Verdict.HOLD


def test_a_warning_that_a_class_of_another_name_writes_as_often_has_only_moved():
    moved = replace(GONE, template=FOUND.template, logger="com.vendor.raft.X")
    assert judged(FOUND, moved).verdict is Verdict.SHIP
    assert judged(FOUND, replace(moved, base_runs=(1, 1, 1))).verdict is Verdict.HOLD
    assert judged(FOUND, replace(moved, node_kind="observer")).verdict is Verdict.HOLD


def test_one_line_that_is_gone_makes_room_for_one_other_wording():
    assert judged(FOUND, replace(FOUND, template="It failed again (…)"), GONE).verdict is Verdict.HOLD


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (StockRate(41, 0, 0), "base's jar logs it in none of 41 known runs"),
        (StockRate(41, 0, 0, 7), "base's jar logs it in none of 41 known runs, but in 7 of other scenarios or nodes"),
        (StockRate(41, 3, 2, 7), "base's jar logs it in 3 of 41 known runs, at most 2 times"),
    ],
)
def test_what_is_known_of_bases_jar_is_said(rate, text):
    assert describe_rate(rate) == text


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        (FOUND, Verdict.SHIP),
        (replace(FOUND, stock=replace(FOUND.stock, flood=True)), Verdict.HOLD),
        (replace(FOUND, stock=replace(FOUND.stock, flood=True), level="INFO"), Verdict.SHIP),
    ],
    ids=["in every run", "a flood", "a flood that informs"],
)
def test_of_two_kafkas_only_floods_of_warnings_decide(finding, verdict):
    """Thousands of statements differ between them, and a release says what it always warns of."""
    plan = declare("turn2", repeats=3)
    results = ran("turn2", [H, H, H], [H, H, H], [H, H, H])
    contrast = Contrast("stock", "patched-on", (finding,), of_two_kafkas=True)
    record = decide(plan, results, SOUND, [contrast])
    assert (Verdict.HOLD in {each.weight for each in record.reasons}) is (verdict is Verdict.HOLD)


def test_a_hold_by_the_logs_of_one_run_is_not_called_unlucky_and_its_scenario_not_sound():
    plan = declare("turn1", "turn2")
    results = [*ran("turn1", H, H, H), *ran("turn2", H, H, H)]
    record = decide(plan, results, SOUND, [Contrast("stock", "patched-on", (replace(FOUND, candidate_runs=(400,)),))])
    assert (record.verdict, record.against) == (Verdict.HOLD, "Nothing speaks against the candidate in turn1.")


RAFT = "org.apache.kafka.raft.KafkaRaftClient"
ADDED = Difference(ERROR_ADDED, Severity.NOTE, f"{RAFT}$Inner", "", "", "No answer of {} for {} ms")
FEW = replace(
    FOUND, template="No answer of <n> for <n> ms", logger=RAFT, candidate_count=5, base_runs=(0,), candidate_runs=(5,),
    candidate_excerpt="ERROR [RaftManager id=1] No answer of 3 for 50 ms", significance=Significance.UNKNOWN,
    stock=StockRate(40, 0, 0),
)  # fmt: skip


QUORUM_STATE = "org/apache/kafka/raft/QuorumState.java"


@pytest.mark.parametrize(
    "finding",
    [
        replace(FEW, logger="raft.audit"),
        replace(FEW, logger="kafka.raft.KafkaRaftManager"),
        replace(FEW, logger="raft.audit", statement=f"{RAFT.replace('.', '/')}.java:1200"),
    ],
    ids=["a logger that has a name of its own", "one of another class", "by its sources"],
)
def test_a_class_may_write_an_error_by_another_logger_than_its_own(finding):
    assert with_errors(finding).verdict is Verdict.HOLD


def with_errors(*findings, errors=(ADDED,), **of):
    return judged(*findings, proof=replace(SOUND, differences=errors), **of)


def test_an_error_that_base_has_no_statement_for_is_a_hold_at_one_repeat_however_few_there_are():
    for finding in (FEW, replace(FEW, stock=None), replace(FEW, candidate_count=1, candidate_runs=(1,))):
        record = with_errors(finding)
        assert record.verdict is Verdict.HOLD
        assert "logs a line at ERROR that no claim expects" in rests(record)[0]
    assert judged(FEW).verdict is Verdict.SHIP


@pytest.mark.parametrize("length", [10, 1_990, 5_000])
def test_an_error_is_known_by_its_statement_however_long_what_it_names(length):
    line = f"ERROR No answer of FetchResponse({'x' * length}) for 50 ms"
    assert with_errors(replace(FEW, candidate_excerpt=excerpt(line))).verdict is Verdict.HOLD
    assert with_errors(replace(FEW, candidate_excerpt=excerpt(f"ERROR Else {line[9:]}"))).verdict is Verdict.SHIP


@pytest.mark.parametrize(
    ("finding", "error"),
    [
        (replace(FEW, level="WARN"), ADDED),
        (replace(FEW, logger="org.apache.kafka.raft.QuorumState", statement=f"{QUORUM_STATE}:7"), ADDED),
        (replace(FEW, logger="org.eclipse.jetty.server.Server"), ADDED),
        (replace(FEW, candidate_excerpt="ERROR For 50 ms: No answer of 3"), ADDED),
        (replace(FEW, stock=StockRate(40, 0, 0, elsewhere=1)), ADDED),
        (replace(FEW, stock=StockRate(40, 1, 1)), ADDED),
        (replace(FEW, base_count=1, base_runs=(1,)), ADDED),
        (FEW, replace(ADDED, candidate="{} ms")),
        (FEW, replace(ADDED, waived="accepted by the raft team")),
        (FEW, replace(ADDED, rule="log-statement-gone")),
    ],
    ids=[
        "a warning",
        "another class",
        "somebody else's class",
        "other words",
        "known elsewhere",
        "known here",
        "on base too",
        "hardly a word",
        "waived",
        "another rule",
    ],
)
def test_what_base_may_log_by_chance_or_somebody_accepts_is_left_to_the_noise(finding, error):
    assert with_errors(finding, errors=(error,)).verdict is Verdict.SHIP


def test_a_new_error_in_like_words_of_one_that_base_always_logs_is_another_wording_of_it():
    was = replace(
        FEW, kind=FindingKind.VANISHED, template="No answer of node <n> for <n> ms", base_count=5, candidate_count=0,
        base_runs=(5,), candidate_runs=(0,), stock=StockRate(40, 40, 5),
    )  # fmt: skip
    assert with_errors(FEW, was).verdict is Verdict.SHIP


def test_a_new_error_that_a_claim_expects_decides_nothing():
    chain = replace(EXPECTS, evidence="No answer of", level="error")
    plan = declare("turn2", repeats=3, claims=(FIX,))
    proof = replace(SOUND, chains=(chain,), differences=(ADDED,))
    results = ran("turn2", [R, R, R], [R, R, R], [H, H, H])
    record = decide(plan, results, proof, [Contrast("stock", "patched-on", (FEW,))], logged={FIX.id: LINE})
    assert record.verdict is Verdict.SHIP


OFF_LINE = Evidence("runs/turn2/patched-off/1/3.log", 9, "It failed (y)")
NOT_INERT = (
    "turn2: the flag is not inert: patched-off logs what the claim follows-moved-voters expects of patched-on, and "
    "stock does not: It failed (y) (runs/turn2/patched-off/1/3.log:9)."
)


def with_flag_off(claim=FIX, line=OFF_LINE):
    """Judge turn2, in which all goes as claimed, and such a line was logged with the flag off."""
    plan = declare("turn2", claims=(claim,))
    proof = replace(SOUND, chains=(replace(EXPECTS, claim=claim.id),))
    found = {claim.id: line} if line else {}
    return decide(plan, ran("turn2", R, R, H), proof, logged={claim.id: LINE}, logged_off=found)


def test_the_line_of_a_claim_that_is_logged_with_the_flag_off_is_a_hold_that_quotes_it():
    record = with_flag_off()
    assert (record.verdict, rests(record)[0]) == (Verdict.HOLD, NOT_INERT)
    assert record.claims[0].logged_off == OFF_LINE
    assert with_flag_off(line=None).verdict is Verdict.SHIP
    assert with_flag_off(line=None).claims[0].logged_off is None


@pytest.mark.parametrize("says_of_off", [True, False])
def test_only_a_claim_that_speaks_of_the_flag_switched_off_is_refuted_by_such_a_line(says_of_off):
    expected = FIX.expected if says_of_off else {role: FIX.expected[role] for role in (Role.BASE, Role.ON)}
    (claim,) = with_flag_off(replace(FIX, expected=expected)).claims
    assert (claim.status is ClaimStatus.REFUTED, claim.why == NOT_INERT) == (says_of_off, says_of_off)


def test_such_a_line_is_named_before_the_lines_that_no_claim_expects():
    plan = declare("turn2", repeats=3, claims=(FIX,))
    contrasts = [Contrast("stock", "patched-on", (replace(FOUND, template="Another one"),))]
    record = decide(plan, ran("turn2", [R] * 3, [R] * 3, [H] * 3), SOUND, contrasts, logged_off={FIX.id: OFF_LINE})
    assert rests(record)[0] == NOT_INERT
    assert len(rests(record)) == 2


@given(lines=st.dictionaries(st.sampled_from(["a", "b", "c"]), st.just(OFF_LINE)), on=st.sampled_from([R, H, BROKEN]))
def test_each_such_line_is_one_more_reason_and_never_makes_a_verdict_better(lines, on):
    claims = tuple(replace(FIX, id=name) for name in "abc")
    plan, results = declare("turn2", claims=claims), ran("turn2", R, R, on)
    before, after = (decide(plan, results, SOUND, logged_off=found) for found in ({}, lines))
    assert len(after.reasons) == len(before.reasons) + len(lines)
    assert after.verdict is (Verdict.HOLD if lines else before.verdict)


@pytest.mark.parametrize("length", [100, 700, 5_000])
def test_an_error_is_known_by_a_statement_however_long_its_own_words(length):
    words = f"No answer {'and again ' * (length // 10)}of {{}}"
    added = Rule(ERROR_ADDED, Severity.NOTE, "").broken(ADDED.where, "", "", words)
    line = excerpt(f"ERROR {words.replace('{}', '3')}")
    assert with_errors(replace(FEW, candidate_excerpt=line), errors=(added,)).verdict is Verdict.HOLD


def test_a_line_that_a_claim_expects_with_the_flag_on_is_not_expected_of_the_arm_with_the_flag_off():
    proof = replace(SOUND, chains=(replace(EXPECTS, level="error"),))
    for arm, is_new in (("patched-on", False), ("patched-off", True)):
        said = rests(judged(FOUND, proof=proof, candidate=arm))
        assert any(f"{arm} logs a line at ERROR" in each for each in said) is is_new
