"""The CI examples and the operators' guide: valid where they go, and about commands and keys that exist."""

import configparser
import re
import subprocess
import sys
import tomllib
from collections import Counter

import pytest
import tree_sitter_groovy
from ci_examples import (
    JENKINSFILE,
    ROOT,
    VERIFY_WORKFLOW,
    WORKFLOW,
    filled,
    jenkins_commands,
    without_tox,
    workflow,
    workflow_commands,
)
from tree_sitter import Language, Parser
from typer.main import get_command

from harness.cli.app import app
from harness.nightly.night_matrix import _check, load_matrix
from harness.nightly.shards import assign

VALUES = {"matrix.shard": 2, "github.run_id": 7, "github.run_attempt": 1}
GUIDE = ROOT / "docs/nightly.md"


@pytest.mark.parametrize("file", [WORKFLOW, VERIFY_WORKFLOW])
def test_a_workflow_is_one_by_githubs_own_schema(file):
    words = ["--builtin-schema", "vendor.github-workflows", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", [WORKFLOW, VERIFY_WORKFLOW])
def test_every_action_is_pinned_to_a_version_and_every_job_ends(file):
    for job in workflow(file)["jobs"].values():
        assert job["timeout-minutes"] <= 360
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert "uses" not in step or re.fullmatch(r"actions/[a-z/-]+@v\d+", step["uses"])


def test_what_a_shard_uploads_the_merge_downloads():
    jobs = workflow()["jobs"]
    uploads = [step["with"] for step in jobs["shard"]["steps"] if "upload-artifact" in step.get("uses", "")]
    downloads = [step["with"] for step in jobs["merge"]["steps"] if "download-artifact" in step.get("uses", "")]
    assert uploads[0]["name"].startswith(downloads[0]["pattern"].rstrip("*"))
    assert jobs["merge"]["needs"] == "shard"
    assert len(jobs["shard"]["strategy"]["matrix"]["shard"]) == 2
    assert "/2 " in workflow_commands("shard")[-1]


def test_a_shard_has_half_as_long_again_as_its_verifications_are_said_to_last():
    seconds = {each.id: each.seconds for each in load_matrix(ROOT / "builds" / "matrix.toml").verifications}
    shares = Counter()
    for name, shard in assign(seconds, 2).items():
        shares[shard] += seconds[name]
    minutes = workflow()["jobs"]["shard"]["timeout-minutes"]
    hours = int(re.search(r"timeout\(time: (\d+), unit: 'HOURS'\)", JENKINSFILE.read_text())[1])
    assert min(60 * minutes, 3600 * hours) >= 1.5 * max(shares.values())


def test_the_jenkinsfile_is_groovy():
    groovy, text = Parser(Language(tree_sitter_groovy.language())), JENKINSFILE.read_bytes()
    assert not groovy.parse(text).root_node.has_error
    assert groovy.parse(text.rstrip().removesuffix(b"}")).root_node.has_error, "a brace less would have been seen"


def test_the_jenkinsfile_merges_the_shards_that_it_runs():
    text = JENKINSFILE.read_text()
    shards = re.findall(r"'(\d)'", re.search(r"values (.*)", text).group(1))
    assert [f"night-{shard}" for shard in shards] == re.findall(r"unstash '(.*)'", text)
    assert f"$SHARD/{len(shards)} " in text


def commands():
    filled_in = [filled(line, VALUES) for job in ("shard", "merge") for line in workflow_commands(job)]
    verified = workflow_commands("verify", VERIFY_WORKFLOW)
    return [*without_tox(filled_in), *without_tox(jenkins_commands()), *without_tox(verified)]


@pytest.mark.parametrize("command", commands())
def test_every_command_is_one_that_a_shell_reads(command):
    done = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tox" not in command


def test_the_examples_make_the_image_to_build_in_run_the_night_and_merge_it():
    shown = [" ".join(command.split()[:2]) for command in commands()]
    ran = ["harness image", "harness nightly", "harness merge"]
    assert shown == [*ran, *ran, "harness verify", "harness pack"]


@pytest.mark.parametrize("job", ["shard", "merge"])
def test_the_harness_is_installed_before_a_workflow_calls_it(job):
    assert_installed_first(workflow_commands(job))


def test_the_harness_is_installed_before_each_agent_calls_it():
    shard, merge = JENKINSFILE.read_text().split("stage('Merge')")
    for stage in (shard, merge):
        assert_installed_first(re.findall(r"\bsh '([^']*)'", stage))


def assert_installed_first(lines):
    """`tox exec` installs nothing: an environment that nobody has made before has no harness in it."""
    calls = [line for line in lines if re.search(r"-m tox (exec )?-e nightly", line)]
    assert calls[0].endswith("-m tox -e nightly --notest"), calls


def test_what_the_run_is_packed_to_is_kept_whatever_the_verdict():
    steps = workflow(VERIFY_WORKFLOW)["jobs"]["verify"]["steps"]
    packs, uploads = (step for step in steps[-2:])
    assert packs["run"].endswith("--out verify.tar.xz")
    assert "verify.tar.xz" in uploads["with"]["path"].split()
    assert {packs["if"], uploads["if"]} == {"${{ !cancelled() }}"}


def test_tox_passes_on_what_annotations_and_the_summary_need():
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "tox.ini")
    passed = config["testenv:verify"]["pass_env"].split()
    assert {"GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"} <= {*passed}
    assert "{[testenv:verify]pass_env}" in config["testenv:nightly"]["pass_env"].split()


def test_an_image_that_cannot_be_made_ends_no_shard():
    makes_image = [step for step in workflow()["jobs"]["shard"]["steps"] if "image build" in step.get("run", "")]
    assert [step["continue-on-error"] for step in makes_image] == [True]
    assert re.search(r"catchError\([^)]*\) \{\s*sh '[^']* harness image build'\s*\}", JENKINSFILE.read_text())


def options_of(command):
    return {option for parameter in get_command(app).commands[command].params for option in parameter.opts}


@pytest.mark.parametrize("command", [each for each in commands() if " --" in each])
def test_every_option_of_the_examples_exists(command):
    assert set(re.findall(r"--[a-z-]+", command)) <= options_of(command.split()[1])


def test_the_guide_shows_every_option_of_the_nightly():
    guide = GUIDE.read_text()
    assert {option for option in options_of("nightly") if option not in guide} == set()


def test_the_guides_matrix_and_waivers_are_ones_that_the_harness_reads(tmp_path):
    from harness.model.waivers import load_waivers

    blocks = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    matrix, waivers = (next(block for block in blocks if word in block) for word in ("[[ask]]", "[[outcome]]"))
    _check(tomllib.loads(matrix))
    (tmp_path / "waivers.toml").write_text(waivers)
    assert len(load_waivers(tmp_path / "waivers.toml")) == 2
