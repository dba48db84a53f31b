"""What lies in a run directory and contradicts itself is refused before it is judged."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from sample_run import write_sample

from harness.base.errors import HarnessError
from harness.base.files import sha256_of, write_text
from harness.base.progress import Reporter
from harness.logs.count_cache import SCHEMA as COUNTS
from harness.model.arms import Kafka, Role
from harness.model.log_totals import Totals
from harness.model.request import Request
from harness.model.runs import RunKey
from harness.report import write_reports
from harness.rundir.directory import RunDirectory
from harness.stages import judge as judge_stage
from harness.stages.judge import judge_run, read_proof
from harness.stages.rules_digest import code_digest
from harness.stages.verify import is_proved

QUIET = Reporter(Console(quiet=True))
KEY = RunKey("turn2", "patched-on", 1)


@pytest.fixture
def directory(tmp_path):
    return RunDirectory(write_sample(tmp_path))


def test_a_result_of_another_role_than_its_arm_plays_is_refused(directory):
    """Else what is asked of a candidate alone, such as what its clients got, would not be asked of it."""
    result = directory.run(KEY).result
    result.write(replace(result.read(), role=Role.BASE))
    with pytest.raises(HarnessError, match="says that patched-on plays the role base, and"):
        judge_run(directory)


def test_what_the_log_diff_left_out_is_told_by_the_verdict_and_on_its_page(directory):
    left_out = "turn2, observer: only stock has logs, so stock and patched-on are not compared there."
    directory.logs.totals.write(Totals(COUNTS, (), (left_out,)))
    record = judge_run(directory)
    assert left_out in record.not_tested
    assert left_out in write_reports(directory, record).read_text()


@pytest.mark.parametrize("repeats", [0, -1, 1001, 10**18])
def test_a_run_directory_that_declares_no_repeat_or_more_than_anybody_runs_is_damaged(directory, repeats):
    text = directory.declaration.path.read_text()
    directory.declaration.path.write_text(text.replace('"repeats": 1', f'"repeats": {repeats}'))
    with pytest.raises(HarnessError, match=rf"run.json is damaged\. {repeats} repeats are declared"):
        judge_run(directory)


@pytest.mark.parametrize(
    ("field", "problem"),
    [("candidate", "is about another jar"), ("base", "compares the jar with another than it replaces")],
)
def test_a_proof_of_other_jars_is_refused_and_made_again_when_one_goes_on(directory, field, problem):
    write_text(directory.proof("patched").rules, code_digest())
    assert is_proved(directory)
    file = directory.proof("patched").proof
    file.write(replace(file.read(), **{field: "c" * 64}))
    with pytest.raises(HarnessError, match=f"{problem} .*Have it proved again: harness verify --resume"):
        judge_run(directory)
    assert not is_proved(directory)


def test_a_proof_by_another_harness_or_with_waivers_is_made_again_when_one_goes_on(directory):
    rules = directory.proof("patched").rules
    assert not is_proved(directory), "an old folder does not say who made it"
    for text, proved in (("another", False), (code_digest(), True)):
        write_text(rules, text)
        assert is_proved(directory) is proved
    directory.request.write(replace(Request(), waivers=Path("/mine/waivers.toml")))
    assert not is_proved(directory)


def test_the_proof_of_a_whole_kafka_is_held_against_that_kafkas_own_raft_jar(directory):
    """A candidate that is a release of its own has no jar of base's in its place."""
    declared = directory.declaration.read()
    own = Kafka("3.9.2", raft_jar="kafka-raft-3.9.2.jar", jars={"kafka-raft-3.9.2.jar": "d" * 64, "x.jar": "e" * 64})
    arms = [
        replace(arm, build=replace(arm.build, kafka=own)) if arm.build.name == "patched" else arm
        for arm in declared.arms
    ]
    directory.declaration.write(replace(declared, arms=tuple(arms)))
    file = directory.proof("patched").proof
    assert read_proof_problem(directory) == f"{file.path} compares the jar with another than it replaces"
    file.write(replace(file.read(), base="d" * 64))
    assert read_proof_problem(directory) == ""


def read_proof_problem(directory):
    try:
        read_proof(directory, directory.declaration.read())
    except HarnessError as error:
        return error.message.partition(" (")[0]
    return ""


def test_a_proof_and_reached_lines_that_are_damaged_are_made_again_when_one_goes_on(directory):
    folder = directory.proof("patched")
    assert folder.coverage.is_whole
    for file in (folder.proof, folder.coverage):
        file.path.write_text("{")
    assert (is_proved(directory), folder.coverage.is_whole) == (False, False)


@pytest.mark.parametrize(
    ("file", "remedy"),
    [
        ("run.json", "Remove it, and have it built again: harness verify --resume"),
        ("setup.json", "Remove it and run.json, and have it built again: harness verify --resume"),
        ("request.json", "It has the options as they were given: begin anew with `harness verify`"),
    ],
)
def test_the_remedy_for_a_damaged_file_is_none_that_reads_it_again(directory, file, remedy):
    directory.request.write(Request())
    (directory.path / file).write_text("{")
    record = {"run.json": directory.declaration, "setup.json": directory.setup, "request.json": directory.request}
    with pytest.raises(HarnessError) as caught:
        record[file].read()
    assert remedy in caught.value.hint


def test_no_file_that_was_judged_has_another_digest_once_the_report_is_written(directory, monkeypatch):
    monkeypatch.setattr(judge_stage, "check_results", lambda _: None)  # the sample's runs have no seals
    record = judge_stage.judge(directory.path, QUIET)
    judge_stage.report(directory.path, QUIET)
    listed = {file.path: file.sha256 for file in record.evidence}
    assert "run.json" in listed
    assert listed == {path: sha256_of(directory.path / path) for path in listed}
