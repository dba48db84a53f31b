"""Work that gives way: its processes are of the class SCHED_IDLE, stand still while they are held, and all end."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, run, spawn
from harness.base.processes.background import Background

SAYS_ITS_CLASS = "import os; print(os.sched_getscheduler(0))"
HAS_A_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SAYS_ITS_CLASS!r}])"
COUNTS = """
import sys, time
while True:
    print("once more", flush=True)
    time.sleep(0.01)
"""
BEGUN = []


@pytest.fixture
def work():
    background = Background()
    with background.working():
        yield background
    background.end()
    while BEGUN:
        BEGUN.pop().wait(10)


def python(script):
    return [sys.executable, "-c", script]


def begin(script, folder):
    BEGUN.append(spawn(python(script), cwd=folder, output=folder / "out", env=bare_environment()))
    return BEGUN[-1]


def counts_on(output: Path, seconds=10.0) -> bool:
    size, deadline = output.stat().st_size, time.monotonic() + seconds
    while time.monotonic() < deadline:
        if output.stat().st_size > size:
            return True
        time.sleep(0.02)
    return False


def is_stopped(child, seconds=10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("script", [SAYS_ITS_CLASS, HAS_A_CHILD])
def test_whatever_the_work_starts_is_of_the_class_that_gives_way_and_so_is_what_that_starts(work, tmp_path, script):
    assert int(run(python(script), env=bare_environment(), timeout=60).stdout) == os.SCHED_IDLE
    child = begin(script, tmp_path)
    child.wait(60)
    assert int((tmp_path / "out").read_text()) == os.SCHED_IDLE


def weight_of_session(child) -> int | None:
    """Return the niceness of a process's session; None where the kernel does not group by session."""
    try:
        return int(Path(f"/proc/{child.pid}/autogroup").read_text().split()[-1])
    except (OSError, IndexError):
        return None


def test_its_sessions_weigh_least_where_the_kernel_groups_by_session(work, tmp_path):
    child = begin(COUNTS, tmp_path)
    assert counts_on(tmp_path / "out")
    if (weight := weight_of_session(child)) is None:
        pytest.skip("this kernel does not group by session")
    assert weight == 19


def test_other_threads_start_ordinary_processes_meanwhile(work, tmp_path):
    found = []

    def ask():
        found.append(int(run(python(SAYS_ITS_CLASS), env=bare_environment(), timeout=60).stdout))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert found == [os.sched_getscheduler(0)]  # as this process is


def test_held_work_stands_still_until_the_last_of_those_who_hold_it_lets_go(work, tmp_path):
    child, output = begin(COUNTS, tmp_path), tmp_path / "out"
    assert counts_on(output)
    with work.held():
        with work.held():
            assert is_stopped(child)
        assert is_stopped(child)
        time.sleep(0.1)
        assert not counts_on(output, 0.5)
    assert counts_on(output)


def test_what_is_begun_while_the_work_is_held_waits_too(work, tmp_path):
    with work.held():
        child = begin(COUNTS, tmp_path)
        assert is_stopped(child)
    assert counts_on(tmp_path / "out")


def test_a_hold_ends_however_its_block_is_left(work, tmp_path):
    begin(COUNTS, tmp_path)
    with pytest.raises(ValueError, match="no"), work.held():
        raise ValueError("no")
    assert counts_on(tmp_path / "out")


def test_the_end_takes_held_work_along_and_nothing_begins_after_it(work, tmp_path):
    child = begin(COUNTS, tmp_path)
    with work.held():
        assert is_stopped(child)
        work.end()
    assert child.wait(10) == -signal.SIGKILL
    with pytest.raises(HarnessError, match="ended"):
        begin(COUNTS, tmp_path)
    with pytest.raises(HarnessError, match="ended"):
        run(python(COUNTS), env=bare_environment(), timeout=10)


def test_a_process_that_has_ended_is_neither_held_nor_killed(work, tmp_path, monkeypatch):
    child = begin("", tmp_path)
    child.wait(10)
    monkeypatch.setattr(os, "killpg", lambda *_: pytest.fail("its id may be somebody else's by now"))
    with work.held():
        pass
    work.end()


def test_lifted_work_is_ordinary_with_all_its_threads_and_so_is_what_it_starts_then(work, tmp_path):
    threads = "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); print('up', flush=True)"
    child = begin(threads, tmp_path)
    assert counts_on(tmp_path / "out") or (tmp_path / "out").stat().st_size
    if not work.lift():
        pytest.skip("this user may not take a process out of SCHED_IDLE")
    tasks = [int(each.name) for each in Path(f"/proc/{child.pid}/task").iterdir()]
    assert len(tasks) == 2
    assert {os.sched_getscheduler(task) for task in tasks} == {os.SCHED_OTHER}
    assert weight_of_session(child) in (None, 0)
    begin(SAYS_ITS_CLASS, tmp_path).wait(60)
    assert (tmp_path / "out").read_text().split() == ["up", str(os.sched_getscheduler(0))]


def test_where_the_kernel_refuses_to_lift_the_work_goes_on_giving_way(work, tmp_path, monkeypatch):
    child = begin(COUNTS, tmp_path)
    assert counts_on(tmp_path / "out")

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    assert not work.lift()
    assert weight_of_session(child) in (None, 0)  # which takes no privilege
    assert os.sched_getscheduler(child.pid) == os.SCHED_IDLE
    assert work.gives_way


def test_how_long_work_was_held_counts_once_however_many_hold_it(work):
    """Not what each of them held it for, and up to now where somebody does."""
    assert work.held_seconds == 0
    began = time.monotonic()
    with work.held(), work.held():
        time.sleep(0.2)
        assert 0.2 <= work.held_seconds <= time.monotonic() - began
    held, until = work.held_seconds, time.monotonic()
    assert 0.2 <= held <= until - began
    time.sleep(0.05)
    assert work.held_seconds == held
