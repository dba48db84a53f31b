"""The judge's sentences, word for word: what a release engineer reads first."""

from dataclasses import replace

import pytest
from test_judge import (
    ARMS,
    BROKEN,
    CRASH,
    FIX,
    GUARD,
    PATCHED,
    SOUND,
    STARVED,
    UNSUPPORTED,
    WITHOUT_FLAG,
    H,
    R,
    decide,
    declare,
    ran,
    rests,
)

from harness.judge.decision import NOT_ROLLED
from harness.judge.decision import decide as decide_all
from harness.model.arms import Kafka, Role
from harness.model.candidate_kind import CandidateKind
from harness.model.claims import Claim, Expected
from harness.model.proof import (
    Answer,
    AuditAnswer,
    ChangedMethod,
    Coverage,
    Difference,
    FailedTest,
    ReachedMethod,
    Severity,
    TestClass,
    TestScope,
    TestsProof,
    TestSuite,
)
from harness.model.runs import Outcome, RunResult, Verdict
from harness.model.verdict import CellState, ReasonSource

KEEPS = Claim("keeps", "…", "turn2", {Role.ON: Expected(Outcome.PASSED)})

OTHERWISE = (Outcome.FAILED, "leader_exists", "none in 15 s")
GIVEN = (ARMS[0], *(replace(arm, build=replace(PATCHED, builder="given")) for arm in ARMS[1:]))


def sentences(*shown, claims=(), scenario="turn2", **plan):
    """What a verdict rests on where one scenario shows this on base, off and on."""
    return rests(decide(declare(scenario, claims=claims, **plan), ran(scenario, *shown)))


@pytest.mark.parametrize(
    ("scenarios", "repeats", "arms", "sentence"),
    [
        (["a"], 1, ARMS, "a fails on stock and passes with the patch on, as claimed."),
        (
            ["a", "b"],
            1,
            ARMS,
            "a fails on stock and passes with the patch on, as claimed; b fails on stock and passes with the patch "
            "on, which no claim mentions.",
        ),
        (["a"], 3, GIVEN, "a fails on stock and passes on the given jar, as claimed (each run 3 times)."),
    ],
)
def test_a_ship_names_what_is_shown_in_which_scenario_how_often_and_on_what(scenarios, repeats, arms, sentence):
    shown = [[R] * repeats, [R] * repeats, [H] * repeats]
    results = [each for name in scenarios for each in ran(name, *shown, arms=arms)]
    claims = (replace(FIX, scenario="a"),)
    record = decide(declare(*scenarios, repeats=repeats, arms=arms, claims=claims), results)
    assert (record.verdict, record.sentence) == (Verdict.SHIP, sentence)


def test_a_ship_names_the_scenarios_that_show_nothing():
    results = ran("a", R, R, H) + ran("b", R, R, H) + ran("c", H, H, H)
    claims = (replace(FIX, scenario="a"), replace(FIX, id="too", scenario="b"))
    record = decide(declare("a", "b", "c", claims=claims), results)
    assert record.sentence == "a and b fail on stock and pass with the patch on, as claimed; c passes on both."


def test_a_ship_that_leaves_a_defect_names_where_both_fail():
    results = ran("a", R, R, H) + ran("b", R, R, R) + ran("c", R, R, R)
    record = decide(declare("a", "b", "c", claims=(replace(FIX, scenario="a"),)), results)
    assert record.sentence == "a fails on stock and passes with the patch on, as claimed; b and c fail on both."
    assert record.against == "The defect that base shows in b and c is not fixed: the candidate shows it too."
    assert record.not_fixed == tuple(f"{name}: patched-on fails observer_recovers, as stock does." for name in "bc")
    assert rests(record)[1:2] == (
        "b: stock fails observer_recovers and so does patched-on: not fixed by this candidate.",
    )


@pytest.mark.parametrize(
    ("shown", "claims", "sentence"),
    [
        (
            (R, R, H),
            (FIX,),
            "turn2: stock fails observer_recovers and patched-on passes, as the claim follows-moved-voters says.",
        ),
        (
            (R, R, H),
            (),
            "turn2: stock fails observer_recovers and patched-on passes: an improvement that no claim mentions.",
        ),
        ((H, H, H), (), "turn2 passes on stock and on patched-on."),
        ((H, H, H), (KEEPS,), "turn2 passes on stock too, so it is no evidence for the patch."),
        (
            (R, R, R),
            (FIX,),
            "turn2: the claim follows-moved-voters is refuted: patched-on fails observer_recovers (no progress in "
            "15 s); stock fails observer_recovers.",
        ),
        (
            (H, H, CRASH),
            (),
            "turn2: regression: patched-on fails node_alive (node 1 exited with 1); stock passes.",
        ),
        (
            (H, H, H),
            (FIX,),
            "turn2: stock passes where the claim follows-moved-voters says that it fails, so a pass on patched-on "
            "proves nothing.",
        ),
        (
            (OTHERWISE, OTHERWISE, H),
            (FIX,),
            "turn2: the control is undecided: stock fails leader_exists (none in 15 s), where the claim "
            "follows-moved-voters says FAILED(observer_recovers); patched-on passes.",
        ),
        ((BROKEN, H, H), (), "turn2: the control is undecided: stock is BROKEN (port taken); patched-on passes."),
        (
            (H, H, STARVED),
            (),
            "turn2: the candidate is undecided: patched-on is INCONCLUSIVE (guard unmet: 2 s stall of node 3).",
        ),
        (
            (H, H, GUARD),
            (),
            "turn2: regression: patched-on fails question_reachable (the base comes to an answer, this arm "
            "never does: guard unmet: has_new_leader in 30 s); stock passes.",
        ),
    ],
)
def test_what_base_and_on_mean_together_is_said_with_the_reason(shown, claims, sentence):
    record = decide(declare("turn2", claims=claims), ran("turn2", *shown))
    assert record.about("turn2")[0] == sentence
    assert rests(record)[0] == sentence or record.reasons[-1].source is ReasonSource.NOTHING


UNKNOWN = (ARMS[0], replace(WITHOUT_FLAG[1], name="jar"))


def looked_at(*scenarios, repeats=1):
    """Judge an unknown jar in scenarios a, b, …, of each of which is shown what base and the jar do."""
    plan = declare(*"abcd"[: len(scenarios)], arms=UNKNOWN, repeats=repeats)
    results = [
        each
        for name, shown in zip("abcd", scenarios, strict=False)
        for each in ran(name, *([one] * repeats for one in shown), arms=UNKNOWN)
    ]
    return decide(replace(plan, kind=CandidateKind.UNKNOWN), results)


@pytest.mark.parametrize(
    ("scenarios", "repeats", "sentence"),
    [
        (
            [(H, H), (H, H)],
            1,
            "No regression found in 2 scenarios (a and b), with no changed method found; no fix was shown.",
        ),
        (
            [(H, H), (H, H)],
            3,
            "No regression found in 2 scenarios (a and b), 3 times each, with no changed method found; no fix was "
            "shown.",
        ),
        (
            [(R, H)],
            1,
            "No regression found in 1 scenario (a), with no changed method found; a fails on stock and passes "
            "on jar, which no claim mentions.",
        ),
        (
            [(H, H), (R, H), (R, R)],
            1,
            "No regression found in 3 scenarios (a, b and c), with no changed method found; b fails on stock and "
            "passes on jar, which no claim mentions; c fails on both.",
        ),
        (
            [(H, H), (H, H), (UNSUPPORTED,) * 2],
            1,
            "No regression found in 2 scenarios (a and b), with no changed method found; no fix was shown; 1 of 3 "
            "could not run on this host.",
        ),
    ],
)
def test_a_ship_of_an_unknown_jar_says_that_nothing_got_worse_and_what_got_better(scenarios, repeats, sentence):
    record = looked_at(*scenarios, repeats=repeats)
    assert (record.verdict, record.sentence) == (Verdict.SHIP, sentence)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ([], "(a and b), with no changed method found; no fix"),
        ([("Client", "poll")], "(a and b), with Client.poll changed; no fix"),
        (
            [("Client", "poll"), ("Client$Builder", "<init>")],
            ", with Client.poll and the constructor of Client.Builder",
        ),
        ([("Client$One", name) for name in "abcd"], "(a and b), with 4 methods of Client changed; no fix"),
        ([(name, "f") for name in "ABCDE"], ", with 5 methods of A, B, C and 2 more changed;"),
    ],
)
def test_a_ship_of_an_unknown_jar_names_what_changed_in_it(changed, says):
    methods = tuple(ChangedMethod(f"org/apache/kafka/raft/{owner}", name, "()V") for owner, name in changed)
    plan = replace(declare("a", "b", arms=UNKNOWN), kind=CandidateKind.UNKNOWN)
    results = [*ran("a", H, H, arms=UNKNOWN), *ran("b", H, H, arms=UNKNOWN)]
    assert says in decide_all(plan, results, replace(SOUND, changed_methods=methods)).sentence


def test_an_unknown_jar_is_held_back_by_what_got_worse_and_inconclusive_where_a_scenario_is_undecided():
    assert looked_at((H, H), (H, R)).sentence == (
        "b: regression: jar fails observer_recovers (no progress in 15 s); stock passes."
    )
    assert looked_at((H, H), (H, BROKEN)).verdict is Verdict.INCONCLUSIVE
    assert looked_at((H, H), (BROKEN, H)).verdict is Verdict.INCONCLUSIVE


def test_a_scenario_that_this_host_does_not_support_was_not_run():
    record = decide(declare("partition"), ran("partition", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED))
    assert record.not_tested == ("partition was not run: this host does not support it (needs root).",)
    assert rests(record) == ("No scenario has a result that this host could decide.",)
    assert record.sentence == "Too little could be tested. No scenario has a result that this host could decide."
    assert record.against == "None: nothing was decided in the candidate's favour."


def test_a_missing_result_is_named_for_the_arm_that_lacks_it():
    base = [each for each in ran("turn2", R, R, H) if each.role is not Role.BASE]
    assert rests(decide(declare("turn2"), base))[0] == (
        "turn2: stock has no result and patched-on passes (no result for repeat 1 of 1)."
    )
    on = [each for each in ran("turn2", R, R, H) if each.role is not Role.ON]
    assert rests(decide(declare("turn2"), on))[0] == (
        "turn2: stock fails observer_recovers and patched-on has no result (no result for repeat 1 of 1)."
    )


def test_repeats_that_differ_are_counted_the_most_frequent_first():
    mixed = [R, H, CRASH, H]
    record = decide(declare("turn2", repeats=4), ran("turn2", [R] * 4, [R] * 4, mixed))
    assert rests(record) == (
        "turn2: patched-on is UNSTABLE, so it cannot be relied on "
        "(repeats differ: 2 × PASSED, 1 × FAILED(node_alive), 1 × FAILED(observer_recovers)).",
    )
    cell = record.scenarios[0].cell("patched-on")
    assert (cell.state, cell.expectation, cell.agreeing, cell.declared) == (CellState.UNSTABLE, "", 2, 4)
    spoiled = decide(declare("turn2", repeats=3), ran("turn2", [H] * 3, [H] * 3, [H, BROKEN, H]))
    cell = spoiled.scenarios[0].cell("patched-on")
    assert (cell.state, cell.reason, cell.declared) == (
        CellState.INCONCLUSIVE,
        "2 of 3 repeats passed, 1 broke because of the harness or the host: port taken",
        3,
    )


def test_missing_repeats_are_listed():
    record = decide(declare("turn2", repeats=4), ran("turn2", [R] * 4, [R] * 4, [H, H]))
    cell = record.scenarios[0].cell("patched-on")
    assert (cell.reason, cell.declared) == ("no result for repeat 3, 4 of 4", 4)


@pytest.mark.parametrize(
    ("off", "sentence"),
    [
        (H, "turn2: the flag is not inert: patched-off passes where stock fails observer_recovers."),
        (
            CRASH,
            "turn2: the flag is not inert: patched-off fails node_alive where stock fails observer_recovers "
            "(node 1 exited with 1).",
        ),
        (BROKEN, "turn2: whether the flag is inert is not known: patched-off is BROKEN (port taken)."),
    ],
)
def test_what_the_flag_does_when_it_is_off_is_said_where_it_matters(off, sentence):
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, off, H))
    assert record.about("turn2")[1] == sentence
    assert sentence in rests(record)


def test_a_claim_that_the_flag_refutes_is_refuted_with_what_the_flag_does():
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, H, H))
    assert record.claims[0].why == (
        "turn2: the flag is not inert: patched-off passes where stock fails observer_recovers."
    )
    both = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, H, R))
    assert both.claims[0].why.startswith("turn2: the claim follows-moved-voters is refuted: patched-on fails")


@pytest.mark.parametrize(
    ("role", "sentence"),
    [
        (Role.BASE, "There is no base arm, so nothing shows what happens without the patch."),
        (Role.OFF, "There is no off arm, so nothing shows whether the flag, switched off, is inert."),
        (Role.ON, "There is no on arm, so the candidate was not tested."),
    ],
)
def test_an_arm_that_is_left_out_is_missed_by_name(role, sentence):
    arms = tuple(arm for arm in ARMS if arm.role is not role)
    shown = {Role.BASE: R, Role.OFF: R, Role.ON: H}
    record = decide(declare("turn2", arms=arms), ran("turn2", *(shown[arm.role] for arm in arms), arms=arms))
    assert rests(record)[0] == sentence


@pytest.mark.parametrize(
    ("repeats", "sentence"),
    [
        (1, "Each scenario ran once per arm: a fault that shows only in some runs may have been missed."),
        (
            3,
            "Each scenario ran 3 times per arm: at 95 % confidence, that rules out only faults that show in more than "
            "63 % of runs.",
        ),
    ],
)
def test_against_a_ship_with_evidence_speaks_how_often_it_ran(repeats, sentence):
    shown = ([R] * repeats, [R] * repeats, [H] * repeats)
    assert decide(declare("turn2", repeats=repeats), ran("turn2", *shown)).against == sentence


def test_against_a_ship_speaks_what_is_no_evidence():
    nothing = decide(declare("turn1", "a"), ran("turn1", H, H, H) + ran("a", H, H, H))
    assert nothing.against.startswith("Each scenario ran once per arm"), "nothing is claimed that could be shown"
    results = ran("turn2", R, R, H) + ran("a", H, H, H) + ran("b", H, H, H) + ran("c", H, H, H)
    some = decide(declare("turn2", "a", "b", "c", claims=(FIX,)), results)
    assert some.against.endswith(" a, b and c would have passed without the patch.")


def test_against_a_ship_that_claims_nothing_no_scenario_that_passes_on_base_speaks():
    results = ran("turn2", R, R, H) + ran("a", H, H, H)
    record = decide(declare("turn2", "a"), results)
    assert (record.verdict, record.against) == (
        Verdict.SHIP,
        "Each scenario ran once per arm: a fault that shows only in some runs may have been missed.",
    )


def methods(*names, scenarios=()):
    return tuple(ReachedMethod("org/apache/kafka/raft/Client", name, "()V", scenarios) for name in names)


def with_coverage(found, *, kind=CandidateKind.SERIES, claims=(FIX,)):
    plan = replace(declare("turn2", claims=claims), kind=kind)
    return decide_all(plan, ran("turn2", R, R, H), SOUND, coverage=found)


def test_against_a_ship_speaks_which_changed_methods_no_scenario_runs_before_what_is_not_fixed():
    results = ran("turn2", R, R, H) + ran("gap", R, R, R)
    found = Coverage((), "", methods("close"))
    record = decide_all(declare("turn2", "gap", claims=(FIX,)), results, SOUND, coverage=found)
    says = "No scenario runs 1 of the methods that the candidate changes or adds: Client.close."
    assert (record.against, record.not_tested) == (says, (says, NOT_ROLLED))
    assert any(each.startswith("gap: patched-on fails") for each in record.not_fixed)


def test_against_a_ship_speaks_before_all_that_passes_which_changed_methods_no_scenario_runs():
    record = with_coverage(Coverage((), "", (*methods("poll", scenarios=("turn2",)), *methods("close", "drain"))))
    says = "No scenario runs 2 of the methods that the candidate changes or adds: Client.close and Client.drain."
    assert (record.verdict, record.against, record.not_tested) == (Verdict.SHIP, says, (says, NOT_ROLLED))


@pytest.mark.parametrize(("excused", "speaks"), [(3, True), (2, False)])
def test_against_a_ship_speaks_first_that_most_tests_say_nothing_of_the_jar(excused, speaks):
    failed = tuple(
        FailedTest(TestSuite.UPSTREAM, "a.BTest", f"t{number}()", "m", "", False, "it uses what is gone")
        for number in range(excused)
    )
    of_class = TestClass(TestSuite.UPSTREAM, "a.BTest", 4, excused, 0, 0.1)
    proof = replace(SOUND, tests=TestsProof(TestScope.ALL, (of_class,), failed))
    record = decide_all(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), proof)
    assert record.verdict is Verdict.SHIP
    assert record.against.startswith("3 of 4 tests say nothing about the jar: it fails them") is speaks


def test_many_methods_that_no_scenario_runs_are_counted():
    record = with_coverage(Coverage((), "", methods(*"abcdefghij")))
    assert record.against.startswith("No scenario runs 10 of the methods")
    assert record.against.endswith("Client.g, Client.h and 2 more.")


def test_where_every_changed_method_ran_or_nobody_asked_another_reason_is_the_strongest():
    for found in (None, Coverage(()), Coverage((), "", methods("poll", scenarios=("turn2",)))):
        assert with_coverage(found).against.startswith("Each scenario ran once")
        assert with_coverage(found).not_tested == (NOT_ROLLED,)


TESTED = replace(SOUND, tests=TestsProof(TestScope.ALL, (TestClass(TestSuite.UPSTREAM, "a.BTest", 4, 0, 0, 0.1),)))
NOT_RUN = (
    "Nothing that ran enters what the candidate changes: no scenario runs any of its 2 changed methods, and no test"
)


@pytest.mark.parametrize(
    ("coverage", "proof", "on", "verdict"),
    [
        (Coverage((), "", methods("close", "drain")), SOUND, H, Verdict.INCONCLUSIVE),
        (Coverage((), "", methods("close", "drain")), TESTED, H, Verdict.SHIP),
        (Coverage((), "", (*methods("close"), *methods("poll", scenarios=("a",)))), SOUND, H, Verdict.SHIP),
        (Coverage((), "No node lived until it could be asked.", methods("close", "drain")), SOUND, H, Verdict.SHIP),
        (None, SOUND, H, Verdict.SHIP),
        (Coverage((), "", methods("close", "drain")), SOUND, R, Verdict.HOLD),
    ],
    ids=["nothing ran", "tests ran", "a method ran", "not known", "not measured", "worse"],
)
def test_a_jar_of_which_nothing_that_changed_ran_is_not_shipped(coverage, proof, on, verdict):
    results = [*ran("a", H, H, on), *ran("b", H, H, H)]
    record = decide_all(declare("a", "b"), results, proof, coverage=coverage)
    assert record.verdict is verdict
    assert any(each.sentence.startswith(NOT_RUN) for each in record.reasons) == (verdict is Verdict.INCONCLUSIVE)


def test_of_another_kafka_more_changes_than_the_methods_of_which_it_is_known_whether_they_ran():
    plan = declare("a", "b")
    kafkas = (Kafka("3.9.1", "", "r", {"x": "2"}), Kafka("3.9.2", "", "r", {"x": "3"}))
    arms = tuple(
        replace(arm, build=replace(arm.build, kafka_version=kafka.version, kafka=kafka))
        for arm in plan.arms
        for kafka in (kafkas[not arm.role.is_control],)
    )
    results = [*ran("a", H, H, H), *ran("b", H, H, H)]
    found = decide_all(replace(plan, arms=arms), results, SOUND, coverage=Coverage((), "", methods("close", "drain")))
    assert found.verdict is Verdict.SHIP


def test_of_an_unknown_jar_it_is_said_that_nobody_measured_what_ran():
    assert with_coverage(None, kind=CandidateKind.UNKNOWN, claims=()).not_tested == (
        "No run measured which of the candidate's changed methods the scenarios run.",
        NOT_ROLLED,
    )


@pytest.mark.parametrize("kind", CandidateKind)
def test_coverage_that_failed_speaks_against_a_ship_with_the_reason(kind):
    changed = tuple(ChangedMethod("org/apache/kafka/raft/Client", name, "()V") for name in ("poll", "close"))
    failed, proof = (
        Coverage((), "The cache lacks JaCoCo, and --offline forbids to fetch it."),
        replace(SOUND, changed_methods=changed),
    )
    plan = replace(declare("turn2", claims=(FIX,)), kind=kind)
    record = decide_all(plan, ran("turn2", R, R, H), proof, coverage=failed)
    says = f"No run measured which of the changed methods (2) the scenarios run: {failed.gap}"
    assert (record.verdict, record.against, record.not_tested[-2:]) == (Verdict.SHIP, says, (says, NOT_ROLLED))


def test_for_a_candidate_that_is_held_back_speaks_what_went_well_and_how_often_it_ran():
    once = "Each scenario ran once per arm, so a single unlucky run would look the same."
    assert decide(declare("turn2"), ran("turn2", H, H, R)).against == once
    good = decide(declare("turn2", "turn1"), ran("turn2", H, H, R) + ran("turn1", H, H, H))
    assert good.against == f"Nothing speaks against the candidate in turn1. {once}"
    thrice = decide(declare("turn2", repeats=3), ran("turn2", [H] * 3, [H] * 3, [R] * 3))
    assert thrice.against == "None: no scenario speaks for the candidate."
    both = decide(
        declare("turn2", "turn1", repeats=3),
        ran("turn2", [H] * 3, [H] * 3, [R] * 3) + ran("turn1", [H] * 3, [H] * 3, [H] * 3),
    )
    assert both.against == "Nothing speaks against the candidate in turn1."


def test_a_scenario_that_the_candidate_fails_as_base_does_speaks_for_nobody():
    left = ran("gap", R, R, R)
    once = "Each scenario ran once per arm, so a single unlucky run would look the same."
    held = decide(declare("turn2", "gap"), ran("turn2", H, H, R) + left)
    assert (held.verdict, held.against) == (Verdict.HOLD, once)
    undecided = decide(declare("turn2", "gap"), ran("turn2", H, H, BROKEN) + left)
    assert (undecided.verdict, undecided.against) == (
        Verdict.INCONCLUSIVE,
        "None: nothing was decided in the candidate's favour.",
    )
    for record in (held, undecided):
        assert record.not_fixed == ("gap: patched-on fails observer_recovers, as stock does.",)


def test_what_the_source_shows_and_nobody_promises_is_not_fixed_whatever_the_verdict():
    gap = AuditAnswer("every-truncation", Answer.DOES_NOT_HOLD, "A truncation is followed by nothing.")
    held = replace(gap, answer=Answer.HOLDS)
    for on in (H, R, BROKEN):
        record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, on), replace(SOUND, audit=(gap, held)))
        assert record.not_fixed == ("every-truncation: A truncation is followed by nothing.",)


def test_what_holds_a_jar_back_without_a_run_is_no_bad_luck_of_one():
    lacking = Difference("class-missing", Severity.FAIL, "X", "X is gone")
    record = decide(declare("turn2"), ran("turn2", R, R, H), replace(SOUND, differences=(lacking,)))
    assert (record.verdict, record.against) == (Verdict.HOLD, "Nothing speaks against the candidate in turn2.")


def test_against_an_inconclusive_verdict_speaks_what_was_decided():
    results = ran("turn2", H, H, BROKEN) + ran("turn1", H, H, H)
    assert decide(declare("turn2", "turn1"), results).against == (
        "Nothing that could be decided speaks against the candidate: turn1."
    )


def test_a_long_reason_is_cut_and_its_full_stop_is_not_doubled():
    def why(reason):
        return sentences(H, H, (Outcome.FAILED, "x", reason))[0]

    assert why("it broke.") == "turn2: regression: patched-on fails x (it broke); stock passes."
    assert f"({'a' * 300})" in why("a" * 300)
    assert f"({'a' * 300}…)" in why("a" * 301)
    assert why(".5 s late").endswith("(.5 s late); stock passes.")


def test_claims_that_could_not_be_tested_are_gaps_in_a_sentence():
    record = decide(declare("turn2", claims=(FIX,), arms=WITHOUT_FLAG), ran("turn2", R, H, arms=WITHOUT_FLAG))
    assert record.claims[0].why == (
        "The claim follows-moved-voters is about the flag switched off, but the candidate does not have the flag "
        "controller.quorum.dynamic.bootstrap.servers.enable."
    )
    unrun = decide(declare("turn1", claims=(FIX,)), ran("turn1", H, H, H))
    assert unrun.claims[0].why == "The scenario turn2 was not run."


def test_a_claim_that_keeps_what_works_says_so():
    record = decide(declare("turn2", claims=(KEEPS,)), ran("turn2", H, H, H))
    assert record.about("turn2") == ("turn2 passes on stock too, so it is no evidence for the patch.",)
    failing = RunResult("turn2", "patched-on", Role.ON, 1, *R)
    assert decide(declare("turn2", claims=(KEEPS,)), [*ran("turn2", H, H, R)[:2], failing]).verdict is Verdict.HOLD
