"""`harness selftest` on live nodes: every alarm is raised, and a broken oracle is found out."""

import subprocess
import sys

import pytest

from harness.scenario.conditions import follows_leader
from harness.scenario.steps import Sample
from harness.selftest.canary import run_canary
from harness.selftest.live_canaries import LiveCanaries

pytestmark = [pytest.mark.live, pytest.mark.clusters]


@pytest.mark.whole
def test_every_alarm_is_raised(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from harness.cli import main; main()", "selftest"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" raised in ") == 11


def test_an_oracle_that_takes_a_deaf_observer_for_a_follower_is_found_out(node_parts, kafka, tmp_path, monkeypatch):
    monkeypatch.setattr(follows_leader, "follows", lambda *_: Sample(True))
    (deaf,) = (
        each
        for each in LiveCanaries(node_parts, kafka.raft_jar, kafka.version).canaries()
        if each.name == "deaf observer"
    )
    # What it says depends on how far the observer had come: this oracle waits for nothing.
    assert not run_canary(deaf, tmp_path).raised
