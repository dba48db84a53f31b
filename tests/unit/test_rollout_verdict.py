"""The answer follows from all rehearsals; and what the control shows is what the candidate is measured by."""

import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import rollout_sample as sample

from harness.cluster.install import Install
from harness.cluster.topology import Topology
from harness.model.clients import ClientReport
from harness.model.features import Downgrade
from harness.model.outcome_names import RECORDS_ACKNOWLEDGED, STOPS_ON_SIGTERM
from harness.model.rollout import CheckResult, RolloutOutcome, RollPlan
from harness.model.runs import Outcome
from harness.model.security import Security
from harness.model.setup import Setup
from harness.rollout.acknowledged import judged_by_clients
from harness.rollout.baseline import Baseline, baseline_of, stall_budget
from harness.rollout.builds import DIES_ON_LOAD, WITH_KEY
from harness.rollout.health import BEFORE
from harness.rollout.not_rehearsed import against, left_out, not_rehearsed
from harness.rollout.rehearsals import CONTROL, FINALISED, KINDS
from harness.rollout.rollout_verdict import decide_rollout, may_begin, outcome_of
from harness.rollout.sabotage import without_class
from harness.stages import rollout_inputs
from harness.stages.rollout_inputs import _with_key, _with_key_left

PASSED, FAILED, UNCLEAR = Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE
PLAN = RollPlan("3+3", (), (), 0.0)
TURN = (sample.turn(1, "forward", 3),)


def rehearsed(name, outcome, reason="why", turns=TURN):
    return sample.rehearsal(name, turns, (sample.ORDERS,), outcome, reason)


@pytest.mark.parametrize(
    ("shown", "outcome", "reasons"),
    [
        ([(CONTROL, PASSED), ("a", PASSED)], RolloutOutcome.PASSED, ()),
        ([(CONTROL, PASSED), ("a", FAILED), ("b", UNCLEAR)], RolloutOutcome.STOPPED, ("a: why",)),
        ([(CONTROL, PASSED), ("a", PASSED), ("b", UNCLEAR)], RolloutOutcome.INCONCLUSIVE, ("b: why",)),
        ([(CONTROL, PASSED), ("a", Outcome.BROKEN)], RolloutOutcome.INCONCLUSIVE, ("a: why",)),
        (
            [(CONTROL, FAILED), ("a", FAILED)],
            RolloutOutcome.INCONCLUSIVE,
            ("base itself could not be rolled: why",),
        ),
        ([], RolloutOutcome.INCONCLUSIVE, ("nothing was rehearsed",)),
    ],
)
def test_the_answer_is_that_of_the_worst_rehearsal_and_none_where_base_cannot_be_rolled(shown, outcome, reasons):
    found, _, why = decide_rollout([rehearsed(*each) for each in shown])
    assert (found, why) == (outcome, reasons)


@pytest.mark.parametrize(
    ("turns", "says_something"),
    [
        ((), False),
        ((sample.turn(1, "restart", 3, "restart", "base"),), False),
        ((sample.turn(1, "stopped", 3, build=DIES_ON_LOAD), sample.turn(2, "back", 3, build="base")), False),
        ((sample.turn(1, "forward", 3, stopped="it crashed"),), False),
        ((sample.turn(1, "forward", 3, build=WITH_KEY),), True),
        (TURN, True),
    ],
)
def test_a_rollout_in_which_no_node_ever_ran_the_candidate_says_nothing_of_it(turns, says_something):
    found, _, reasons = decide_rollout([rehearsed(CONTROL, PASSED, turns=()), rehearsed("a", PASSED, turns=turns)])
    assert found is (RolloutOutcome.PASSED if says_something else RolloutOutcome.INCONCLUSIVE)
    why = ("no node ran the candidate: add --rehearse forward-and-back",)
    assert reasons == (() if says_something else why)


def rehearsals(*names):
    return [rehearsed(name, PASSED) for name in names]


BASE_ALONE = rehearsed(CONTROL, PASSED, turns=(sample.turn(1, "restart", 3, "restart", "base"),))


def test_rehearsals_that_were_left_out_are_named_and_speak_most_against_a_pass():
    found = rehearsals(CONTROL, "forward-and-back", "killed-in-step")
    lacking = left_out(None, found)
    assert lacking == ("half-way-and-back", "dies-on-load")
    assert left_out(sample.FEATURES, rehearsals(*KINDS)[:-1]) == (FINALISED,)
    assert against(RolloutOutcome.PASSED, found, lacking) == "half-way-and-back and dies-on-load were not rehearsed."
    gaps = not_rehearsed(PLAN, None, lacking, "", whole_kafkas=False)
    assert gaps[0].startswith("half-way-and-back: Do both versions work side by side")


@pytest.mark.parametrize(
    ("outcome", "found", "sentence"),
    [
        (RolloutOutcome.PASSED, rehearsals(*KINDS), "Each rehearsal ran once: a fault that shows only in some rolls"),
        (
            RolloutOutcome.STOPPED,
            [*rehearsals("b"), rehearsed("a", FAILED)],
            "Nothing speaks against the candidate in b",
        ),
        (RolloutOutcome.STOPPED, [BASE_ALONE, rehearsed("a", FAILED)], "Each rehearsal ran once, so a single unlucky"),
        (
            RolloutOutcome.INCONCLUSIVE,
            rehearsals("b"),
            "Nothing that could be decided speaks against the candidate: b",
        ),
        (RolloutOutcome.INCONCLUSIVE, [BASE_ALONE], "None: nothing was decided"),
    ],
)
def test_every_answer_has_a_reason_against_it(outcome, found, sentence):
    assert against(outcome, found, ()).startswith(sentence)


def test_what_no_rehearsal_can_show_is_said_as_it_is_of_this_one():
    plain = not_rehearsed(PLAN, None, (), "", whole_kafkas=False)
    assert any("no --command-config was given" in gap for gap in plain)
    secured = not_rehearsed(replace(PLAN, security=Security()), None, (), "", whole_kafkas=False)
    assert any(gap.startswith("Your own certificates") for gap in secured)
    lossless = replace(sample.FEATURES, downgrade=Downgrade.LOSSLESS)
    whole = not_rehearsed(PLAN, lossless, (), "", whole_kafkas=True)
    assert len(whole) == len(plain) + 2
    assert len(not_rehearsed(PLAN, sample.FEATURES, (), "", whole_kafkas=True)) == len(plain) + 1
    assert not_rehearsed(PLAN, None, (), "The log diff failed.", whole_kafkas=False)[0] == "The log diff failed."


def test_a_cluster_that_fails_before_the_first_nodes_turn_says_nothing_of_the_candidate():
    assert outcome_of(rehearsed("a", FAILED, turns=())) is RolloutOutcome.INCONCLUSIVE


@pytest.mark.parametrize(("before", "begins"), [(PASSED, True), (FAILED, False), (Outcome.INCONCLUSIVE, False)])
def test_features_are_finalised_only_when_all_that_comes_before_has_passed(before, begins):
    found = [rehearsed(CONTROL, PASSED), rehearsed("a", before)]
    assert may_begin(FINALISED, found) is begins
    assert may_begin("killed-in-step", found)


def test_the_sentence_says_where_the_roll_was_stopped_and_why():
    stopped = rehearsed("forward-and-back", FAILED, "node 3 crashed: no class", (sample.turn(1, "f", 3, stopped="x"),))
    _, sentence, _ = decide_rollout([rehearsed(CONTROL, PASSED), stopped])
    assert sentence == "Stopped at node 3 (broker) in forward-and-back: node 3 crashed: no class."


SHUT = CheckResult(STOPS_ON_SIGTERM, "it ended on SIGTERM", met=False, seconds=0.0, problem="it had to be killed")
BUSY = replace(sample.turn(1, "forward", 3, stopped="x"), before=sample.checks(BEFORE, "nobody leads"), after=())
KILLED = replace(sample.turn(1, "forward", 3, stopped="it had to be killed"), after=(SHUT,))
CRASHED = replace(sample.turn(1, "forward", 3, stopped="node 3 crashed"), after=(replace(SHUT, met=True),))


@pytest.mark.parametrize(
    ("turns", "says_something"),
    [
        ((BUSY,), False),
        ((KILLED,), False),
        ((CRASHED,), True),
        ((*TURN, KILLED), True),
        ((sample.turn(1, "sabotaged", 3, build=DIES_ON_LOAD, stopped="it crashed"),), True),
    ],
    ids=["base may not be stopped", "base has to be killed", "the candidate crashes", "the second node", "sabotaged"],
)
def test_what_fails_before_any_node_has_left_base_says_nothing_of_the_candidate(turns, says_something):
    found, _, (reason,) = decide_rollout([rehearsed(CONTROL, PASSED), rehearsed("a", FAILED, turns=turns)])
    assert found is (RolloutOutcome.STOPPED if says_something else RolloutOutcome.INCONCLUSIVE)
    assert reason == ("a: why" if says_something else "a: before any node had left base: why")


def test_a_jar_that_is_meant_to_die_on_load_is_not_where_the_roll_was_stopped():
    sabotaged = sample.turn(1, "stopped", 3, build=DIES_ON_LOAD, stopped="node 3 crashed")
    lost = rehearsed("dies-on-load", FAILED, "2 of 900 acknowledged orders are gone", (sabotaged,))
    _, sentence, _ = decide_rollout([rehearsed(CONTROL, PASSED), lost])
    assert sentence == "Stopped in dies-on-load: 2 of 900 acknowledged orders are gone."


def client(acknowledged, name="payments", **failures):
    return ClientReport(name, "transactions", acknowledged, 0, 0, 0.5, failures)


@pytest.mark.parametrize(
    ("clients", "reason"),
    [
        ((client(400, INVALID_TXN_STATE=400),), "payments: 400 of 800 were acknowledged, against 790 of 800 in base's"),
        ((client(700, INVALID_TXN_STATE=100),), ""),
        ((client(40, INVALID_TXN_STATE=40),), ""),
        ((client(0, name="idle"),), ""),
        ((client(500, name="new", X=500),), "new: 500 of 1000 were acknowledged; the others: 500 × X"),
    ],
    ids=["half is refused", "fewer than a fifth more", "too few to tell", "nothing was sent", "base has none like it"],
)
def test_a_rehearsal_in_which_a_client_gets_far_less_acknowledged_than_on_base_has_failed(clients, reason):
    control = sample.rehearsal(CONTROL, TURN, (client(790, TIMED_OUT=10),))
    found = judged_by_clients(sample.rehearsal("a", TURN, clients), control).result
    assert found.outcome is (FAILED if reason else PASSED)
    assert found.reason.startswith(reason)
    assert found.expectation == (RECORDS_ACKNOWLEDGED if reason else "")


def test_what_failed_already_keeps_its_reason():
    failed = sample.rehearsal("a", TURN, (client(1, X=900),), FAILED, "node 3 crashed")
    assert judged_by_clients(failed, None) == failed


def test_the_sentence_counts_what_passed():
    _, sentence, _ = decide_rollout([rehearsed(CONTROL, PASSED), rehearsed("a", PASSED)])
    assert sentence == "All 2 rehearsals passed, and nothing that clients were promised was lost."


@pytest.mark.parametrize(
    ("outcome", "code"), [(RolloutOutcome.PASSED, 0), (RolloutOutcome.STOPPED, 1), (RolloutOutcome.INCONCLUSIVE, 3)]
)
def test_the_exit_code_is_the_outcomes(outcome, code):
    assert outcome.exit_code == code


def test_only_a_control_that_passed_is_a_baseline():
    assert baseline_of(rehearsed(CONTROL, PASSED)) == Baseline(frozenset({"ERROR sad (x)"}), 1.5)
    assert baseline_of(rehearsed(CONTROL, FAILED)) is None


@pytest.mark.parametrize(
    ("own", "partitions"), [({}, "3"), ({"offsets.topic.num.partitions": "50", "x": "1"}, "50")], ids=["none", "own"]
)
def test_a_rehearsal_makes_internal_topics_small_unless_the_users_own_properties_say_otherwise(
    own, partitions, monkeypatch
):
    for name in ("_install", "_with_key", "_with_key_left", "_sabotaged"):
        monkeypatch.setattr(rollout_inputs, name, lambda *_: Install("base", Path("x.jar"), "a" * 64, "absent"))
    asked = SimpleNamespace(topology="3+3", order=(), features={})
    inputs = SimpleNamespace(
        setup=Setup("f", overlay=own),
        plan=asked,
        tools=None,
        first=(),
        budget=lambda *_: 1.0,
        finalising=(),
        directory=None,
        parts_of_base=SimpleNamespace(java=Path("/jre/bin/java")),
        base=SimpleNamespace(java="21"),
    )
    monkeypatch.setattr(rollout_inputs, "topology_of", lambda _: Topology(3, 3))
    cell = rollout_inputs.planned_rehearsal(inputs, "control", None)
    assert cell.properties == {
        "offsets.topic.num.partitions": partitions,
        "transaction.state.log.num.partitions": "3",
        "metadata.log.max.snapshot.interval.ms": "20000",
        **own,
    }
    assert not cell.kept


@pytest.mark.parametrize(
    ("name", "given", "baseline", "overlay", "seconds"),
    [
        (CONTROL, 3.0, None, {}, 0.0),
        ("forward-and-back", 0.0, Baseline(frozenset(), 4.0), {}, 8.0),
        ("forward-and-back", 0.0, Baseline(frozenset(), 0.5), {}, 5.0),
        ("forward-and-back", 3.0, Baseline(frozenset(), 4.0), {}, 3.0),
        ("forward-and-back", 0.0, Baseline(frozenset(), 9.0), {}, 15.0),
        ("forward-and-back", 0.0, Baseline(frozenset(), 48.0), {}, 48.0),
        ("forward-and-back", 0.0, None, {}, 15.0),
        ("killed-in-step", 0.0, Baseline(frozenset(), 4.0), {}, 17.0),
        ("killed-in-step", 0.0, Baseline(frozenset(), 4.0), {"broker.session.timeout.ms": "18000"}, 26.0),
    ],
)
def test_a_client_may_wait_twice_as_long_as_base_makes_it_wait_and_no_longer_for_one_unlucky_turn(
    name, given, baseline, overlay, seconds
):
    assert stall_budget(name, given, baseline, overlay) == seconds


BASE = Install("base", "x.jar", "b" * 64, "absent")
CANDIDATE = Install("the candidate", "y.jar", "c" * 64, "true")


def test_on_the_way_back_the_key_stays_and_a_base_that_does_not_know_it_reports_no_value():
    candidate = _with_key(CANDIDATE, "a.key")
    assert candidate.settings == {"a.key": "true"}
    left = _with_key_left(BASE, candidate, "a.key")
    assert (left.settings, left.flag, left.sha256) == ({"a.key": "true"}, "None", BASE.sha256)


def test_a_base_that_knows_the_key_reports_what_was_left():
    known = replace(BASE, flag="false")
    assert _with_key_left(known, _with_key(CANDIDATE, "a.key"), "a.key").flag == "true"


def test_without_a_flag_nothing_is_left_behind():
    assert _with_key(CANDIDATE, "") == CANDIDATE
    without = replace(CANDIDATE, flag="absent")
    assert _with_key(without, "a.key") == without
    assert _with_key_left(BASE, without, "a.key") == BASE


def test_a_jar_that_dies_on_load_is_the_candidate_without_one_class(tmp_path):
    whole = tmp_path / "kafka-raft-3.9.1.jar"
    with zipfile.ZipFile(whole, "w") as jar:
        jar.writestr("org/apache/kafka/raft/KafkaRaftClient.class", b"x")
        jar.writestr("org/apache/kafka/raft/Other.class", b"y")
    torn = without_class(whole, tmp_path / "torn" / whole.name)
    with zipfile.ZipFile(torn) as read:
        assert read.namelist() == ["org/apache/kafka/raft/Other.class"]
    assert torn.read_bytes() == without_class(whole, tmp_path / "again" / whole.name).read_bytes()


def test_a_rehearsal_is_sealed_with_the_libraries_and_the_java_that_it_ran_by(monkeypatch):
    for name in ("_install", "_with_key", "_with_key_left", "_sabotaged"):
        monkeypatch.setattr(rollout_inputs, name, lambda *_: Install("base", Path("x.jar"), "a" * 64, "absent"))
    monkeypatch.setattr(rollout_inputs, "topology_of", lambda _: Topology(3, 3))
    inputs = SimpleNamespace(
        setup=Setup("f"),
        plan=SimpleNamespace(topology="3+3", order=(), features={}),
        tools=None,
        first=(),
        budget=lambda *_: 1.0,
        finalising=(),
        directory=None,
        parts_of_base=SimpleNamespace(java=Path("/jre/bin/java")),
        base=SimpleNamespace(java="21"),
    )
    sealed = {rollout_inputs.planned_rehearsal(inputs, "control", None).harness}
    monkeypatch.setattr(rollout_inputs, "libraries", lambda: "others")
    sealed.add(rollout_inputs.planned_rehearsal(inputs, "control", None).harness)
    monkeypatch.setattr(rollout_inputs, "files_of_java", lambda _: ("another libjvm.so",))
    sealed.add(rollout_inputs.planned_rehearsal(inputs, "control", None).harness)
    assert len(sealed) == 3
