"""Spark starts beside the last clusters, gives way to them, and whatever becomes of it touches no run."""

import os
import shlex
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, spawn
from harness.base.processes.background import Background, background_of_caller
from harness.base.progress import Reporter
from harness.engine.quiet import held_together
from harness.logs.read.spark import _environment, _quoted
from harness.model.request import Request
from harness.rundir.directory import RunDirectory
from harness.stages import spark_beside as stage

WAITS = "import sys; sys.stdin.read()"  # as Spark's JVM: until nobody holds the other end


class Sessions:
    """Stand in for Spark: each session is a process; what goes wrong at its start is next of `faults`."""

    def __init__(self, folder):
        self.folder, self.faults, self.opened, self.closed, self.beside = folder, [], [], [], []

    @contextmanager
    def open(self, _folder, _toolbox, progress):
        self.beside.append(background_of_caller() is not None)
        progress("Starting Spark")
        fault = self.faults.pop(0) if self.faults else None
        jvm = spawn(
            [sys.executable, "-c", WAITS],
            cwd=self.folder,
            output=self.folder / "out",
            env=bare_environment(),
            stdin=subprocess.PIPE,
        )
        try:
            if isinstance(fault, Exception):
                raise fault
            while fault == "slow" and jvm.poll() is None:
                time.sleep(0.01)
            if jvm.poll() is not None:
                raise HarnessError("its JVM ended")
            self.opened.append(jvm)
            yield jvm
        finally:
            jvm.stdin.close()
            jvm.wait(10)
            self.closed.append(jvm)


@pytest.fixture
def sessions(tmp_path, monkeypatch):
    made = Sessions(tmp_path)
    monkeypatch.setattr(stage, "opened", made.open)
    monkeypatch.setattr(stage, "has_room_for_spark", lambda _: True)
    monkeypatch.setattr(stage, "note", lambda *_: None)
    monkeypatch.setattr(stage.Background, "may_be_lifted", lambda: True)
    monkeypatch.setattr(stage.Background, "lift", lambda _: True)
    return made


@pytest.fixture
def said():
    return StringIO()


@pytest.fixture
def beside(sessions, said, tmp_path):
    directory = RunDirectory(tmp_path / "run")
    directory.path.mkdir()
    directory.request.write(Request())
    with stage.spark_beside(directory, None, Reporter(Console(file=said))) as spark:
        yield spark


def soon(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_session_that_was_begun_beside_the_clusters_is_taken_and_gone_afterwards(beside, sessions, said):
    beside.begin()
    beside.begin()
    soon(lambda: sessions.opened)
    with beside.session() as spark:
        assert [spark] == sessions.opened
        assert spark.poll() is None
    assert spark.poll() is not None
    assert (sessions.beside, sessions.closed) == ([True], [spark])
    assert "Starting Spark" not in said.getvalue()


def test_what_was_not_begun_is_started_when_it_is_wanted_as_an_ordinary_process(beside, sessions, said):
    with beside.session() as spark:
        assert spark.poll() is None
    assert sessions.beside == [False]
    assert "Starting Spark" in said.getvalue()


@pytest.mark.parametrize("fault", [HarnessError("no memory"), RuntimeError("py4j"), OSError(28, "disk full")])
def test_one_that_does_not_start_touches_nothing_and_another_is_started_when_it_is_wanted(beside, sessions, fault):
    sessions.faults.append(fault)
    beside.begin()
    soon(lambda: sessions.closed)
    with beside.session() as spark:
        assert spark.poll() is None
    assert sessions.beside == [True, False]


def test_one_that_is_too_slow_is_ended_and_another_started(beside, sessions, monkeypatch):
    monkeypatch.setattr(stage, "_PATIENCE_SECONDS", 0.2)
    sessions.faults.append("slow")
    beside.begin()
    soon(lambda: sessions.beside)
    with beside.session() as spark:
        assert spark.poll() is None
        assert len(sessions.closed) == 1, "nothing of the first is left"
    assert sessions.beside == [True, False]


def test_one_that_cannot_be_made_an_equal_is_ended_and_another_started(beside, sessions, monkeypatch):
    monkeypatch.setattr(stage.Background, "lift", lambda _: False)
    beside.begin()
    soon(lambda: sessions.opened)
    (first,) = sessions.opened
    with beside.session() as spark:
        assert (spark is first, first.poll() is None) == (False, False)
    assert sessions.beside == [True, False]


@pytest.mark.parametrize(("what", "value"), [("may_be_lifted", lambda: False), ("has_room_for_spark", lambda _: False)])
def test_where_it_could_not_be_lifted_or_memory_lacks_nothing_is_started_beside_the_clusters(
    beside, sessions, monkeypatch, what, value
):
    monkeypatch.setattr(stage.Background if what == "may_be_lifted" else stage, what, value)
    beside.begin()
    soon(lambda: beside._begun.done())
    assert sessions.beside == []
    with beside.session():
        assert sessions.beside == [False]


@pytest.mark.parametrize("fault", [None, "slow"])
def test_whatever_ends_a_verification_ends_what_was_begun(sessions, tmp_path, fault):
    directory = RunDirectory(tmp_path)
    directory.request.write(Request())
    sessions.faults.append(fault)

    def verification():
        with stage.spark_beside(directory, None, Reporter(Console(quiet=True))) as spark:
            spark.begin()
            soon(lambda: sessions.opened or (fault and sessions.beside))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verification()
    soon(lambda: sessions.closed)
    assert all(jvm.poll() is not None for jvm in sessions.closed)


def test_it_gives_way_and_stands_still_while_a_verdicts_clock_runs(beside, sessions):
    beside.begin()
    soon(lambda: sessions.opened)
    (jvm,) = sessions.opened
    soon(lambda: os.sched_getscheduler(jvm.pid) == os.SCHED_IDLE)
    tests = Background()
    with held_together(tests.held, beside.held)():
        soon(lambda: state(jvm) == "T")
        assert tests.held_seconds > 0
    soon(lambda: state(jvm) != "T")


def state(child):
    return Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_while_sparks_variables_are_set_no_other_thread_finds_its_own_missing():
    before, missed, over = dict(os.environ), [], threading.Event()

    def look():
        while not over.is_set():
            missed.extend(name for name in ("PATH", "XDG_DATA_HOME") if os.environ.get(name) != before.get(name))

    other = threading.Thread(target=look)
    other.start()
    for _ in range(300):
        with _environment({"SPARK_LOCAL_DIRS": "/x", "PYSPARK_PYTHON": "y"}, ("JAVA_TOOL_OPTIONS",)):
            os.environ["SPARK_BUFFER_SIZE"] = "1"  # as PySpark sets it
    over.set()
    other.join()
    assert missed == []
    assert dict(os.environ) == before


def test_a_variable_of_the_users_that_was_taken_away_comes_back(monkeypatch):
    monkeypatch.setenv("SPARK_HOME", "/mine")
    with _environment({"PYSPARK_PYTHON": "y"}, ()):
        assert "SPARK_HOME" not in os.environ
    assert os.environ["SPARK_HOME"] == "/mine"
    assert "PYSPARK_PYTHON" not in os.environ


@given(st.text(st.characters(exclude_categories=("Cs", "Cc"))))
def test_an_option_for_sparks_jvm_is_one_word_whatever_its_path_is(path):
    option = f"-Djava.io.tmpdir={path}"
    assert shlex.split(_quoted(option)) == [option]
