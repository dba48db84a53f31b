"""A night that was cut short goes on: what has a verdict stays, what was begun is gone on with, the rest is asked."""

import json
import os
import sys

import pytest
from nightly_sample import document, write_run

from harness.base.errors import HarnessError
from harness.base.locks import owned
from harness.cli import app as cli
from harness.nightly.folder import NightFolder, read_night
from harness.nightly.night import VerificationStatus
from harness.rundir.directory import RunDirectory

MATRIX = """
schema = 1
waivers = "waivers.toml"
[builds.a]
[builds.b]
[builds.c]
[[ask]]
builds = ["a", "b", "c"]
scenarios = ["turn2"]
"""
A, B, C = (f"{build}_both_bundled_fast_turn2" for build in "abc")
NO_JAR = HarnessError("The jar is no jar.", "Give another.")


class Verifications:
    """Stand in for `verify`: note what is asked, with what, and end each in the way that a test wants."""

    def __init__(self):
        self.asked, self.ends = [], {}

    def __call__(self, run_dir, _toolbox, _reporter):
        self.asked.append((run_dir.name, RunDirectory(run_dir).request.read()))
        end = self.ends.get(run_dir.name)
        if end is KeyboardInterrupt:
            (run_dir / "half").touch()
            (run_dir / ".partial-result").touch()
        if end is not None:
            raise end
        write_run(run_dir, document("ship"))
        return document("ship")

    def names(self):
        """Return what was asked since the last time."""
        names, self.asked = [name for name, _ in self.asked], []
        return names


@pytest.fixture
def verifications(monkeypatch):
    """Return what stands in for verifications."""
    found = Verifications()
    monkeypatch.setattr("harness.stages.verify.verify", found)
    return found


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command line in a folder with a matrix: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "waivers.toml").write_text("")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        code = cli._run()
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def cut_short(harness, verifications, tmp_path):
    """Return a night that was interrupted in its second verification."""
    verifications.ends = {B: KeyboardInterrupt}
    code, _, err = harness("nightly", "--matrix", "matrix.toml", "--jobs", "1", "--night", "7", "--out", "a night")
    assert code == 130
    assert "nothing is left running. Go on with: harness nightly --resume 'a night'" in err
    assert verifications.names() == [A, B]
    verifications.ends = {}
    return tmp_path / "a night"


def endings(folder):
    return {each.id: each.outcome for each in read_night(folder).ended}


def test_what_has_a_verdict_stays_and_the_rest_is_run_with_the_options_of_the_night(
    harness, verifications, cut_short, tmp_path, monkeypatch
):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, out, _ = harness("nightly", "--resume", cut_short)
    assert code == 0
    assert "1 of 3 verifications have ended" in out
    assert [request.jobs for _, request in verifications.asked] == [1, 1]
    assert verifications.names() == [B, C]
    assert endings(cut_short) == dict.fromkeys((A, B, C), VerificationStatus.SHIP)
    (line,) = (tmp_path / "out/history.jsonl").read_text().splitlines()
    assert json.loads(line)["label"] == "7"


def test_a_verification_that_was_cut_short_goes_on_in_its_folder_without_what_was_half_written(
    harness, verifications, cut_short
):
    harness("nightly", "--resume", cut_short)
    assert (cut_short / B / "half").exists()
    assert not (cut_short / B / ".partial-result").exists()


def test_a_night_in_which_everything_has_ended_is_judged_again_and_nothing_is_run(harness, verifications, cut_short):
    harness("nightly", "--resume", cut_short)
    verifications.names()
    (cut_short / "index.html").unlink()
    assert harness("nightly", "--resume", cut_short)[0] == 0
    assert verifications.names() == []
    assert (cut_short / "index.html").exists()


def test_an_error_is_asked_again_and_its_traceback_is_gone(harness, verifications, tmp_path):
    verifications.ends = {A: NO_JAR, B: ZeroDivisionError("division by zero")}
    assert harness("nightly", "--matrix", "matrix.toml", "--out", "night")[0] == 2
    assert (tmp_path / "night" / B / "error.txt").exists()
    verifications.names()
    verifications.ends = {A: NO_JAR}
    assert harness("nightly", "--resume", "night")[0] == 2
    assert verifications.names() == [A, B]
    assert endings(tmp_path / "night") == {
        A: VerificationStatus.ERROR,
        B: VerificationStatus.SHIP,
        C: VerificationStatus.SHIP,
    }
    assert not (tmp_path / "night" / B / "error.txt").exists()


def test_the_request_of_a_verification_that_has_built_something_stays(harness, verifications, cut_short):
    began = RunDirectory(cut_short / B)
    write_run(began.path, document("ship"))  # a declaration
    before = began.request.path.stat().st_mtime_ns
    harness("nightly", "--resume", cut_short)
    assert began.request.path.stat().st_mtime_ns == before


def test_a_verification_that_goes_on_lasted_as_long_as_all_its_parts(harness, verifications, cut_short):
    began = RunDirectory(cut_short / B)
    write_run(began.path, document("ship"))
    before = sum(began.declaration.read().timings.values())
    harness("nightly", "--resume", cut_short)
    (lasted,) = (each.seconds for each in read_night(cut_short).ended if each.id == B)
    assert before > 60
    assert before <= lasted < before + 30


def test_a_shard_goes_on_with_its_part_alone(harness, verifications, tmp_path):
    shards = [(f"{part}/2", tmp_path / f"n{part}") for part in (1, 2)]
    verifications.ends = dict.fromkeys((A, B, C), KeyboardInterrupt)
    for shard, folder in shards:
        harness("nightly", "--matrix", "matrix.toml", "--shard", shard, "--out", folder)
    verifications.ends = {}
    verifications.names()
    parts = []
    for _, folder in shards:
        harness("nightly", "--resume", folder)
        parts.append(set(verifications.names()))
    assert parts[0] | parts[1] == {A, B, C}
    assert not parts[0] & parts[1]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: (folder / "matrix.toml").write_text(MATRIX + "repeats = 2\n"), "is another than that of the"),
        (lambda folder: (folder / "matrix.toml").unlink(), "matrix.toml cannot be read: No such file"),
        (lambda folder: (folder / "a night/options.json").unlink(), "cannot be gone on with: it has no options.json"),
        (lambda folder: (folder / "a night/options.json").write_text("{"), "options.json is damaged"),
        (lambda folder: (folder / "a night/night.json").unlink(), "is no night: it has no night.json"),
    ],
)
def test_a_night_that_cannot_go_on_is_a_sentence_and_stays_as_it_is(
    harness, verifications, cut_short, tmp_path, spoil, sentence
):
    spoil(tmp_path)
    before = {path: path.read_bytes() for path in cut_short.rglob("*") if path.is_file()}
    code, _, err = harness("nightly", "--resume", cut_short)
    assert code == 2
    assert sentence in " ".join(err.split())
    assert verifications.names() == []
    assert {path: path.read_bytes() for path in cut_short.rglob("*") if path.is_file()} == before


def test_a_night_that_names_a_verification_that_its_matrix_has_not_is_a_sentence(harness, verifications, cut_short):
    file = NightFolder(cut_short).night.path
    file.write_text(file.read_text().replace(C, "c_both_bundled_fast_turn1"))
    assert "is another than that of the night of 7" in harness("nightly", "--resume", cut_short)[2]


@pytest.mark.parametrize("option", [("--shard", "1/1"), ("--jobs", "2"), ("--list",), ("--out", "x"), ("--offline",)])
def test_a_night_that_goes_on_takes_no_other_option(harness, verifications, cut_short, option):
    code, _, err = harness("nightly", "--resume", cut_short, *option)
    assert code == 2
    assert f"--resume takes its options from {cut_short}, not {option[0]}. Leave the others out." in " ".join(
        err.split()
    )


def test_a_matrix_named_by_the_environment_is_not_an_option_that_was_typed(
    harness, verifications, cut_short, monkeypatch
):
    monkeypatch.setenv("HARNESS_MATRIX", "another.toml")
    assert harness("nightly", "--resume", cut_short)[0] == 0


def test_a_night_in_use_is_refused_and_a_verification_in_use_is_an_error_of_that_alone(
    harness, verifications, cut_short
):
    with owned(cut_short):
        code, _, err = harness("nightly", "--resume", cut_short)
    assert code == 2
    assert f"is in use by process {os.getpid()}" in err
    with owned(cut_short / B):
        assert harness("nightly", "--resume", cut_short)[0] == 2
    assert endings(cut_short) == {A: VerificationStatus.SHIP, B: VerificationStatus.ERROR, C: VerificationStatus.SHIP}


def test_a_folder_in_the_way_that_is_a_night_says_how_to_go_on_with_it(harness, verifications, cut_short):
    code, _, err = harness("nightly", "--matrix", "matrix.toml", "--out", cut_short)
    assert code == 2
    assert "go on with this one: harness nightly --resume" in " ".join(err.split())


@pytest.mark.parametrize("command", [("nightly", "--matrix", "matrix.toml"), ("merge", "a-night", "--out", "merged")])
def test_a_history_that_cannot_be_read_is_told_before_anything_is_done(harness, verifications, tmp_path, command):
    (tmp_path / "a-night").mkdir()
    (tmp_path / "history.jsonl").write_text('{"schema": 1}\n')
    code, _, errors = harness(*command, "--history", "history.jsonl")
    assert (code, verifications.names()) == (2, [])
    assert "history.jsonl, line 1" in errors
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "merged").exists()
