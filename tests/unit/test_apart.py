"""Runs in processes of their own, for real: a crash in native code spoils one run, and says so."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.base.waiting import wait_until
from harness.cluster.install import Install
from harness.cluster.prepare import NodeParts
from harness.engine import apart
from harness.engine.apart import run_apart
from harness.engine.cancel import Cancellation, RunCancelled
from harness.engine.planned_run import PlannedRun
from harness.engine.sealing import check_results
from harness.kafka.release_lines import line_of
from harness.model.arms import Role
from harness.model.outcome_names import HARNESS_ALIVE
from harness.model.runs import Outcome, RunKey
from harness.model.setup import Profile
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal
from harness.scenario import verbs as verb_registry
from harness.scenario.registry import load_all
from harness.scenario.verbs import verbs
from harness.stages.run import left_to_do

PLANS = """
import ctypes, os, signal, time
from dataclasses import dataclass
from harness.cluster.topology import Topology
from harness.scenario.plan import scenario
from harness.scenario.steps import Sample


@dataclass(frozen=True, slots=True)
class Deed:
    what: str
    description: str = "do as it is told"

    def perform(self, world):
        if self.what == "crash":
            ctypes.string_at(0)
        elif self.what == "be killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.what == "wait":
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline and not world.is_over():
                time.sleep(0.01)
        elif self.what == "hang":
            time.sleep(60)
        elif self.what == "say who it is":
            (world.folder.path / "pid").write_text(str(os.getpid()))


@dataclass(frozen=True, slots=True)
class Holds:
    name: str = "holds"
    description: str = "it holds"

    def sample(self, world):
        return Sample(True)


def asks(what):
    def build(plan, cluster):
        with plan.phase(what):
            plan.do(Deed("say who it is"), Deed(what))
            plan.expect(Holds(), within='1s', named='it_holds')

    build.__doc__, build.__name__ = "Is it so?", what.replace(" ", "_")
    return scenario(Topology(0, 0), suite="own", budget="1m")(build)


passes, crashes, killed, waits, hangs = map(asks, ("pass", "crash", "be killed", "wait", "hang"))
"""

WATCH = """
from harness.model.incidents import Incident, IncidentKind
from harness.scenario.monitors.base import Monitor
from harness.scenario.verbs import monitor


@monitor
class Watch(Monitor):
    name = "own_watch"

    def start(self):
        self.record.report(Incident(IncidentKind.INVARIANT_BROKEN, "own_watch", "it saw something"), 0)
"""

NODE_PARTS = NodeParts(Path("java"), (), Path("template"), None, Profile.FAST, line_of("3.9.1"))
NO_JAR = Install("none", Path("none.jar"), "0" * 64, "absent")


@pytest.fixture
def folder(tmp_path):
    (folder := tmp_path / "plans").mkdir()
    (folder / "plans.py").write_text(PLANS)
    return folder


@pytest.fixture
def cell(folder):
    def of(name, *more):
        scenario = load_all([folder, *more])[name]
        return PlannedRun(RunKey(name, "stock", 1), scenario, Role.BASE, NODE_PARTS, NO_JAR)

    return of


def run(cell, folder, cancellation=None, said=None, **more):
    return run_apart(cell, folder, (said if said is not None else []).append, cancellation or Cancellation(), **more)


def test_a_run_is_carried_out_by_another_process_which_ends_with_it(cell, tmp_path):
    said, runs = [], RunDirectory(tmp_path / "x")
    result = run(cell("pass"), runs.path, said=said)
    assert (result.outcome, said) == (Outcome.PASSED, ["pass"])
    assert runs.run(result.key).result.read() == result
    check_results(runs.path)
    pid = int((runs.run(result.key).path / "pid").read_text())
    assert pid != os.getpid()
    assert wait_until(lambda: not psutil.pid_exists(pid), 5)


def test_a_crash_in_native_code_breaks_one_run_and_says_where_it_was(cell, tmp_path):
    runs = RunDirectory(tmp_path / "x")
    result = run(cell("crash"), runs.path)
    folder = runs.run(result.key)
    assert (result.outcome, result.expectation) == (Outcome.BROKEN, HARNESS_ALIVE)
    assert "crashed (Segmentation fault; crash.txt says where)" in result.reason
    assert "string_at" in folder.crash.read_text()
    assert [each.path for each in result.evidence] == [f"{folder.name}/journal.jsonl", f"{folder.name}/crash.txt"]
    assert folder.result.read() == result
    check_results(runs.path)
    assert run(cell("pass"), runs.path).outcome is Outcome.PASSED


def test_the_journal_of_a_run_that_crashed_goes_on_where_it_was_cut(cell, tmp_path):
    runs = RunDirectory(tmp_path / "x")
    result = run(cell("crash"), runs.path)
    entries = list(read_journal(runs.run(result.key).journal))
    assert [each.seq for each in entries] == list(range(1, len(entries) + 1))
    assert [each.t for each in entries] == sorted(each.t for each in entries)
    assert entries[-1].event.outcome == "BROKEN"


def test_a_process_that_is_killed_is_not_said_to_have_crashed(cell, tmp_path):
    result = run(cell("be-killed"), tmp_path / "x")
    assert (result.outcome, result.expectation) == (Outcome.BROKEN, HARNESS_ALIVE)
    assert "was killed by signal 9, by a user or by a host that was short of memory" in result.reason


@pytest.mark.parametrize("name", ["wait", "hang"])
def test_a_run_that_is_cancelled_ends_whatever_it_waits_for_and_has_no_result(cell, tmp_path, name):
    cancellation, began = Cancellation(), time.monotonic()
    threading.Timer(0.5, cancellation.cancel).start()
    with pytest.raises(RunCancelled):
        run(cell(name), tmp_path / "x", cancellation)
    assert time.monotonic() - began < 10
    assert not RunDirectory(tmp_path / "x").run(RunKey(name, "stock", 1)).result.exists


def test_what_cannot_be_run_is_said_as_it_is_in_one_process(cell, tmp_path):
    (tmp_path / "x").write_text("in the way")
    with pytest.raises(OSError, match="Not a directory") as raised:
        run(cell("pass"), tmp_path / "x")
    assert "run_cell" in raised.value.__notes__[0]


@pytest.mark.parametrize("name", ["pass", "crash"])
def test_what_runs_beside_is_held_while_a_plan_needs_quiet_and_let_go_also_where_it_crashes(cell, tmp_path, name):
    held = []

    @contextmanager
    def quiet():
        held.append("held")
        yield
        held.append("let go")

    run(cell(name), tmp_path / "x", quiet=quiet)
    assert held
    assert held == ["held", "let go"] * (len(held) // 2)


def test_a_server_that_was_ended_is_started_again(cell, tmp_path):
    run(cell("pass"), tmp_path / "x")
    apart._server._process.kill()
    apart._server._process.wait()
    assert run(cell("pass"), tmp_path / "y").outcome is Outcome.PASSED


def test_the_server_has_one_thread_so_that_it_may_fork(cell, tmp_path):
    run(cell("pass"), tmp_path / "x")
    assert len(psutil.Process(apart._server._process.pid).threads()) == 1


def test_who_asks_a_run_to_end_is_the_harness_and_nobody_else(cell, tmp_path):
    """As where a whole process group gets a signal: the harness among it, which then ends its runs."""
    cancellation, pid = Cancellation(), tmp_path / "x" / "runs" / "wait" / "stock" / "1" / "pid"

    def end_all():
        assert wait_until(pid.is_file, 20)
        time.sleep(0.1)
        os.kill(int(pid.read_text()), signal.SIGTERM)
        os.kill(apart._server._process.pid, signal.SIGTERM)
        time.sleep(0.3)
        cancellation.cancel()

    (thread := threading.Thread(target=end_all)).start()
    with pytest.raises(RunCancelled):
        run(cell("wait"), tmp_path / "x", cancellation)
    thread.join()
    assert apart._server._process.poll() is None


def test_a_process_ends_with_the_server(cell, tmp_path):
    folder = tmp_path / "x" / "runs" / "wait" / "stock" / "1"

    def end_server():
        assert wait_until((folder / "pid").is_file, 20)
        time.sleep(0.1)
        apart._server._process.kill()

    (thread := threading.Thread(target=end_server)).start()
    with pytest.raises(HarnessError, match="exit code -9"):
        run(cell("wait"), tmp_path / "x")
    thread.join()
    pid = int((folder / "pid").read_text())
    assert wait_until(lambda: not psutil.pid_exists(pid), 5)


@pytest.fixture
def watch(tmp_path, monkeypatch):
    monkeypatch.setattr(verb_registry, "_verbs", dict(verbs()))
    (folder := tmp_path / "watch").mkdir()
    (folder / "watch.py").write_text(WATCH)
    return folder


def test_monitors_of_the_users_own_watch_runs_of_scenarios_in_other_folders(cell, watch, tmp_path):
    result = run(cell("pass", watch), tmp_path / "x")
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "own_watch")


def test_an_invariant_that_was_broken_before_a_crash_of_the_harness_is_what_the_run_shows(cell, watch, tmp_path):
    result = run(cell("crash", watch), tmp_path / "x")
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "own_watch")
    assert "it saw something" in result.reason


def test_a_crashed_run_is_left_to_do_where_the_verification_is_gone_on_with(cell, tmp_path):
    cells, said = [cell("pass"), cell("crash")], []
    for each in cells:
        run(each, tmp_path / "x")
    assert left_to_do(cells, tmp_path / "x", SimpleNamespace(report=said.append)) == cells[1:]
    assert said == ["runs/crash/stock/1 is run again: the process in which the harness ran it had ended"]


def test_what_an_interrupted_run_left_and_nobody_can_remove_is_said(cell, tmp_path, monkeypatch):
    (tmp_path / "x" / "runs" / "pass" / "stock" / "1").mkdir(parents=True)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    with pytest.raises(HarnessError, match="left by an interrupted run, cannot be removed"):
        left_to_do([cell("pass")], tmp_path / "x", SimpleNamespace(report=lambda _: None))


def test_a_scenario_that_was_changed_meanwhile_is_not_run(cell, folder, tmp_path):
    cell = cell("pass")
    (folder / "plans.py").write_text(PLANS.replace("within='1s'", "within='1500ms'"))
    with pytest.raises(HarnessError, match=r"plans\.py or a file beside it was changed while its scenarios were run"):
        run(cell, tmp_path / "x")


def test_nor_is_one_whose_verbs_were_changed_whatever_they_say_of_themselves(cell, folder, tmp_path):
    verbs = folder / "verbs.py"
    verbs.write_text("# one\n")
    cell = replace(cell("pass"), own_files={verbs: sha256_of(verbs)})
    assert run(cell, tmp_path / "x").outcome is Outcome.PASSED
    verbs.write_text("# another\n")
    with pytest.raises(HarnessError, match=r"verbs\.py is another"):
        run(cell, tmp_path / "y")


def test_a_fault_of_the_harness_in_the_other_process_is_told_with_where_it_was(cell, tmp_path, monkeypatch):
    monkeypatch.setattr(apart, "Begin", lambda *_: "no run at all")
    with pytest.raises(RuntimeError, match="AssertionError") as raised:
        run(cell("pass"), tmp_path / "x")
    assert "run_server.py" in raised.value.__notes__[0]


@pytest.mark.parametrize("name", ["turn2", "chaos-17", "chaos-17-only-none"])
def test_every_scenario_that_has_a_name_arrives_in_another_process(name):
    scenario = load_all()[name]
    make, arguments = scenario.__reduce__()
    assert make(*arguments).name == name
    assert scenario.plan().steps


def test_a_scenario_that_nothing_can_make_again_is_not_sent():
    scenario = load_all()["turn2"]
    object.__setattr__(scenario, "again", None)
    with pytest.raises(TypeError, match="turn2 cannot go to another process"):
        scenario.__reduce__()
