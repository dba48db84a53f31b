"""A jar that is wrong on purpose, without a JVM: what is run, lent, judged, kept and asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from test_judge import FIX, SOUND, H, R, declare, ran

from harness.base.errors import HarnessError
from harness.base.files import write_bytes, write_text
from harness.base.progress import Reporter
from harness.engine.sealing import seal_of
from harness.judge.decision import decide
from harness.kafka.release_lines import line_of
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.candidate_kind import CandidateKind
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.detection import Detection, Expected, Part
from harness.model.proof import Difference, FailedTest, Proof, Severity, TestScope, TestsProof, TestSuite
from harness.model.request import Request
from harness.model.runs import Outcome, RunResult
from harness.model.setup import Setup
from harness.rundir.directory import RunDirectory
from harness.stages import declared_once, detecting, lent_base
from harness.stages import run as run_stage
from harness.stages.compared_logs import note_comparison
from harness.stages.detecting import Detector, Suspect, catching, caught_in
from harness.stages.lent_base import prepare_base
from harness.toolbox.toolbox import local_toolbox

QUIET, TOOLBOX = Reporter(Console(quiet=True)), local_toolbox()
SCENARIOS = ("turn1", "turn2")
DIFFERENCE = Difference("default-changed", Severity.FAIL, "a.key", "the default is false")
FAILURE = FailedTest(TestSuite.UPSTREAM, "LeaderStateTest", "testVote()", "expected 1", "at …", None)


class Bench:
    """Stands in for compilers, clusters and Spark; notes what they would have been asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        self.root, self.ran, self.jars, self.proved = root, [], {}, 0
        self.outcome: Callable[[str, str], Outcome] = lambda _scenario, _arm: Outcome.PASSED
        self.blocks: tuple[Difference, ...] = ()
        self.scenarios, self.series, self.here = SCENARIOS, "", {}
        monkeypatch.setattr(declared_once, "build", self.build)
        monkeypatch.setattr(declared_once, "read_inputs", self.inputs)
        monkeypatch.setattr(detecting, "prove", self.prove)
        monkeypatch.setattr(detecting, "compare_logs", self.compare)
        monkeypatch.setattr(detecting, "parts_of_arms", self.parts)
        monkeypatch.setattr(run_stage, "parts_of_arms", self.parts)
        monkeypatch.setattr(run_stage, "run_cells", self.run)
        for name in ("check_builds_and_java",):
            monkeypatch.setattr(detecting, name, lambda *_: None)
            monkeypatch.setattr(run_stage, name, lambda *_: None)

    def inputs(self, *_):
        scenarios = [SimpleNamespace(name=name) for name in self.scenarios]
        return SimpleNamespace(scenarios=scenarios, setup=Setup("", series=self.series))

    def parts(self, arms, *_):
        return {
            arm.name: SimpleNamespace(profile="fast", line=line_of("3.9.1"), java=Path("/jre/bin/java")) for arm in arms
        }

    def build(self, folder: Path, *_) -> None:
        request = RunDirectory(folder).request.read()
        jars = {"stock": b"stock", "jar": request.jar.read_bytes() if request.jar else b"?"}
        builds = {
            name: Build(name, "3.9.1", f"{name}.jar", hashlib.sha256(content).hexdigest(), "given", Flag("", False))
            for name, content in jars.items()
        }
        for name, content in jars.items():
            write_bytes(folder / f"{name}.jar", content)
        arms = [Arm("stock", Role.BASE, builds["stock"], "absent"), Arm("jar", Role.ON, builds["jar"], "absent")]
        arms = arms[:1] if request.arms else arms
        RunDirectory(folder).setup.write(Setup(""))
        declared = tuple(DeclaredScenario(name) for name in self.scenarios)
        RunDirectory(folder).declaration.write(
            Declaration(SCHEMA, "3.9.1", tuple(arms), declared, repeats=1, kind=CandidateKind.UNKNOWN)
        )

    def prove(self, folder: Path, *_) -> Proof:
        self.proved += 1
        arms = {arm.name: arm.build.jar_sha256 for arm in RunDirectory(folder).declaration.read().arms}
        tests = TestsProof(TestScope.RELATED)
        made = Proof("jar", arms["stock"], arms["jar"], ("default-changed",), self.blocks, tests, ())
        RunDirectory(folder).proof("jar").proof.write(made)
        return made

    def compare(self, folder: Path, *_) -> None:
        RunDirectory(folder).logs.findings.write(())
        note_comparison(RunDirectory(folder))

    def run(self, cells, root: Path, *_):
        for cell in cells:
            self.ran.append((Path(root).name, cell.key.scenario, cell.key.arm))
            folder, shown = RunDirectory(root).run(cell.key), self.outcome(cell.key.scenario, cell.key.arm)
            name = "observer_recovers" if shown is Outcome.FAILED else ""
            last = {"seq": 1, "t": len(self.ran), "at": "", "event": "outcome", "outcome": shown}
            write_text(folder.journal, json.dumps({**last, "expectation": name, "reason": ""}) + "\n")
            result = RunResult(cell.key.scenario, cell.key.arm, cell.role, 1, shown, name)
            folder.seal.write(seal_of(cell, folder, result))
            folder.result.write(result)
        return []

    def suspect(self, name: str, *by: str) -> Suspect:
        jar = self.root / f"{name}.jar"
        write_bytes(jar, name.encode())
        request = Request(jar=jar, coverage=False, **self.here)
        return Suspect(Detection(name, "it", Expected("why", by)), self.root / "rows" / name, request)

    def detector(self, *without: Part) -> Detector:
        base = prepare_base(self.root / "base", self.suspect("control").request, TOOLBOX, QUIET)
        return Detector(base, without, TOOLBOX, QUIET)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    return Bench(monkeypatch, tmp_path)


def test_a_jar_that_its_proof_holds_back_is_never_run(bench: Bench) -> None:
    detector = bench.detector()
    bench.ran.clear()
    bench.blocks = (DIFFERENCE,)
    found = detector.detect(bench.suspect("wrong", "scenarios"))
    assert [(each.stage, each.said) for each in found.caught] == [("drop-in", "default-changed: the default is false")]
    assert bench.ran == []


def test_a_jar_stops_at_its_first_hold_and_borrows_the_runs_of_base(bench: Bench) -> None:
    detector = bench.detector(*Part)
    assert bench.ran == [("base", "turn1", "stock"), ("base", "turn2", "stock")]
    bench.ran.clear()
    bench.outcome = lambda _scenario, arm: Outcome.FAILED if arm == "jar" else Outcome.PASSED
    found = detector.detect(bench.suspect("wrong", "scenarios"))
    assert next((each.stage, each.scenario) for each in found.caught) == ("scenarios", "turn1")
    assert bench.ran == [("wrong", "turn1", "jar"), ("wrong", "turn2", "jar")]  # two at a time, and no base
    assert bench.proved == 0


def test_a_jar_that_no_outcome_shows_is_run_again_beside_a_base_of_its_own(bench: Bench) -> None:
    detector = bench.detector(*Part)
    bench.ran.clear()
    found = detector.detect(bench.suspect("sound", "scenarios"))
    assert (found.caught, found.undecided) == ((), "")
    alone = [("sound", name, "jar") for name in SCENARIOS]
    beside = [("sound", name, arm) for name in SCENARIOS for arm in ("stock", "jar")]
    assert bench.ran == [*alone, *beside]


def test_a_jar_that_costs_must_show_is_run_beside_base_once(bench: Bench) -> None:
    detector = bench.detector(*Part)
    bench.ran.clear()
    detector.detect(bench.suspect("slow", "costs"))
    assert bench.ran == [("slow", name, arm) for name in SCENARIOS for arm in ("stock", "jar")]


def test_a_scenario_that_the_candidate_does_not_decide_leaves_it_undecided(bench: Bench) -> None:
    detector = bench.detector(*Part)
    bench.outcome = lambda _scenario, arm: Outcome.INCONCLUSIVE if arm == "jar" else Outcome.PASSED
    found = detector.detect(bench.suspect("starved", "scenarios"))
    assert found.caught == ()
    assert "turn1" in found.undecided


def test_what_base_did_not_decide_is_not_lent(bench: Bench) -> None:
    bench.outcome = lambda scenario, _arm: Outcome.INCONCLUSIVE if scenario == "turn2" else Outcome.PASSED
    assert bench.detector(*Part).base.scenarios == {"turn1"}


def test_what_was_found_of_the_same_jar_by_the_same_rules_stands(bench: Bench, monkeypatch) -> None:
    suspect = bench.suspect("sound", "scenarios")
    first = bench.detector(*Part).detect(suspect)
    bench.ran.clear()
    assert bench.detector(*Part).detect(suspect) == first
    assert bench.ran == []


def test_by_other_rules_of_judging_the_runs_stand_and_are_judged_again(bench: Bench, monkeypatch) -> None:
    suspect = bench.suspect("slow", "costs")
    bench.detector(*Part).detect(suspect)
    bench.ran.clear()
    monkeypatch.setattr(detecting, "judging_digest", lambda: "other")
    judged = []
    monkeypatch.setattr(detecting, "judge_run", lambda d: judged.append(d) or SimpleNamespace(reasons=()))
    bench.detector(*Part).detect(suspect)
    assert (bench.ran, len(judged)) == ([], 2)


def test_by_other_rules_of_running_everything_is_run_again(bench: Bench, monkeypatch) -> None:
    suspect = bench.suspect("slow", "costs")
    bench.detector(*Part).detect(suspect)
    bench.ran.clear()
    for module in (detecting, lent_base):
        monkeypatch.setattr(module, "making_digest", lambda: "other")
    bench.detector(*Part).detect(suspect)
    assert [folder for folder, *_ in bench.ran] == ["base", "base", "slow", "slow", "slow", "slow"]


def test_another_jar_of_the_same_name_is_run_anew(bench: Bench) -> None:
    suspect = bench.suspect("slow", "costs")
    bench.detector(*Part).detect(suspect)
    write_bytes(suspect.request.jar, b"another")
    RunDirectory(suspect.folder).declaration.path.unlink()
    bench.ran.clear()
    bench.detector(*Part).detect(suspect)
    assert len(bench.ran) == 4


def test_what_joins_the_suite_is_asked_of_jars_that_are_known(bench: Bench) -> None:
    suspect = bench.suspect("wrong", "scenarios")
    assert bench.detector(*Part).detect(suspect).caught == ()
    bench.scenarios = (*SCENARIOS, "new-mechanism")
    bench.outcome = lambda name, arm: Outcome.FAILED if (name, arm) == ("new-mechanism", "jar") else Outcome.PASSED
    assert [each.scenario for each in bench.detector(*Part).detect(suspect).caught] == ["new-mechanism"]


def test_a_series_that_has_changed_is_built_and_run_anew(bench: Bench) -> None:
    suspect, patch = bench.suspect("slow", "costs"), bench.root / "series" / "0001.patch"
    write_text(patch, "one")
    bench.series = str(patch.parent)
    bench.detector(*Part).detect(suspect)
    bench.ran.clear()
    write_text(patch, "other")
    bench.detector(*Part).detect(suspect)
    assert [folder for folder, *_ in bench.ran] == ["base", "base", "slow", "slow", "slow", "slow"]


def test_how_many_clusters_run_side_by_side_changes_nothing_that_was_found(bench: Bench) -> None:
    suspect = bench.suspect("slow", "costs")
    first = bench.detector(*Part).detect(suspect)
    bench.ran.clear()
    bench.here = {"jobs": 4, "offline": True}
    assert bench.detector(*Part).detect(bench.suspect("slow", "costs")) == first
    assert bench.ran == []


def test_leaving_other_parts_out_proves_the_jar_and_keeps_its_runs(bench: Bench) -> None:
    suspect = bench.suspect("slow", "costs")
    bench.detector(*Part).detect(suspect)
    bench.ran.clear()
    bench.detector(Part.TESTS).detect(suspect)
    assert (bench.ran, bench.proved) == ([], 1)


def test_a_base_that_was_made_otherwise_is_not_lent(bench: Bench, monkeypatch) -> None:
    detector = bench.detector(*Part)
    suspect = bench.suspect("sound", "scenarios")
    built = bench.build

    def build_with_settings(folder: Path, *rest) -> None:
        built(folder, *rest)
        RunDirectory(folder).setup.write(Setup("", overlay={"a": "1"}))

    monkeypatch.setattr(declared_once, "build", build_with_settings)
    with pytest.raises(HarnessError, match=r"cannot be lent: its plan was"):
        detector.detect(suspect)


def test_every_part_of_a_proof_that_blocks_notices_a_jar_in_the_order_of_the_stages() -> None:
    tests = TestsProof(TestScope.RELATED, failed=(FAILURE,))
    found = Proof("jar", "a" * 64, "b" * 64, ("default-changed",), (DIFFERENCE,), tests, ())
    assert [each.stage for each in catching(found)] == ["drop-in", "tests"]
    assert [each.stage for each in catching(found, [Part.TESTS])] == ["drop-in"]
    assert [each.stage for each in catching(found, [Part.PROOF])] == ["tests"]
    note = Difference("class-changed", Severity.NOTE, "a.B", "code only")
    assert catching(Proof("jar", "a" * 64, "b" * 64, ("class-changed",), (note,), TestsProof(TestScope.NONE), ())) == ()


def test_a_verdict_says_what_holds_a_jar_back_as_a_table_of_mutants_does():
    """So that it can be held against what was written before the jar was made."""
    differing = replace(SOUND, differences=(DIFFERENCE,))
    record = decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, R), differing)
    caught = caught_in(record)
    assert [(each.stage, each.scenario) for each in caught] == [("drop-in", ""), ("scenarios", "turn2")]
    held = Detection("x", "x", Expected("", ("observer_recovers",)), caught)
    assert held.as_expected
    assert not replace(held, expected=Expected("", ("costs",))).as_expected
    assert caught_in(decide(declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), SOUND)) == ()
