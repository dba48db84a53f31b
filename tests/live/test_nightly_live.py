"""The nightly as its users run it: the commands of the CI examples, on a tiny matrix and real clusters."""

import importlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

pytestmark = [pytest.mark.live, pytest.mark.clusters]

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
ci_examples = importlib.import_module("ci_examples")

# One verification and one scenario: two shards, one of them with nothing to do. Claims about other scenarios stay
# untested, so that the night is INCONCLUSIVE although everything that it asks is as claimed.
MATRIX = """
schema = 1
[builds.series]
kafka = "3.9.1"
builder = "ecj"
tests = "none"
coverage = false
[[ask]]
builds = ["series"]
scenarios = ["new-mechanism"]
"""
INCONCLUSIVE = 3
NAME = "series_both_bundled_fast_new-mechanism"
HARNESS = f"{shlex.quote(sys.executable)} -c 'from harness.cli import main; main()'"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """Return an agent's working folder with a tiny matrix in it."""
    folder = tmp_path_factory.mktemp("agent")
    (folder / "matrix.toml").write_text(MATRIX)
    return folder


def shell(command, folder, **environment):
    """Run a command of an example as an agent does, with this checkout's harness."""
    command = command.replace("harness ", f"{HARNESS} ", 1) if command.startswith("harness ") else command
    environment = {**os.environ, "HARNESS_MATRIX": "matrix.toml", "HOME": str(folder), **environment}
    environment.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    return subprocess.run(
        ["bash", "-e", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def nightly(commands):
    """Return the one of an example's commands that runs a shard; the image that it makes first is of no use here."""
    (command,) = [each for each in commands if each.startswith("harness nightly ")]
    return command


@pytest.fixture(scope="module")
def github(workspace):
    """Return the codes with which the workflow's commands ended, in order; artifacts are moved as GitHub would."""
    codes = {}
    for shard in (1, 2):
        values = {"matrix.shard": shard, "github.run_id": 7}
        lines = [ci_examples.filled(line, values) for line in ci_examples.workflow_commands("shard")]
        command = nightly(ci_examples.without_tox(lines))
        codes[f"shard {shard}"] = shell(command, workspace)
        (workspace / "shards").mkdir(exist_ok=True)
        (workspace / f"night-{shard}").rename(workspace / "shards" / f"night-{shard}")
    (merge,) = ci_examples.without_tox(ci_examples.workflow_commands("merge"))
    codes["merge"] = shell(merge, workspace, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(workspace / "page.md"))
    return codes


def test_the_workflows_commands_run_the_night(github, workspace):
    assert all("Traceback" not in done.stderr for done in github.values())
    assert {done.returncode for name, done in github.items() if name.startswith("shard")} == {0, INCONCLUSIVE}
    assert github["merge"].returncode == INCONCLUSIVE, github["merge"].stdout + github["merge"].stderr
    verdict = json.loads((workspace / "night" / NAME / "verdict.json").read_text())
    assert any("is untested" in reason["sentence"] for reason in verdict["reasons"] if reason["source"] == "claim")
    assert {cell["arm"]: cell["state"] for cell in verdict["scenarios"][0]["cells"]} == {
        "stock": "FAILED",
        "patched-off": "FAILED",
        "patched-on": "PASSED",
    }


def test_a_shard_without_work_is_no_failure_and_no_ship(github):
    empty = next(done for name, done in github.items() if name.startswith("shard") and "0 verifications" in done.stdout)
    assert empty.returncode == 0
    assert "SHIP" not in empty.stdout


def test_the_merged_night_is_told_everywhere(github, workspace):
    night = workspace / "night"
    assert f'href="{NAME}/report.html"' in (night / "index.html").read_text()
    assert "Night 7" in (workspace / "page.md").read_text()
    assert "\n::warning title=night 7::" in github["merge"].stderr
    cases = ET.parse(night / "junit.xml").getroot()
    assert (cases.get("tests"), cases.get("errors")) == ("4", "1"), "three runs, and what leaves the answer open"
    assert (night / "retry.txt").read_text() == ""
    assert NAME in (night / "seconds.toml").read_text()
    (line,) = (workspace / "history.jsonl").read_text().splitlines()
    assert json.loads(line)["label"] == "7"


def test_a_night_compared_with_itself_is_the_same_and_open_tells_its_page(github, workspace):
    assert shell("harness compare night night", workspace).returncode == 0
    told = shell("harness open night", workspace, DISPLAY="", WAYLAND_DISPLAY="", BROWSER="")
    assert told.stdout == "night/index.html\n"


def test_jenkins_merges_the_same_shards_to_the_same_night(github, workspace):
    merge = list(ci_examples.without_tox(ci_examples.jenkins_commands()))[-1]
    done = shell(merge.replace("--out night", "--out jenkins"), workspace)
    assert done.returncode == INCONCLUSIVE, done.stdout + done.stderr
    assert (workspace / "kafka-nightly" / "history.jsonl").is_file()
    assert shell("harness compare night jenkins", workspace).returncode == 0


def test_jenkins_shard_runs_what_the_workflows_does(workspace):
    command = nightly(ci_examples.without_tox(ci_examples.jenkins_commands()))
    listed = shell(f"{command} --list", workspace, SHARD="1", BUILD_NUMBER="7")
    other = shell(f"{command} --list", workspace, SHARD="2", BUILD_NUMBER="7")
    assert (listed.returncode, other.returncode) == (0, 0)
    assert (listed.stdout + other.stdout).count("--scenario new-mechanism") == 1
