"""Processes that outlived their run are found, also while they change their program."""

from __future__ import annotations

import os
import subprocess

import psutil
import pytest

from harness.base.processes.leftovers import RUN_VARIABLE, end_leftovers, left_of, marked


@pytest.fixture
def leak(tmp_path):
    process = subprocess.Popen(["/bin/sleep", "60"], env=marked({"PATH": os.defpath}, tmp_path))
    yield process
    process.kill()
    process.wait()


def test_a_process_that_changes_its_program_is_found(tmp_path, leak, monkeypatch):
    """Between two programs a process shows no environment: seen five times in a thousand on a busy host."""
    reads, environ = [], psutil.Process.environ

    def changing(process):
        if process.pid != leak.pid:
            return environ(process)
        reads.append(process)
        return {} if len(reads) < 3 else {RUN_VARIABLE: str(tmp_path)}

    monkeypatch.setattr(psutil.Process, "environ", changing)
    assert list(left_of(tmp_path)) == [leak.pid]


def test_what_is_left_is_ended_and_named(tmp_path, leak):
    assert end_leftovers(tmp_path) == f"processes outlived the run and were killed: sleep ({leak.pid})"
    assert leak.wait(10) < 0


def test_what_belongs_to_another_run_is_left_alone(tmp_path, leak):
    assert end_leftovers(tmp_path / "another") == ""
    assert leak.poll() is None
