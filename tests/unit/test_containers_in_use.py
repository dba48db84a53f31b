"""Containers that a killed harness left are swept by whatever command is next, and by none that finds no mark."""

import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from harness.base.errors import HarnessError
from harness.base.locks import sweep
from harness.cli import common
from harness.containers import engine as engine_module
from harness.containers import in_use as module
from harness.containers.in_use import FOLDER, in_use, sweep_what_was_left

HOLDER = """
import time
from harness.containers.in_use import in_use
with in_use():
    print("up", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return module.cache_root() / FOLDER


@pytest.fixture
def engine(monkeypatch):
    """Return what an engine was asked to remove, which is there or not."""
    asked, there = [], [True]

    @contextmanager
    def reach():
        if not there[0]:
            raise HarnessError("There is no container engine.")
        yield "the engine"

    monkeypatch.setattr(engine_module, "reach_engine", reach)
    monkeypatch.setattr(engine_module, "sweep", lambda each: asked.append(each) or ["abc"])
    return asked, there


def killed_with_containers():
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().strip() == "up"
        process.send_signal(signal.SIGKILL)


def test_what_a_killed_harness_left_is_swept_by_the_next_command_and_only_once(cache, engine):
    asked, _ = engine
    killed_with_containers()
    assert any(cache.iterdir())
    with common.at_work():
        assert asked == ["the engine"]
    with common.at_work():
        assert asked == ["the engine"]


def test_a_harness_that_ended_in_good_order_or_lives_leaves_nothing_to_sweep(cache, engine):
    with in_use(), common.at_work():
        assert any(cache.iterdir())
    with common.at_work():
        assert engine[0] == []


def test_a_command_that_finds_no_mark_looks_for_no_engine(engine, tmp_path):
    assert sweep_what_was_left([tmp_path / "another" / "folder"]) == []
    assert engine[0] == []


def test_an_engine_that_does_not_answer_keeps_no_command_from_beginning(cache, engine):
    engine[1][0] = False
    killed_with_containers()
    assert sweep_what_was_left(sweep(cache)) == []
