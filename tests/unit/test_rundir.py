"""A run directory's files are read as the records that they hold, or an error says what is wrong with which."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.base.recordfile import RecordFile
from harness.model.arms import Role
from harness.model.node_logs import NodeLogs
from harness.model.runs import Outcome, RunKey, RunResult
from harness.rundir.directory import RunDirectory

KEY = RunKey("turn2", "stock", 1)
RESULT = RunResult("turn2", "stock", Role.BASE, 1, Outcome.PASSED)


@dataclass(frozen=True, slots=True)
class Versioned:
    schema: int
    name: str


def versioned(tmp_path: Path, content: str | None = None) -> RecordFile[Versioned]:
    file = RecordFile(tmp_path / "out" / "run.json", Versioned, schema=2)
    if content is not None:
        file.path.parent.mkdir()
        file.path.write_text(content)
    return file


def test_a_record_comes_back_as_it_was_written(tmp_path):
    file = versioned(tmp_path)
    assert not file.exists
    assert file.read_if_exists() is None
    assert file.write(Versioned(2, "a")) == tmp_path / "out" / "run.json"
    assert file.read() == file.read_if_exists() == Versioned(2, "a")


@pytest.mark.parametrize("name", ["a \ud800 b", "file-\udcff", "é 世界 😀"])
def test_a_text_with_half_a_character_comes_back_too(tmp_path, name):
    file = versioned(tmp_path)
    file.write(Versioned(2, name))
    assert file.read() == Versioned(2, name)


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ('{"schema": 1, "title": "a"}', "has schema 1; this harness reads schema 2", "harness convert {folder}"),
        ('{"schema": 3, "title": "a"}', "has schema 3; this harness reads schema 2", "the version of the harness that"),
        ('{"name": "a"}', "has no schema; this harness reads schema 2", "the version of the harness that wrote it"),
        ("[]", "has no schema; this harness reads schema 2", "the version of the harness that wrote it"),
        ('{"schema": 2, "title": "a"}', "is damaged. At $: expected the fields of Versioned", "again"),
        ('{"schema": 2', "is damaged. Not valid JSON", "Run the stage that writes it again"),
        (None, "cannot be read: No such file or directory", "Run the stage that writes it again"),
    ],
)
def test_what_is_no_such_record_is_named_with_what_to_do(tmp_path, content, message, hint):
    file = versioned(tmp_path, content)
    with pytest.raises(HarnessError) as caught:
        file.read()
    assert caught.value.message.startswith(f"{file.path} ")
    assert message in caught.value.message
    assert hint.format(folder=file.path.parent) in caught.value.hint


def test_a_run_that_has_no_declaration_is_no_run_directory_and_one_cut_short_can_be_resumed(tmp_path):
    directory = RunDirectory(tmp_path)
    with pytest.raises(HarnessError, match=r"has no run\.json") as caught:
        directory.declaration.read()
    assert "Begin with `harness verify`" in caught.value.hint
    directory.request.path.touch()
    with pytest.raises(HarnessError, match=r"has no run\.json") as caught:
        directory.declaration.read()
    assert f"harness verify --resume {tmp_path}" in caught.value.hint


def test_results_come_from_every_run_that_has_one_by_scenario_arm_and_repeat(tmp_path):
    directory = RunDirectory(tmp_path)
    keys = [RunKey("turn2", "stock", 10), RunKey("turn2", "stock", 2), RunKey("turn1", "on", 1)]
    for key in keys:
        directory.run(key).result.write(RunResult(key.scenario, key.arm, Role.BASE, key.repeat, Outcome.PASSED))
    directory.run(RunKey("turn9", "stock", 1)).path.mkdir(parents=True)  # was cut short
    assert [result.key for result in directory.results()] == sorted(keys)


def test_a_result_in_the_folder_of_another_run_is_an_error(tmp_path):
    directory = RunDirectory(tmp_path)
    directory.run(RunKey("turn2", "stock", 2)).result.write(RESULT)
    with pytest.raises(HarnessError, match=r"is the result of another run: it names runs/turn2/stock/1"):
        directory.results()


def test_a_runs_folder_knows_its_run_and_names_its_files_as_evidence(tmp_path):
    folder = RunDirectory(tmp_path).run(KEY)
    assert folder.key == KEY
    shown = folder.evidence(folder.node_log(3), 7, "WARN")
    assert (shown.path, shown.line, shown.excerpt) == ("runs/turn2/stock/1/nodes/3/server.log", 7, "WARN")


def test_a_verdicts_evidence_is_listed_by_stage_without_links_and_runs_that_do_not_count(tmp_path):
    directory = RunDirectory(tmp_path)
    names = [
        "run.json",
        "builds/stock/build.json",
        "proof/patched/proof.json",
        "runs/turn2/stock/1/result.json",
        "runs/turn2/stock/1/nodes/1/server.log",
        "logs/findings.json",
    ]
    for name in (*names, "runs/turn2/stock/2/result.json", "verdict.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "setup.json").symlink_to("/etc/hostname")
    listed = [path.relative_to(tmp_path).as_posix() for path in directory.evidence([directory.run(KEY)])]
    assert listed == names


@pytest.mark.parametrize("file", ["/etc/passwd", "../../x.log", "runs/../../x.log", "s3a://there/x.log"])
def test_logs_that_are_not_in_the_run_directory_are_refused(tmp_path, file):
    run = RunDirectory(tmp_path).run(RunKey("turn2", "stock", 1))
    run.logs.write((NodeLogs("turn2", "stock", 1, 0, "voter", (file,), "%m", ()),))
    with pytest.raises(HarnessError, match="which is not in the run directory"):
        run.logs.read()
