"""The verdict over a whole plan: what holds, what is missing and what is said about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.base.errors import HarnessError
from harness.judge.cells import fold_repeats
from harness.judge.decision import NOT_ROLLED
from harness.judge.decision import decide as decide_all
from harness.judge.reasons import rests_on
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.candidate_kind import CandidateKind
from harness.model.claims import Claim, Expected
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.proof import (
    Answer,
    AuditAnswer,
    Difference,
    FailedTest,
    Proof,
    Severity,
    TestScope,
    TestsProof,
    TestSuite,
)
from harness.model.runs import Outcome, RunResult, Verdict
from harness.model.verdict import CellState, Check, ClaimStatus, Effect, Standing, VerdictRecord

LOST = "observer_recovers"
FLAG = Flag("controller.quorum.dynamic.bootstrap.servers.enable", known=True, default="true")
STOCK = Build("stock", "3.9.1", "a.jar", "a" * 64, "release", Flag(FLAG.key, known=False))
PATCHED = Build("patched", "3.9.1", "b.jar", "b" * 64, "ecj 3.45", FLAG)
ARMS = (
    Arm("stock", Role.BASE, STOCK, "absent"),
    Arm("patched-off", Role.OFF, PATCHED, "false"),
    Arm("patched-on", Role.ON, PATCHED, "absent"),
)
OLDER = replace(PATCHED, name="base", jar="c.jar", jar_sha256="c" * 64)
BASE_HAS_FLAG = (
    Arm("base", Role.BASE, OLDER, "true"),
    Arm("base-off", Role.BASE_OFF, OLDER, "false"),
    *ARMS[1:],
)
FIX = Claim(
    "follows-moved-voters",
    "An observer finds a leader whose address it was never configured with.",
    "turn2",
    {
        Role.BASE: Expected(Outcome.FAILED, LOST),
        Role.OFF: Expected(Outcome.FAILED, LOST),
        Role.ON: Expected(Outcome.PASSED),
    },
)
H, R = (Outcome.PASSED, "", ""), (Outcome.FAILED, LOST, "no progress in 15 s")
CRASH = (Outcome.FAILED, "node_alive", "node 1 exited with 1")
GUARD = (Outcome.INCONCLUSIVE, "has_new_leader", "guard unmet: has_new_leader in 30 s")
STARVED = (Outcome.INCONCLUSIVE, "host_not_starved", "guard unmet: 2 s stall of node 3")
OVER_BUDGET = (Outcome.INCONCLUSIVE, "within_budget", "guard unmet: the plan took longer than its 180 s")
UNREAD = (Outcome.INCONCLUSIVE, "ledger_read", "it could not be checked what was lost: no answer")
BROKEN = (Outcome.BROKEN, "", "port taken")
UNSUPPORTED = (Outcome.UNSUPPORTED, "", "needs root")

SOUND = Proof("patched", "a" * 64, "b" * 64, ("class-missing",), (), TestsProof(TestScope.RELATED), ())


def decide(plan: Declaration, results, proof: Proof | None = SOUND) -> VerdictRecord:
    return decide_all(plan, results, proof)


def rests(record: VerdictRecord) -> tuple[str, ...]:
    """The sentences that a verdict rests on."""
    return rests_on(record.verdict, record.reasons)


def declare(*scenarios: str, repeats: int = 1, claims: tuple[Claim, ...] = (), arms=ARMS) -> Declaration:
    return Declaration(SCHEMA, "3.9.1", arms, tuple(map(DeclaredScenario, scenarios)), repeats, claims)


def ran(scenario: str, *shown, arms=ARMS) -> list[RunResult]:
    """One result per arm, or per arm and repeat where an arm shows a list."""
    return [
        RunResult(scenario, arm.name, arm.role, k, *what)
        for arm, per_arm in zip(arms, shown, strict=True)
        for k, what in enumerate(per_arm if isinstance(per_arm, list) else [per_arm], 1)
    ]


def fixed(**changes) -> VerdictRecord:
    return decide(declare("turn2", claims=(FIX,), **changes), ran("turn2", R, R, H))


def test_a_claim_borne_out_is_a_ship_that_says_what_was_seen_and_not_that_it_is_safe() -> None:
    record = fixed()
    assert record.verdict is Verdict.SHIP
    assert record.sentence == "turn2 fails on stock and passes with the patch on, as claimed."
    assert rests(record) == (
        "turn2: stock fails observer_recovers and patched-on passes, as the claim follows-moved-voters says.",
    )


def test_where_nothing_is_claimed_that_no_scenario_fails_on_base_is_no_reason_against_shipping() -> None:
    record = decide(declare("turn1", "a"), ran("turn1", H, H, H) + ran("a", H, H, H))
    assert record.verdict is Verdict.SHIP
    assert "changes nothing" not in record.against


def test_what_of_the_logs_was_not_compared_stands_among_what_was_not_tested() -> None:
    left_out = "turn1, observer: only stock has logs, so stock and patched-on are not compared there."
    record = decide_all(
        declare("turn1", "a"), [*ran("turn1", H, H, H), *ran("a", H, H, H)], SOUND, not_read=(left_out,)
    )
    assert left_out in record.not_tested


def test_nothing_discriminating_is_inconclusive_beside_claims() -> None:
    keeps = Claim("keeps", "…", "turn1", {Role.ON: Expected(Outcome.PASSED)})
    record = decide(declare("turn1", "a", claims=(keeps,)), ran("turn1", H, H, H) + ran("a", H, H, H))
    assert record.verdict is Verdict.INCONCLUSIVE
    assert rests(record)[-1] == (
        "Nothing discriminates: no scenario fails on stock and passes on patched-on, so a jar that changes nothing "
        "would look the same."
    )
    claimed_otherwise = replace(declare("turn1", "a"), kind=CandidateKind.CLAIMED)
    assert decide(claimed_otherwise, ran("turn1", H, H, H) + ran("a", H, H, H)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("shown", [(H, H, H), (R, R, R)])
def test_nothing_discriminating_in_a_single_scenario_is_inconclusive(shown) -> None:
    record = decide(declare("turn1"), ran("turn1", *shown))
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "Nothing discriminates" in rests(record)[-1]
    unsupported = ran("partition", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED)
    beside = decide(declare("turn1", "partition"), ran("turn1", *shown) + unsupported)
    assert beside.verdict is Verdict.INCONCLUSIVE


def test_nothing_discriminating_is_no_further_reason_where_something_else_decides() -> None:
    held = decide(declare("turn1"), ran("turn1", H, H, R))
    assert [each.source for each in held.reasons if each.weight is Verdict.INCONCLUSIVE] == []


def test_against_a_ship_that_discriminates_speaks_how_often_it_ran() -> None:
    assert fixed().against.startswith("Each scenario ran once per arm")
    repeated = decide(declare("turn2", repeats=3, claims=(FIX,)), ran("turn2", [R, R, R], [R, R, R], [H, H, H]))
    assert "only faults that show in more than 63 % of runs" in repeated.against


def test_a_defect_that_stays_is_reported_and_does_not_block() -> None:
    record = decide(
        declare("turn2", "restart-lost", claims=(FIX,)), ran("turn2", R, R, H) + ran("restart-lost", R, R, R)
    )
    assert record.verdict is Verdict.SHIP
    assert record.sentence.endswith("as claimed; restart-lost fails on both.")
    assert record.against.startswith("The defect that base shows in restart-lost is not fixed")


def test_a_hold_names_scenario_and_expectation() -> None:
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, R))
    assert record.verdict is Verdict.HOLD
    assert "turn2" in record.sentence
    assert "patched-on fails observer_recovers" in record.sentence
    assert "no progress in 15 s" in record.sentence


@pytest.mark.parametrize("shown", [CRASH, GUARD])
def test_a_candidate_that_dies_or_cannot_be_tested_is_held_back(shown) -> None:
    record = decide(declare("turn1"), ran("turn1", H, H, shown))
    assert record.verdict is Verdict.HOLD
    assert ("node_alive" if shown is CRASH else "question_reachable") in rests(record)[0]


def test_hold_beats_inconclusive_beats_ship() -> None:
    plan = declare("a", "b", "c")
    ship, unclear, hold = ran("a", H, H, H), ran("b", H, H, BROKEN), ran("c", H, H, R)
    assert decide(plan, ship + unclear + hold).verdict is Verdict.HOLD
    assert decide(declare("a", "b"), ship + unclear).verdict is Verdict.INCONCLUSIVE
    assert decide(declare("a", "d"), ship + ran("d", H, H, H)).verdict is Verdict.SHIP


def test_a_hold_for_the_flag_says_so_and_not_what_went_well() -> None:
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, H, H))
    assert record.verdict is Verdict.HOLD
    assert rests(record) == ("turn2: the flag is not inert: patched-off passes where stock fails observer_recovers.",)
    assert record.claims[0].status is ClaimStatus.REFUTED


def test_nothing_tested_is_inconclusive() -> None:
    record = decide(declare(), [])
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "No scenario has a result" in record.sentence


def test_all_unsupported_is_never_a_ship() -> None:
    record = decide(
        declare("partition", claims=(replace(FIX, scenario="partition"),)),
        ran("partition", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED),
    )
    assert record.verdict is Verdict.INCONCLUSIVE
    assert record.claims[0].status is ClaimStatus.UNTESTED
    assert "partition was not run: this host does not support it (needs root)." in record.not_tested


def test_questions_that_a_run_did_not_come_to_are_named_unless_it_failed_as_claimed() -> None:
    stopped = [replace(each, unasked=("a", "b")) for each in ran("turn2", R, R, H)[:2]]
    results = [*stopped, *ran("turn2", R, R, H)[2:]]
    assert decide(declare("turn2", claims=(FIX,)), results).not_tested == (NOT_ROLLED,)
    assert decide(declare("turn2"), results).not_tested == (
        "turn2 on stock ended as FAILED(observer_recovers) before it could test a and b.",
        "turn2 on patched-off ended as FAILED(observer_recovers) before it could test a and b.",
        NOT_ROLLED,
    )


def test_a_claim_that_this_host_cannot_ask_is_named_however_well_the_rest_went() -> None:
    record = decide(
        declare("turn2", "partition", claims=(FIX, replace(FIX, id="heals", scenario="partition"))),
        ran("turn2", R, R, H) + ran("partition", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED),
    )
    gap = "The claim heals is untested: this host does not support its scenario partition (needs root)."
    assert record.verdict is Verdict.INCONCLUSIVE
    assert rests(record) == (gap,)
    assert gap in record.not_tested
    assert [c.status for c in record.claims] == [ClaimStatus.HELD, ClaimStatus.UNTESTED]


def test_an_unsupported_scenario_that_nobody_claims_anything_of_does_not_block() -> None:
    record = decide(
        declare("turn2", "partition", claims=(FIX,)),
        ran("turn2", R, R, H) + ran("partition", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED),
    )
    assert record.verdict is Verdict.SHIP
    assert record.against == "This host cannot run partition."


def test_a_claimed_scenario_that_was_not_run_is_named() -> None:
    record = decide(declare("turn1", claims=(FIX,)), ran("turn1", H, H, H))
    assert record.verdict is Verdict.INCONCLUSIVE
    assert rests(record) == ("The claim follows-moved-voters is untested: its scenario turn2 was not run.",)


def test_a_scenario_without_results_is_inconclusive_and_named() -> None:
    record = decide(declare("turn2", claims=(FIX,)), [])
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "turn2: stock has no result" in rests(record)[0]


@pytest.mark.parametrize(
    ("role", "arms"), [*((arm.role, ARMS) for arm in ARMS), *((arm.role, BASE_HAS_FLAG) for arm in BASE_HAS_FLAG)]
)
def test_an_arm_left_out_is_named_and_inconclusive(role: Role, arms) -> None:
    shown = {Role.BASE: R if arms is ARMS else H, Role.BASE_OFF: R, Role.OFF: R, Role.ON: H}
    arms = tuple(arm for arm in arms if arm.role is not role)
    record = decide(declare("turn2", claims=(FIX,), arms=arms), ran("turn2", *(shown[a.role] for a in arms), arms=arms))
    assert record.verdict is Verdict.INCONCLUSIVE
    assert f"no {role} arm" in rests(record)[0]


def upgraded(base, base_off, off, on, claims=(FIX,)) -> VerdictRecord:
    """Judge a candidate against a base that has the flag already."""
    plan = declare("turn2", claims=claims, arms=BASE_HAS_FLAG)
    return decide(plan, ran("turn2", base, base_off, off, on, arms=BASE_HAS_FLAG))


def test_each_scenario_that_got_better_is_named_beside_the_control_it_was_held_against() -> None:
    plan = declare("turn2", "other", arms=BASE_HAS_FLAG, claims=(FIX,))
    shown = ran("turn2", H, R, R, H, arms=BASE_HAS_FLAG) + ran("other", R, R, R, H, arms=BASE_HAS_FLAG)
    assert decide(plan, shown).sentence == (
        "turn2 fails on base-off and passes with the patch on, as claimed; other fails on base and passes with the "
        "patch on, which no claim mentions."
    )


def test_a_patch_on_top_of_itself_is_a_ship_whose_control_is_base_with_its_flag_off() -> None:
    record = upgraded(H, R, R, H)
    assert record.verdict is Verdict.SHIP
    assert rests(record) == (
        "turn2: base-off fails observer_recovers and patched-on passes, as the claim follows-moved-voters says.",
    )
    assert record.scenarios[0].discriminates
    assert [run.check.is_fine for run in record.runs] == [True] * 4
    assert [cell.expected for cell in record.scenarios[0].cells] == [
        (),
        (FIX.expected[Role.BASE],),
        (FIX.expected[Role.OFF],),
        (FIX.expected[Role.ON],),
    ]


@pytest.mark.parametrize(
    ("shown", "verdict", "says"),
    [
        ((H, R, R, R), Verdict.HOLD, "patched-on fails observer_recovers"),
        ((H, R, H, H), Verdict.HOLD, "patched-off passes where base-off fails observer_recovers"),
        ((H, H, H, H), Verdict.INCONCLUSIVE, "base-off passes where the claim follows-moved-voters says that it fails"),
        ((CRASH, R, R, H), Verdict.INCONCLUSIVE, "the control is undecided: base fails node_alive"),
        ((H, CRASH, R, H), Verdict.INCONCLUSIVE, "the control is undecided: base-off fails node_alive"),
        ((R, R, R, H), Verdict.SHIP, "base-off fails observer_recovers and patched-on passes"),
        ((H, GUARD, GUARD, H), Verdict.INCONCLUSIVE, "base-off is INCONCLUSIVE"),
    ],
)
def test_a_base_with_the_flag_is_held_against_claims_with_its_flag_off_and_is_itself_not_to_be_undercut(
    shown, verdict, says
) -> None:
    record = upgraded(*shown)
    assert record.verdict is verdict
    assert any(says in sentence for sentence in rests(record)), rests(record)


def test_without_a_claim_the_candidate_is_measured_by_base_as_it_is() -> None:
    worse = upgraded(H, R, R, R, claims=()).scenarios[0]
    assert (worse.effect, worse.verdict) == (Effect.REGRESSION, Verdict.HOLD)
    same = upgraded(H, R, R, H, claims=()).scenarios[0]
    assert (same.effect, same.verdict) == (Effect.SAME, Verdict.SHIP)


def sent(result: RunResult, acknowledged: int, failed: int, unanswered: int | None = None) -> RunResult:
    """Return a result with what became of its records; one of before does not know how many had no answer."""
    known = {} if unanswered is None else {"unanswered_records": float(unanswered)}
    return replace(result, measures={"acked_records": float(acknowledged), "failed_records": float(failed), **known})


def acknowledged(*of_on: tuple[int, ...], base=((800, 0),), outcome=H, of_base=H) -> VerdictRecord:
    """Judge turn1, in whose runs so many records were acknowledged and failed."""
    plan = declare("turn1", "a", repeats=len(of_on))
    shown = {"stock": base * (len(of_on) // len(base)), "patched-off": ((800, 0),) * len(of_on), "patched-on": of_on}
    turn1 = ran("turn1", *([each] * len(of_on) for each in (of_base, of_base, outcome)))
    other = ran("a", *([[H] * len(of_on)] * 3))
    return decide(plan, [*(sent(each, *shown[each.arm][each.repeat - 1]) for each in turn1), *other])


def test_a_candidate_whose_clients_get_hardly_anything_acknowledged_has_failed() -> None:
    record = acknowledged((2, 790))
    assert record.verdict is Verdict.HOLD
    assert rests(record) == (
        "turn1: regression: patched-on fails records_acknowledged (2 of 792 records were acknowledged, against 800 of "
        "800 in base's worst run: the others failed); stock passes.",
    )
    cell = record.scenarios[0].cell("patched-on")
    assert (cell.label, cell.standing) == ("FAILED(records_acknowledged)", Standing.NOT_AS_CLAIMED)
    assert [run.check for run in record.runs if run.scenario == "turn1"] == [Check.PASSED, Check.PASSED, Check.FAILED]


def test_who_goes_on_where_base_failed_early_is_not_held_against_what_base_had_acknowledged_by_then() -> None:
    record = acknowledged((1500, 500), base=((400, 0),), of_base=R)
    assert "records_acknowledged" not in str(record)


@pytest.mark.parametrize(
    ("failed", "unanswered", "others"),
    [(0, 790, "the others had no answer"), (12, 778, "12 failed, 778 had no answer")],
)
def test_records_that_had_no_answer_were_not_acknowledged(failed: int, unanswered: int, others: str) -> None:
    record = acknowledged((2, failed, unanswered))
    assert record.verdict is Verdict.HOLD
    assert record.scenarios[0].cell("patched-on").label == "FAILED(records_acknowledged)"
    assert f"(2 of 792 records were acknowledged, against 800 of 800 in base's worst run: {others})" in rests(record)[0]
    assert acknowledged((2, failed, unanswered), base=((2, failed, unanswered),)).verdict is Verdict.SHIP


@pytest.mark.parametrize(
    ("of_on", "base", "verdict"),
    [
        (((639, 161),), ((800, 0),), Verdict.HOLD),
        (((641, 159),), ((800, 0),), Verdict.SHIP),
        (((2, 790), (800, 0), (2, 790)), ((800, 0),), Verdict.HOLD),
        (((2, 790), (3, 790), (2, 790)), ((800, 0),), Verdict.HOLD),
        (((400, 400),), ((400, 400),), Verdict.SHIP),
        (((400, 400),) * 3, ((800, 0), (800, 0), (400, 400)), Verdict.SHIP),
        (((90, 0),), ((800, 0),), Verdict.SHIP),
        (((0, 0),), ((800, 0),), Verdict.SHIP),
        (((2, 790),), ((0, 0),), Verdict.SHIP),
    ],
    ids=[
        "a fifth",
        "less than a fifth",
        "one unlucky run",
        "every run",
        "as base",
        "as base's worst run",
        "shorter",
        "no client",
        "no measure",
    ],
)
def test_base_s_own_worst_share_is_the_measure_of_what_is_acknowledged(of_on, base, verdict) -> None:
    assert acknowledged(*of_on, base=base).verdict is verdict


def test_a_candidate_that_fails_as_base_does_and_gets_hardly_anything_acknowledged_is_a_regression() -> None:
    record = acknowledged((2, 790), outcome=R, of_base=R)
    assert record.verdict is Verdict.HOLD
    assert "patched-on fails records_acknowledged (2 of 792" in rests(record)[0]
    assert acknowledged((792, 0), outcome=R, of_base=R).scenarios[0].effect is Effect.NOT_FIXED


def test_of_runs_that_failed_alike_after_few_records_their_share_says_nothing() -> None:
    assert acknowledged((12, 20), outcome=R, of_base=R).scenarios[0].effect is Effect.NOT_FIXED
    assert acknowledged((2, 790), base=((20, 0),), outcome=R, of_base=R).scenarios[0].effect is Effect.NOT_FIXED
    assert acknowledged((2, 790), outcome=R, of_base=R, base=((2, 790),)).scenarios[0].effect is Effect.NOT_FIXED


def test_what_else_a_candidate_failed_is_not_renamed_by_what_its_clients_lost() -> None:
    assert "fails node_alive" in rests(acknowledged((2, 790), outcome=CRASH))[0]


def test_the_flag_off_is_held_against_a_base_with_its_flag_off_also_in_what_is_acknowledged() -> None:
    plan = declare("turn1", "a", arms=BASE_HAS_FLAG)
    numbers = {"base": (800, 0), "base-off": (2, 790), "patched-off": (2, 790), "patched-on": (800, 0)}
    results = [sent(each, *numbers[each.arm]) for each in ran("turn1", H, H, H, H, arms=BASE_HAS_FLAG)]
    assert decide(plan, [*results, *ran("a", H, H, H, H, arms=BASE_HAS_FLAG)]).verdict is Verdict.SHIP


FLAGLESS = replace(PATCHED, flag=Flag(FLAG.key, known=False))
WITHOUT_FLAG = (ARMS[0], Arm("jar-on", Role.ON, FLAGLESS, "absent"))


def test_a_jar_without_the_flag_needs_no_off_arm_where_no_claim_speaks_of_it() -> None:
    silent = replace(FIX, expected={role: says for role, says in FIX.expected.items() if role is not Role.OFF})
    plan = declare("turn2", claims=(silent,), arms=WITHOUT_FLAG)
    record = decide(plan, ran("turn2", R, H, arms=WITHOUT_FLAG))
    assert record.verdict is Verdict.SHIP
    assert record.scenarios[0].cell("patched-off") is None
    assert record.claims[0].status is ClaimStatus.HELD


def test_a_claim_about_the_flag_is_a_gap_when_the_candidate_does_not_know_the_flag() -> None:
    plan = declare("turn2", claims=(FIX,), arms=WITHOUT_FLAG)
    record = decide(plan, ran("turn2", R, H, arms=WITHOUT_FLAG))
    gap = (
        "The claim follows-moved-voters is about the flag switched off, "
        f"but the candidate does not have the flag {FLAG.key}."
    )
    assert record.verdict is Verdict.INCONCLUSIVE
    assert rests(record) == record.not_tested == (gap,)
    assert (record.claims[0].status, record.claims[0].why) == (ClaimStatus.UNTESTED, gap)
    assert decide(plan, ran("turn2", R, R, arms=WITHOUT_FLAG)).verdict is Verdict.HOLD


def test_results_of_what_was_not_declared_are_not_counted() -> None:
    left_behind = [RunResult("turn2", "patched-on", Role.ON, k, *R) for k in (0, 2, 3)]
    others = [RunResult("turn2", "patched-true", Role.ON, 1, *R), RunResult("turn1", "patched-on", Role.ON, 1, *R)]
    plan, results = declare("turn2", claims=(FIX,)), ran("turn2", R, R, H)
    assert decide(plan, results + left_behind + others) == decide(plan, results)


@pytest.mark.parametrize("name", ["one_leader_per_epoch", "nothing_lost"])
def test_an_invariant_that_base_breaks_is_a_control_only_where_no_claim_names_another(name: str) -> None:
    """A broken invariant is what the build did, unlike a death: where nothing is claimed the candidate is measured by
    it, and a candidate that breaks it too has not fixed it."""
    broken = (Outcome.FAILED, name, "as seen by node 2")
    unclaimed = declare("turn2")
    left, fixed_too = (decide(unclaimed, ran("turn2", broken, broken, on)).scenarios[0] for on in (broken, H))
    assert (left.effect, left.verdict, left.discriminates) == (Effect.NOT_FIXED, Verdict.SHIP, True)
    assert (fixed_too.effect, fixed_too.verdict) == (Effect.IMPROVES, Verdict.SHIP)
    for on in (broken, H):
        claimed = decide(declare("turn2", claims=(FIX,)), ran("turn2", broken, broken, on)).scenarios[0]
        assert (claimed.effect, claimed.discriminates) == (Effect.CONTROL_UNDECIDED, False)


@pytest.mark.parametrize("name", ["one_leader_per_epoch", "nothing_lost"])
def test_an_invariant_that_only_the_candidate_breaks_holds_it_back(name: str) -> None:
    broken = (Outcome.FAILED, name, "as seen by node 2")
    assert decide(declare("turn2"), ran("turn2", H, H, broken)).scenarios[0].effect is Effect.REGRESSION
    assert decide(declare("turn2"), ran("turn2", R, R, broken)).scenarios[0].effect is Effect.REGRESSION


def test_two_arms_in_one_role_are_an_error() -> None:
    twice = (*ARMS, replace(ARMS[2], name="patched-true"))
    with pytest.raises(HarnessError, match="patched-on, patched-true all have the role on"):
        decide(declare("turn2", arms=twice), [])


def test_claims_are_judged_one_by_one_and_the_weightiest_rules_the_row() -> None:
    wrong = Claim("stays-lost", "…", "turn2", {Role.ON: Expected(Outcome.FAILED, LOST)})
    record = decide(declare("turn2", claims=(FIX, wrong)), ran("turn2", R, R, H))
    assert [c.status for c in record.claims] == [ClaimStatus.HELD, ClaimStatus.REFUTED]
    assert record.verdict is Verdict.HOLD


def test_repeats_that_agree_fold_into_their_outcome() -> None:
    cell = fold_repeats(ran("turn2", [R, R, R], [], []), 3)
    assert (cell.state, cell.expectation, cell.agreeing, cell.declared) == (CellState.FAILED, LOST, 3, 3)


@pytest.mark.parametrize("shown", [[H, R, H], [R, CRASH, R], [R, H, GUARD, H]])
def test_repeats_that_contradict_each_other_are_unstable_and_hold_the_candidate_back(shown) -> None:
    cell = fold_repeats(ran("turn2", [], [], shown), len(shown))
    assert (cell.state, cell.agreeing) == (CellState.UNSTABLE, 2)
    plan, fine = declare("turn2", repeats=len(shown)), [H] * len(shown)
    assert decide(plan, ran("turn2", fine, fine, shown)).verdict is Verdict.HOLD
    assert decide(plan, ran("turn2", shown, fine, shown)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("shown", "counted"),
    [
        ([H, BROKEN, H], "2 of 3 repeats passed, 1 broke because of the harness or the host: port taken"),
        ([H, H, STARVED], "2 of 3 repeats passed, 1 could not be tested (host_not_starved): guard unmet: 2 s stall"),
        ([H, H, GUARD], "2 of 3 repeats passed, 1 missed the guard has_new_leader: guard unmet: has_new_leader in 30"),
        ([R, R, UNSUPPORTED], "2 of 3 repeats failed observer_recovers, 1 could not be run on this host: needs root"),
        ([H, GUARD, GUARD], "1 of 3 repeats passed, 2 missed the guard has_new_leader: guard unmet"),
        (
            [OVER_BUDGET, H, STARVED],
            "1 of 3 repeats passed, 1 could not be tested (host_not_starved), 1 missed the guard within_budget",
        ),
    ],
)
def test_one_unlucky_repeat_blocks_shipping_with_the_count_and_without_blaming_the_candidate(shown, counted) -> None:
    cell = fold_repeats(ran("turn2", [], [], shown), 3)
    assert (cell.state, cell.expectation) == (CellState.INCONCLUSIVE, "")
    assert cell.reason.startswith(counted)
    base = [R] * 3 if R in shown else [H] * 3
    record = decide(declare("turn2", repeats=3), ran("turn2", base, base, shown))
    assert record.verdict is Verdict.INCONCLUSIVE
    assert counted in rests(record)[0]
    assert decide(declare("turn2", repeats=3), ran("turn2", shown, base, base)).verdict is Verdict.INCONCLUSIVE


def test_a_guard_missed_in_every_repeat_is_the_candidate_s_doing_whichever_guard_it_was() -> None:
    other = (Outcome.INCONCLUSIVE, "action_done", "stop the leader: no answer")
    shown = [GUARD, other, GUARD]
    record = decide(declare("turn2", repeats=3), ran("turn2", [H] * 3, [H] * 3, shown))
    assert record.verdict is Verdict.HOLD
    assert "2 of 3 repeats missed the guard has_new_leader, 1 missed the guard action_done" in rests(record)[0]
    assert decide(declare("turn2", repeats=3), ran("turn2", shown, shown, shown)).verdict is Verdict.INCONCLUSIVE


def test_a_guard_that_was_missed_where_the_host_asked_and_no_guard_at_all_elsewhere_blames_nobody() -> None:
    cell = fold_repeats(ran("turn2", [], [], [GUARD, STARVED, GUARD]), 3)
    assert (cell.state, cell.expectation) == (CellState.INCONCLUSIVE, "")
    record = decide(declare("turn2", repeats=3), ran("turn2", [H] * 3, [H] * 3, [GUARD, STARVED, GUARD]))
    assert record.verdict is Verdict.INCONCLUSIVE


def test_repeats_without_a_reason_are_counted_alone() -> None:
    cell = fold_repeats(ran("turn2", [], [], [H, (Outcome.BROKEN, "", "")]), 2)
    assert cell.reason == "1 of 2 repeats passed, 1 broke because of the harness or the host"


def test_what_the_candidate_failed_is_not_excused_by_a_repeat_that_could_not_be_tested() -> None:
    record = decide(declare("turn2", repeats=3), ran("turn2", [H] * 3, [H] * 3, [R, STARVED, R]))
    assert record.verdict is Verdict.HOLD
    assert "patched-on fails observer_recovers (2 of 3 repeats failed observer_recovers" in rests(record)[0]


def test_a_repeat_without_a_result_is_missing_and_named() -> None:
    cell = fold_repeats(ran("turn2", [], [], [H, H]), 3)
    assert (cell.state, cell.reason) == (CellState.MISSING, "no result for repeat 3 of 3")


def test_a_contradiction_is_not_excused_by_a_missing_repeat() -> None:
    assert fold_repeats(ran("turn2", [], [], [H, R]), 3).state is CellState.UNSTABLE


@pytest.mark.parametrize(
    ("role", "shown", "claims", "base", "check"),
    [
        (Role.BASE, R, (FIX,), R, Check.EXPECTED_FAILURE),
        (Role.OFF, R, (FIX,), R, Check.EXPECTED_FAILURE),
        (Role.BASE, H, (FIX,), H, Check.FAILED),
        (Role.BASE, R, (), R, Check.PASSED),
        (Role.ON, H, (FIX,), R, Check.PASSED),
        (Role.ON, R, (FIX,), R, Check.FAILED),
        (Role.ON, R, (), R, Check.PASSED),
        (Role.ON, R, (), H, Check.FAILED),
        (Role.ON, CRASH, (), R, Check.FAILED),
        (Role.BASE, CRASH, (), CRASH, Check.ERROR),
        (Role.ON, CRASH, (), CRASH, Check.FAILED),
        (Role.OFF, CRASH, (), CRASH, Check.FAILED),
        (Role.OFF, H, (), R, Check.FAILED),
        (Role.OFF, R, (), R, Check.PASSED),
        (Role.ON, BROKEN, (), R, Check.ERROR),
        (Role.ON, GUARD, (), BROKEN, Check.ERROR),
        (Role.ON, GUARD, (), H, Check.FAILED),
        (Role.ON, OVER_BUDGET, (), H, Check.FAILED),
        (Role.ON, UNREAD, (), H, Check.FAILED),
        (Role.ON, UNSUPPORTED, (), H, Check.SKIPPED),
    ],
)
def test_a_run_passes_when_it_shows_what_is_claimed(role, shown, claims, base, check) -> None:
    per_role = {Role.BASE: base, Role.OFF: H, Role.ON: H} | {role: shown}
    results = ran("turn2", *per_role.values())
    record = decide(declare("turn2", claims=claims), results)
    assert [run.check for run in record.runs if run.role is role] == [check]


DIFFERENCE = Difference("class-missing", Severity.FAIL, "org/apache/kafka/raft/Gone", "the class Gone is missing.")
FAILURE = FailedTest(TestSuite.UPSTREAM, "KafkaRaftClientTest", "testVote", "expected 1 but was 2", "at …", False)
BROKEN_PROMISE = AuditAnswer("refresh", Answer.DOES_NOT_HOLD, "initialize does not refresh.", FIX.id)


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        (replace(SOUND, differences=(DIFFERENCE,)), "class-missing: the class Gone is missing."),
        (
            replace(SOUND, tests=TestsProof(TestScope.ALL, failed=(FAILURE,))),
            "test KafkaRaftClientTest.testVote fails: expected 1 but was 2",
        ),
        (
            replace(SOUND, audit=(BROKEN_PROMISE,)),
            "claim follows-moved-voters is refuted by the source: initialize does not refresh.",
        ),
    ],
)
def test_a_jar_that_is_no_drop_in_is_held_however_well_it_runs(proof: Proof, reason: str) -> None:
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), proof)
    assert record.verdict is Verdict.HOLD
    assert rests(record) == (f"Not a drop-in: {reason}",)


@pytest.mark.parametrize(
    "proof",
    [
        replace(SOUND, differences=(replace(DIFFERENCE, waived="known, by Ann, until 2027-01-01"),)),
        replace(SOUND, differences=(replace(DIFFERENCE, severity=Severity.WARNING),)),
        replace(SOUND, tests=TestsProof(TestScope.ALL, failed=(replace(FAILURE, fails_on_base=True),))),
        replace(SOUND, audit=(replace(BROKEN_PROMISE, claim=""),)),
    ],
)
def test_what_is_waived_or_light_or_base_s_own_or_promised_by_nobody_does_not_block(proof: Proof) -> None:
    assert decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), proof).verdict is Verdict.SHIP


UNGUARDED = Difference("no-longer-volatile", Severity.WARNING, "a.B.c", "a.B.c is not volatile any more")


def test_what_no_run_shows_is_the_first_reason_against_a_ship() -> None:
    def against(*differences: Difference) -> str:
        record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), replace(SOUND, differences=differences))
        assert record.verdict is Verdict.SHIP
        return record.against

    warned = "Neither tests nor runs can show what the proof warns about: a.B.c is not volatile any more."
    assert against(UNGUARDED) == warned
    assert against(UNGUARDED, replace(UNGUARDED, where="a.B.d")) == f"{warned} The proof has 1 more such warning."
    for light in (replace(UNGUARDED, waived="known, by Ann, until 2027-01-01"), replace(UNGUARDED, rule="api-source")):
        assert against(light) == against()


def test_a_jar_whose_tests_could_not_be_run_is_never_shipped_and_the_reason_is_named() -> None:
    proof = replace(SOUND, tests=TestsProof(TestScope.RELATED, missing="The tests are not pinned."))
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), proof)
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "No test was run on the jar: The tests are not pinned." in rests(record)


def test_a_jar_that_nobody_proved_is_never_shipped_and_the_gap_is_named() -> None:
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), None)
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "was not proved" in rests(record)[0]
    assert rests(record)[0] in record.not_tested


def test_a_claim_that_the_source_refutes_is_refuted_with_the_sources_words() -> None:
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), replace(SOUND, audit=(BROKEN_PROMISE,)))
    assert (record.claims[0].status, record.claims[0].why) == (ClaimStatus.REFUTED, BROKEN_PROMISE.detail)


def test_many_reasons_against_the_jar_are_counted() -> None:
    record = decide(declare("turn1"), ran("turn1", H, H, H), replace(SOUND, differences=(DIFFERENCE,) * 9))
    assert rests(record)[5] == "4 more such reasons are in the proof."


def test_what_of_the_proof_could_not_be_tested_is_reported_and_no_obstacle() -> None:
    silent = AuditAnswer("read-once", Answer.UNTESTED, "no sources")
    proof = replace(SOUND, audit=(silent,), tests=TestsProof(TestScope.NONE))
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), proof)
    assert record.verdict is Verdict.SHIP
    tests = "Upstream's tests were not run on the jar: --tests none."
    assert record.not_tested == (tests, "read-once: no sources", NOT_ROLLED)


def test_of_a_ship_it_is_said_that_no_rollout_was_rehearsed_and_of_nothing_else() -> None:
    ship, held = fixed(), decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, R))
    stock = decide(declare("turn2", arms=ARMS[:1]), ran("turn2", R, arms=ARMS[:1]))
    assert [NOT_ROLLED in each.not_tested for each in (ship, held, stock)] == [True, False, False]
