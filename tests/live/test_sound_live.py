"""Good jars of other people's making: none is held back, whatever its makers changed, named or compiled it with."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from harness.model.runs import Verdict
from harness.rundir.directory import RunDirectory

pytestmark = pytest.mark.live

RECIPES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "given_jars.py"))
JARS = RECIPES["good_jars"]()
RESOURCES = ("processor", "disk", "memory", "threads", "clock", "harness")  # as docs/words.md names them


@pytest.fixture
def harness(tmp_path):
    """Return a function that runs a command of the harness on a good jar, built first; it returns the exit code."""

    def act(command, name):
        words = [command, "--fresh", *JARS[name].words(tmp_path / "jars"), "--out", "run"]
        done = subprocess.run([sys.executable, "-m", "harness", *words], cwd=tmp_path, timeout=2400, check=False)
        return done.returncode

    return act


@pytest.mark.parametrize(
    "name",
    ["a-parameter-more", *(pytest.param(each, marks=pytest.mark.whole) for each in ("kafka-16538", "vendor-version"))],
)
def test_a_backport_is_a_sound_drop_in_whatever_its_version_is_called_and_its_package_has_changed(harness, name):
    assert harness("prove", name) == 0


@pytest.mark.whole
@pytest.mark.clusters
@pytest.mark.parametrize("name", JARS)
def test_no_good_jar_is_held_back(harness, tmp_path, name):
    assert harness("verify", name) in (0, 3)
    record = RunDirectory(tmp_path / "run").verdict.read()
    assert record.verdict is not Verdict.HOLD, record.sentence
    if record.verdict is Verdict.INCONCLUSIVE:
        assert re.search(rf"\b({'|'.join(RESOURCES)}): ", record.sentence), "it names no resource of the host"
    print(f"{name}: {record.verdict} {record.sentence}")
