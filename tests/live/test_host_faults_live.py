"""Faults of one host on processes that are no JVM: a clock that is set, and fsync that fails."""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.processes import bare_environment, spawn
from harness.base.processes.shared_memory import SHARED, forget_shared
from harness.base.waiting import wait_until
from harness.scenario.actions.fail_fsync import fail_fsync
from harness.scenario.actions.set_clock import set_clock
from harness.scenario.capabilities.failing_calls import failing_calls
from harness.scenario.capabilities.fake_clock import fake_clock
from harness.scenario.refs import fixed
from harness.scenario.world import ActionFailed

pytestmark = pytest.mark.live

CLOCKS = "import datetime, time; print(time.time(), time.monotonic())"


@pytest.mark.skipif(bool(fake_clock()), reason=f"no clocks here: {fake_clock()}")
def test_the_wall_clock_alone_is_set():
    wanted = set_clock(fixed(0, "the node"), "+5m")._environment()
    command = [sys.executable, "-c", CLOCKS]
    said = subprocess.run(command, env={**bare_environment(), **wanted}, capture_output=True, text=True, check=True)
    wall, monotonic = map(float, said.stdout.split())
    assert abs(wall - time.time() - 300) < 5
    assert abs(monotonic - time.monotonic()) < 5


WAITS = """
import ctypes, time
libc = ctypes.CDLL(None)
attributes, condition, mutex = (ctypes.create_string_buffer(64) for _ in range(3))
libc.pthread_condattr_init(attributes)
libc.pthread_condattr_setclock(attributes, time.CLOCK_MONOTONIC)
libc.pthread_cond_init(condition, attributes)
libc.pthread_mutex_init(mutex, None)
libc.pthread_mutex_lock(mutex)
began = time.monotonic()
until = (ctypes.c_long * 2)(int(began) + 2, 0)
libc.pthread_cond_timedwait(condition, mutex, until)
print(int(began) + 2 - time.monotonic())
"""


@pytest.mark.skipif(bool(fake_clock()), reason=f"no clocks here: {fake_clock()}")
def test_waits_by_the_clock_that_is_not_set_last_as_long_as_they_should_as_those_of_a_jvm_do():
    wanted = set_clock(fixed(0, "the node"), "+5m")._environment()
    command = [sys.executable, "-c", WAITS]
    said = subprocess.run(command, env={**bare_environment(), **wanted}, capture_output=True, text=True, check=True)
    assert abs(float(said.stdout)) < 0.5


@pytest.mark.skipif(bool(fake_clock()), reason=f"no clocks here: {fake_clock()}")
def test_nothing_stays_in_shared_memory_of_a_process_that_was_launched_with_a_clock_of_its_own(tmp_path):
    env = {**bare_environment(), **set_clock(fixed(0, "the node"), "+5m")._environment()}
    launched = spawn([shutil.which("sleep"), "60"], cwd=tmp_path, output=tmp_path / "said", env=env)
    names = [SHARED / f"faketime_shm_{launched.pid}", SHARED / f"sem.faketime_sem_{launched.pid}"]
    assert wait_until(lambda: Path(f"/proc/{launched.pid}/comm").read_text() == "sleep\n", 5)
    assert all(name.exists() for name in names)  # else the library has learned it, and this can go
    forget_shared(launched.pid)
    launched.kill()
    launched.wait()
    assert not any(name.exists() for name in names)


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_whether_calls_can_be_made_to_fail_is_tried_on_a_process_that_runs_already(monkeypatch):
    # What Yama allows or not: a child may be traced, one beside it may not.
    assert failing_calls() == ""
    monkeypatch.setattr("harness.scenario.capabilities.failing_calls._CALLS", "sync")
    monkeypatch.setattr("harness.scenario.capabilities.failing_calls._SECONDS", 1)
    assert failing_calls() == "no fsync of a process that runs was made to fail"


def test_a_node_that_never_flushes_is_no_proof(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.scenario.actions.fail_fsync._FLUSHES_WITHIN_SECONDS", 0.2)
    monkeypatch.setattr(
        "harness.scenario.actions.fail_fsync.inject_into", lambda *_: SimpleNamespace(poll=lambda: None)
    )
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/strace")
    node = SimpleNamespace(id=0, pid=1, folder=tmp_path)
    world = SimpleNamespace(cluster=SimpleNamespace(nodes={0: node}), write=lambda _: 1)
    world.monitor = lambda _: SimpleNamespace(lasts=lambda _: None)
    with pytest.raises(ActionFailed, match="no fsync of node 0 was made to fail"):
        fail_fsync(fixed(0, "the node")).perform(world)
