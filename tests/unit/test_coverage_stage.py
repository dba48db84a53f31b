"""The stage around the runs with the agent: what it runs, what it writes, and that no failure in it ends anything."""

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.base.progress import Reporter
from harness.building.jars import write_jar
from harness.cluster import host_accounts as accounts
from harness.coverage.agent import Agent
from harness.coverage.changes import ChangedCode
from harness.coverage.jacoco import Hits
from harness.engine.cancel import Cancellation
from harness.engine.left_places import LeftPlaces
from harness.model.arms import Arm, Build, Flag, Kafka, Role
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.proof import ChangedMethod, Coverage, Proof, ReachedLine, ReachedMethod, TestScope, TestsProof
from harness.model.request import Request
from harness.model.runs import Outcome, RunResult
from harness.model.setup import Setup
from harness.rundir.directory import RunDirectory
from harness.scenario.host_meter import host_speed
from harness.stages import coverage as stage
from harness.stages import verify as verify_stage
from harness.stages.prove_beside import Beside
from harness.toolbox.toolbox import Toolbox, local_toolbox

BASE = Build("stock", "3.9.1", "builds/stock/x.jar", "a" * 64, "release", Flag("f", False))
PATCHED = Build("patched", "3.9.1", "builds/patched/x.jar", "b" * 64, "javac", Flag("f", True))
STOCK = Arm("stock", Role.BASE, BASE, "absent")
OFF, ON = Arm("patched-off", Role.OFF, PATCHED, "false"), Arm("patched-on", Role.ON, PATCHED, "true")
ASKED = Declaration(
    SCHEMA, "3.9.1", (STOCK, OFF, ON), (DeclaredScenario("turn1"), DeclaredScenario("turn2")), repeats=3
)
SETUP = Setup("f")
PROOF = Proof("patched", "a" * 64, "b" * 64, (), (), TestsProof(TestScope.NONE), ())
QUIET = Reporter(Console(quiet=True))
TOOLBOX = local_toolbox()
FILE = "a/One.java"


@pytest.fixture
def run_dir(tmp_path):
    RunDirectory(tmp_path).declaration.write(ASKED)
    RunDirectory(tmp_path).request.write(Request())
    RunDirectory(tmp_path).setup.write(SETUP)
    RunDirectory(tmp_path).proof("patched").proof.write(PROOF)
    write_jar({"a/One.class": b"", "a/Other.class": b""}, tmp_path / PATCHED.jar)
    return tmp_path


def hits(_jacoco, data, *_rest):
    """Return what JaCoCo says: line 1 in `f` runs where there are execution data, and `g` never."""
    return Hits({FILE: {1: bool(data), 2: False}}, {("a/One", "f", "()V"): bool(data), ("a/One", "g", "()V"): False})


@pytest.fixture
def ran(monkeypatch, run_dir):
    """Return the cells that were run, with turn2 alone leaving execution data; lines 1 and 2 of FILE are changed."""
    cells = []

    def carry_out(todo, root, *_):
        for cell in todo:
            cells.append((cell, root))
            folder = root / cell.key.folder
            folder.mkdir(parents=True)
            done = RunResult(cell.key.scenario, cell.key.arm, cell.role, 1, Outcome.PASSED)
            (folder / "result.json").write_text(to_json(done))
            if cell.key.scenario == "turn2":
                RunDirectory(root).run(cell.key).execution_data.write_bytes(b"data")

    monkeypatch.setattr(
        stage, "parts_of_arms", lambda arms, *_: {arm.name: SimpleNamespace(java=Path("/jre/bin/java")) for arm in arms}
    )
    monkeypatch.setattr(Toolbox, "tool", lambda _, purpose: run_dir / f"{purpose}.jar")
    changed = ChangedCode({FILE: frozenset({1, 2, 3})}, frozenset({("a/One", "f", "()V"), ("a/One", "g", "()V")}))
    monkeypatch.setattr(stage, "code_of_methods", lambda *_: changed)
    monkeypatch.setattr(stage, "classes_from", lambda *_: ("a/One",))
    monkeypatch.setattr(stage, "read_hits", hits)
    monkeypatch.setattr(stage, "carry_out", carry_out)
    return cells


def written(run_dir):
    return from_json(Coverage, (run_dir / "proof/patched/coverage.json").read_bytes())


def test_every_scenario_runs_once_on_the_candidate_as_claimed_apart_from_the_runs_that_count(run_dir, ran):
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert [(cell.key.scenario, cell.key.arm, cell.key.repeat) for cell, _ in ran] == [
        ("turn1", "patched-on", 1),
        ("turn2", "patched-on", 1),
    ]
    assert {root for _, root in ran} == {run_dir / "coverage"}
    agents = {cell.instrument.args for cell, _ in ran}
    assert agents == {(Agent(run_dir / "coverage-agent.jar", ("a/One",)),)}
    assert {cell.install.jar for cell, _ in ran} == {run_dir / PATCHED.jar}
    assert not (run_dir / "runs").exists()


def test_no_more_scenarios_run_once_each_changed_method_was_entered(run_dir, ran, monkeypatch):
    one = ChangedCode({FILE: frozenset({1, 2})}, frozenset({("a/One", "f", "()V")}))
    monkeypatch.setattr(stage, "code_of_methods", lambda *_: one)
    asked = tuple(DeclaredScenario(name) for name in ("turn2", "turn1", "leader-loss"))
    RunDirectory(run_dir).declaration.write(replace(ASKED, scenarios=asked))
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert [cell.key.scenario for cell, _ in ran] == ["turn2", "turn1"], "two clusters run side by side"
    assert written(run_dir).gap.startswith(
        "2 of 3 scenarios were run for this: together they enter every changed method."
    )


def test_lines_are_written_with_the_scenarios_that_ran_them_and_what_gave_no_data_is_reported(run_dir, ran):
    stage.coverage(run_dir, TOOLBOX, QUIET)
    found = written(run_dir)
    assert found.lines == (ReachedLine(FILE, 1, "", ("turn2",)), ReachedLine(FILE, 2, "", ()))
    assert found.unreached == (ReachedLine(FILE, 2, "", ()),)
    assert found.methods == (ReachedMethod("a/One", "f", "()V", ("turn2",)), ReachedMethod("a/One", "g", "()V", ()))
    assert found.unreached_methods == ("One.g",)
    assert found.gap.startswith("turn1 gave no execution data")
    assert RunDirectory(run_dir).declaration.read().timings.keys() == {"coverage"}


def test_where_only_the_arm_with_the_flag_off_is_asked_it_is_the_one_that_runs(run_dir, ran):
    RunDirectory(run_dir).declaration.write(replace(ASKED, arms=(STOCK, OFF)))
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert {cell.key.arm for cell, _ in ran} == {"patched-off"}


def test_without_a_candidate_there_is_nothing_to_write(run_dir, ran):
    RunDirectory(run_dir).declaration.write(replace(ASKED, arms=(STOCK,)))
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert not ran
    assert not RunDirectory(run_dir).proof("patched").coverage.exists


def test_of_a_jar_without_sources_that_nobody_proved_nothing_shows_what_changed(run_dir, ran):
    RunDirectory(run_dir).proof("patched").proof.path.unlink()
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert not ran
    assert written(run_dir) == Coverage((), "The jar was not proved, so that nothing shows what changed.")


def test_a_candidate_that_changes_no_code_needs_no_run(run_dir, ran, monkeypatch):
    monkeypatch.setattr(stage, "classes_from", lambda *_: ())
    monkeypatch.setattr(stage, "code_of_methods", lambda *_: ChangedCode({}, frozenset()))
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert not ran
    assert written(run_dir) == Coverage((), "Nothing that differs from base has instructions.")


def test_what_changed_between_two_whole_kafkas_is_not_looked_for_line_by_line(run_dir, ran, monkeypatch):
    monkeypatch.setattr(stage, "classes_from", lambda *_: ())
    monkeypatch.setattr(stage, "code_of_methods", lambda *_: ChangedCode({}, frozenset()))
    base = replace(STOCK, build=replace(BASE, kafka=Kafka("3.9.1", "", "r", {"r": "1", "x": "2"})))
    on = replace(ON, build=replace(PATCHED, kafka=Kafka("3.9.2", "", "r", {"r": "1", "x": "3"})))
    RunDirectory(run_dir).declaration.write(replace(ASKED, arms=(base, on)))
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert not ran
    assert written(run_dir).gap == ("What changed between Kafka 3.9.1 and Kafka 3.9.2 was not looked for line by line.")


def test_methods_of_a_jar_without_line_numbers_are_looked_for_by_their_class(run_dir, ran, monkeypatch):
    nested = frozenset({("a/One$Nested", "f", "()V")})
    monkeypatch.setattr(stage, "classes_from", lambda *_: ())
    monkeypatch.setattr(stage, "code_of_methods", lambda *_: ChangedCode({}, nested))
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert {cell.instrument.args for cell, _ in ran} == {(Agent(run_dir / "coverage-agent.jar", ("a/One",)),)}


def test_a_failure_is_the_gap_and_not_the_end_of_a_verification(run_dir, ran, monkeypatch):
    def fail(*_):
        raise HarnessError("It cannot be had.", "Try again.")

    monkeypatch.setattr(Toolbox, "tool", fail)
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert written(run_dir) == Coverage((), "It cannot be had. Try again.")


def test_a_series_that_is_not_in_the_kept_sources_is_reported_and_class_files_are_compared(run_dir, ran):
    RunDirectory(run_dir).setup.write(replace(SETUP, series=str(run_dir / "gone")))
    kept = run_dir / "builds/patched/sources/raft/src/main/java" / FILE
    kept.parent.mkdir(parents=True)
    kept.write_text("  first();\nsecond();\n")
    stage.coverage(run_dir, TOOLBOX, QUIET)
    found = written(run_dir)
    assert found.gap.startswith("The lines are those of methods whose code differs, since the series is not in")
    assert found.lines[0] == ReachedLine(f"raft/src/main/java/{FILE}", 1, "first();", ("turn2",))


@pytest.fixture
def ahead(monkeypatch, ran):
    """Return the scenarios that errands ran; each leaves what `ran` leaves."""
    found = []

    def run_cell(cell, root, *_):
        found.append(cell.key.scenario)
        stage.carry_out([cell], root)
        return RunDirectory(root).run(cell.key).result.read()

    monkeypatch.setattr(stage, "run_apart", run_cell)
    monkeypatch.setattr(stage, "left_to_do", lambda cells, root, _: [c for c in cells if not has_result(root, c)])
    return found


def has_result(root, cell):
    return RunDirectory(root).run(cell.key).result.exists


def test_what_ran_ahead_is_not_run_again(run_dir, ran, ahead):
    for errand in stage.errands(run_dir, TOOLBOX, QUIET, None):
        errand(Cancellation())
    assert ahead == ["turn1", "turn2"]
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert len(ran) == 2
    assert written(run_dir).lines == (ReachedLine(FILE, 1, "", ("turn2",)), ReachedLine(FILE, 2, "", ()))


def test_runs_ahead_end_once_each_changed_method_was_entered(run_dir, ran, ahead, monkeypatch):
    one = ChangedCode({FILE: frozenset({1, 2})}, frozenset({("a/One", "f", "()V")}))
    monkeypatch.setattr(stage, "code_of_methods", lambda *_: one)
    asked = tuple(DeclaredScenario(name) for name in ("turn2", "turn1", "leader-loss"))
    RunDirectory(run_dir).declaration.write(replace(ASKED, scenarios=asked))
    for errand in stage.errands(run_dir, TOOLBOX, QUIET, None):
        errand(Cancellation())
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert [cell.key.scenario for cell, _ in ran] == ahead == ["turn2"]
    assert written(run_dir).gap.startswith(
        "1 of 3 scenarios were run for this: together they enter every changed method."
    )


def test_runs_ahead_know_the_changed_methods_before_the_proof_is_there(run_dir, ran, ahead, monkeypatch):
    RunDirectory(run_dir).proof("patched").proof.path.unlink()
    assert stage.errands(run_dir, TOOLBOX, QUIET, None) == ()
    seen = []
    changed = ChangedCode({FILE: frozenset({1})}, frozenset())
    monkeypatch.setattr(stage, "code_of_methods", lambda _jar, methods: seen.append(methods) or changed)
    methods = (ChangedMethod("a/One", "f", "()V"),)
    assert len(stage.errands(run_dir, TOOLBOX, QUIET, methods)) == 2
    assert seen == [methods]


def test_what_fails_ahead_is_left_to_the_stage(run_dir, ran, ahead, monkeypatch):
    def fail(*_):
        raise HarnessError("It cannot be had.", "Try again.")

    monkeypatch.setattr(stage, "run_apart", fail)
    for errand in stage.errands(run_dir, TOOLBOX, QUIET, None):
        errand(Cancellation())
    assert not ran
    stage.coverage(run_dir, TOOLBOX, QUIET)
    assert len(ran) == 2


def test_without_a_candidate_nothing_runs_ahead(run_dir, ran):
    RunDirectory(run_dir).declaration.write(replace(ASKED, arms=(STOCK,)))
    assert stage.errands(run_dir, TOOLBOX, QUIET, None) == ()


class Stop(Exception):  # noqa: N818 - no fault: what follows is not of interest
    """Ends a verification after its runs."""


HELD = []


@contextmanager
def held(name):
    """Note what is held."""
    HELD.append(name)
    yield


def ran_with(monkeypatch, run_dir):
    """Return what the stage of the runs is given by a verification: what it holds in quiet, and the errands."""
    given, taken, begun = [], [], []

    def run(_run_dir, _toolbox, _reporter, quiet, on_left, *_):
        on_left()
        HELD.clear()
        with quiet():
            given.extend((tuple(HELD), taken))
        assert begun == ["spark"], "where the first place is left"
        raise Stop

    @contextmanager
    def spark(*_):
        yield SimpleNamespace(held=partial(held, "spark"), begin=partial(begun.append, "spark"), session=None)

    monkeypatch.setattr(LeftPlaces, "leave", lambda left: taken.extend(left._find()))
    monkeypatch.setattr(verify_stage.run_stage, "run", run)
    monkeypatch.setattr(verify_stage, "spark_beside", spark)
    with pytest.raises(Stop):
        verify_stage.verify(run_dir, TOOLBOX, QUIET)
    return given


def test_a_verification_has_tests_and_runs_for_reached_lines_beside_its_runs(run_dir, ran, monkeypatch):
    RunDirectory(run_dir).proof("patched").proof.path.unlink()

    @contextmanager
    def proving(*_):
        yield Beside(partial(held, "tests"), (ChangedMethod("a/One", "f", "()V"),))

    monkeypatch.setattr(verify_stage, "proving_beside", proving)
    monkeypatch.setattr(verify_stage, "has_room_beside", lambda _: True)
    quiet, ahead = ran_with(monkeypatch, run_dir)
    assert quiet == ("tests", "spark")
    assert [errand.args[1].key.scenario for errand in ahead] == ["turn1", "turn2"]


def test_the_host_is_measured_before_anything_goes_on_beside_the_runs_and_never_then(run_dir, ran, monkeypatch):
    RunDirectory(run_dir).proof("patched").proof.path.unlink()
    measured = []
    monkeypatch.setattr(accounts, "work_seconds", lambda: measured.append(1) or 7.0)
    host_speed.cache_clear()

    @contextmanager
    def proving(*_):
        before.append(len(measured))
        yield Beside(partial(held, "tests"), (ChangedMethod("a/One", "f", "()V"),))

    before = []
    monkeypatch.setattr(verify_stage, "proving_beside", proving)
    monkeypatch.setattr(verify_stage, "has_room_beside", lambda _: True)
    _, ahead = ran_with(monkeypatch, run_dir)
    host_speed.cache_clear()
    assert ahead
    assert [len(measured)] == before != [0]
    assert RunDirectory(run_dir).coverage_runs.host.read().work_seconds == 7.0


def test_what_is_proved_and_covered_is_not_done_again_beside_the_runs(run_dir, ran, monkeypatch):
    monkeypatch.setattr(verify_stage, "is_proved", lambda _: True)
    monkeypatch.setattr(verify_stage, "proving_beside", lambda *_: pytest.fail("it is proved"))
    RunDirectory(run_dir).request.write(Request(coverage=False))
    assert ran_with(monkeypatch, run_dir) == [("spark",), []]


def test_on_a_host_with_little_memory_the_jar_is_proved_before_its_runs(run_dir, ran, monkeypatch):
    RunDirectory(run_dir).proof("patched").proof.path.unlink()
    proved = []
    monkeypatch.setattr(verify_stage, "has_room_beside", lambda _: False)
    monkeypatch.setattr(verify_stage, "proving_beside", lambda *_: pytest.fail("there is no room"))
    monkeypatch.setattr(verify_stage, "prove", lambda *_: proved.append(1))
    assert ran_with(monkeypatch, run_dir)[0] == ("spark",)
    assert proved
