"""Simulations without a JVM: what a driver's feed means, whose failure a seed is, and what it weighs."""

import base64
import json
import sys
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_judge import SOUND
from test_proof_junit_runs import LINE, Compiler

from harness.judge.proof_verdict import reasons_of_proof
from harness.model.proof import TestScope, TestsProof
from harness.model.runs import Verdict
from harness.model.simulation import FailedSeed, SimulatedProperty, Simulation
from harness.proof.junit import TestBench
from harness.proof.proof_summary import describe_simulation
from harness.proof.simulation import driver, simulate, simulated_jars
from harness.proof.simulation.feed import Try, failed, parse_feed, settled
from harness.proof.simulation.simulating import UPSTREAM
from harness.stages.detecting import catching
from harness.toolbox.java import JavaRuntime

ELECT, RECOVER = f"{UPSTREAM}#canElectInitialLeader", f"{UPSTREAM}#canRecoverAfterAllNodesKilled"
SEED = FailedSeed(ELECT, 7, "[5, 3]", "two leaders", "at Test.java:9", fails_again=True, fails_on_base=False)
RAN = Simulation(
    "10m", (SimulatedProperty(ELECT, 12, 1, 12, 0), SimulatedProperty(RECOVER, 11, 0, 12, 0)), (SEED,), seconds=601.2
)

# Acts out what a jar does: its file says of each property with which seeds it fails, hangs or ends its JVM.
JAVA = """
import base64, json, os, sys, time
argv = sys.argv[1:]
path = argv[argv.index("-cp") + 1].split(":")
jar = json.load(open(next(each for each in path if os.path.basename(each) in ("base.jar", "candidate.jar"))))
file, seconds, mode, what = argv[argv.index("Simulations") + 1:]
log = next(each.partition("=")[2] for each in argv if each.startswith("-Dharness.log="))
feed = open(file, "w")
def say(line):
    print(line, file=feed, flush=True)
def run(name, seed):
    end = jar.get(name, {}).get(str(seed), "pass")
    if end == "once":
        end = "pass" if mode == "these" else "fail"
    say(f"BEGIN {name} {seed} [{seed}, 3]")
    if end == "exit":
        sys.exit(3)
    while end in ("hang", "flood"):
        time.sleep(0.1 if end == "flood" else 1)
        print("x" * 2000 if end == "flood" else "", flush=True)
    text = base64.b64encode(b"it is wrong").decode()
    say("PASSED 4" if end == "pass" else f"FAILED 4 {text} {text}")
if mode == "these":
    open(log, "w").write("a line of its log")
    name, _, seed = what.partition(":")
    run(name, int(seed))
else:
    for seed in range(6):
        for name in sorted(jar):
            run(name, seed)
say("END")
"""


@pytest.fixture
def jars(tmp_path):
    """Make the two jars of a comparison: what each property does with a seed, by the names of both."""
    java = tmp_path / "java-home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!{sys.executable}\n{JAVA}")
    java.chmod(0o755)
    tests = tmp_path / "kafka-raft-9.1-test.jar"
    with zipfile.ZipFile(tests, "w") as archive:
        archive.writestr(f"{UPSTREAM.replace('.', '/')}.class", b"")

    def make(candidate, base=None, test_jar=tests):
        for name, does in (("candidate", candidate), ("base", base or {})):
            (tmp_path / f"{name}.jar").write_text(json.dumps(does))
        runtime = JavaRuntime(tmp_path / "java-home", "21")
        bench = TestBench(LINE, runtime, (test_jar,), (), Compiler(), tmp_path / "cache")
        return simulated_jars(bench, tmp_path / "candidate.jar", tmp_path / "base.jar")

    return make


def test_seeds_that_pass_are_counted_by_property(jars, tmp_path):
    found = simulate(jars({ELECT: {}, RECOVER: {}}), "1m", 60, tmp_path / "logs")
    assert [(each.name, each.seeds, each.failed) for each in found.properties] == [(ELECT, 6, 0), (RECOVER, 6, 0)]
    assert (found.failed, found.blockers, found.doubts) == ((), (), ())


def test_a_seed_that_fails_on_the_candidate_alone_is_its_doing_and_its_log_is_kept(jars, tmp_path):
    found = simulate(jars({ELECT: {"4": "fail"}, RECOVER: {}}), "1m", 60, tmp_path / "logs")
    (seed,) = found.failed
    assert (seed.name, seed.seed, seed.arguments, seed.message) == (ELECT, 4, "[4, 3]", "it is wrong")
    assert (seed.fails_again, seed.fails_on_base, seed.blocks) == (True, False, True)
    assert (tmp_path / "logs" / seed.log).read_text() == "a line of its log"


def test_a_property_that_base_fails_with_any_seed_is_no_evidence_against_the_candidate(jars, tmp_path):
    found = simulate(jars({ELECT: {"4": "fail"}}, {ELECT: {"1": "fail"}}), "1m", 60, tmp_path / "logs")
    assert [(each.failed, each.base_failed) for each in found.properties] == [(1, 1)]
    assert (found.failed, found.blockers, found.doubts) == ((), (), ())


def test_a_property_that_base_fails_hides_no_other(jars, tmp_path):
    bad = jars({ELECT: {"4": "fail"}, RECOVER: {"2": "fail"}}, {ELECT: {"4": "fail"}, RECOVER: {}})
    found = simulate(bad, "1m", 60, tmp_path / "logs")
    assert [each.name for each in found.failed] == [RECOVER]
    assert len(found.blockers) == 1


def test_a_seed_of_which_base_gives_no_answer_excuses_nobody():
    unknown = replace(SEED, fails_on_base=None)
    assert unknown.blocks
    assert [each.endswith("; whether base passes it is not known") for each in replace(RAN, failed=(unknown,)).blockers]


def test_a_seed_that_passes_when_it_is_replayed_is_a_doubt_and_no_blocker(jars, tmp_path):
    found = simulate(jars({ELECT: {"2": "once"}}), "1m", 60, tmp_path / "logs")
    assert found.blockers == ()
    assert [each.endswith("; it passed when it was replayed.") for each in found.doubts] == [True]


def test_a_jar_that_ends_the_jvm_fails_the_seed_that_ran(jars, tmp_path):
    found = simulate(jars({ELECT: {"2": "exit"}}), "1m", 60, tmp_path / "logs")
    assert [(each.seed, each.message) for each in found.failed] == [(2, "the JVM ended with exit 3")]
    assert len(found.blockers) == 1


def test_a_simulation_that_hangs_is_ended_and_fails(jars, tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "_STALL_SECONDS", 0.5)
    found = simulate(jars({ELECT: {"3": "hang"}}), "1m", 60, tmp_path / "logs")
    assert [(each.seed, each.message) for each in found.failed] == [(3, "it did not end within 0.5 s and was killed")]


def test_a_simulation_that_floods_what_it_prints_is_ended_and_fails(jars, tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "_MOST_WRITTEN", 10_000)
    found = simulate(jars({ELECT: {"0": "flood"}}), "1m", 60, tmp_path / "logs")
    assert found.failed[0].message.endswith("MB and was ended")


def test_of_many_failing_seeds_each_property_has_one_replayed_before_any_has_two(jars, tmp_path):
    always = {str(seed): "fail" for seed in range(6)}
    found = simulate(jars({ELECT: always, RECOVER: always}, {ELECT: {}, RECOVER: {}}), "1m", 60, tmp_path / "logs")
    assert [(each.name, each.seed) for each in found.failed][:4] == [(ELECT, 0), (RECOVER, 0), (ELECT, 1), (RECOVER, 1)]
    assert len(found.failed) == 8
    assert [each.endswith("base passes it (6 of its seeds fail)") for each in found.blockers] == [True, True]


def test_a_kafka_whose_tests_have_no_simulation_leaves_a_gap(jars, tmp_path):
    empty = tmp_path / "kafka-raft-0.1-test.jar"
    with zipfile.ZipFile(empty, "w"):
        pass
    found = simulate(jars({}, test_jar=empty), "1m", 60, tmp_path / "logs")
    assert found.doubts == (f"No simulation ran: kafka-raft-0.1-test.jar has no {UPSTREAM}.",)


def test_a_failing_seed_holds_the_jar_back_and_says_how_it_fails():
    (reason,) = reasons_of_proof(replace(SOUND, simulation=RAN))
    assert reason.weight is Verdict.HOLD
    assert reason.sentence == (
        "Not a drop-in: simulation RaftEventSimulationTest#canElectInitialLeader fails with seed 7 [5, 3]: "
        "two leaders; base passes it"
    )


@pytest.mark.parametrize(
    "simulation",
    [
        replace(RAN, failed=(replace(SEED, fails_again=False),)),
        Simulation("10m", gap="No simulation ran: there are none."),
    ],
)
def test_simulations_without_a_clear_answer_keep_the_verdict_open(simulation):
    assert [each.weight for each in reasons_of_proof(replace(SOUND, simulation=simulation))] == [Verdict.INCONCLUSIVE]


def test_seeds_that_base_fails_too_weigh_nothing():
    on_both = replace(RAN, failed=(replace(SEED, fails_on_base=True),))
    assert reasons_of_proof(replace(SOUND, simulation=on_both)) == ()


def test_a_summary_counts_simulations_and_names_what_base_fails_too():
    assert describe_simulation(RAN) == "23 simulations of 2 properties in 601 s, 1 failed"
    on_both = replace(RAN, properties=(replace(RAN.properties[0], base_failed=2), RAN.properties[1]))
    assert describe_simulation(on_both) == (
        "23 simulations of 2 properties in 601 s, 0 failed; 1 of the properties base fails too"
    )


def test_a_mutant_that_a_simulation_finds_is_caught_by_it_even_without_tests_and_proof():
    proof = replace(SOUND, simulation=RAN, tests=TestsProof(TestScope.NONE))
    assert [each.stage for each in catching(proof, ("proof", "tests"))] == ["simulation"]


def test_a_feed_that_was_cut_leaves_its_last_simulation_without_an_end():
    feed = parse_feed(f"BEGIN {ELECT} 0 [1]\nPASSED 12\nBEGIN {RECOVER} 0 [2]\nPASS")
    assert feed.tries == (Try(ELECT, 0, "[1]", True), Try(RECOVER, 0, "[2]"))
    assert [each.message for each in failed(settled(feed, "it was killed"))] == ["it was killed"]


@given(st.text(alphabet="BEGINPASSED FAILED#[]0\n", max_size=400) | st.text(max_size=200))
def test_a_feed_of_anything_at_all_is_read_and_invents_nothing(text):
    found = parse_feed(text)
    assert len(found.tries) <= text.count("BEGIN")


@given(st.text(min_size=1, max_size=600))
def test_what_a_failure_says_is_read_whatever_it_says(message):
    word = base64.b64encode(message.encode("utf-8", "replace")).decode()
    (only,) = parse_feed(f"BEGIN {ELECT} 0 [1]\nFAILED 3 {word} {word}").tries
    assert only.passed is False
    assert only.message
