"""`harness mutants` and `harness power` as a user meets them: what is asked of the stage, and exit codes."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.base.errors import HarnessError
from harness.base.json import from_json
from harness.base.progress import Reporter
from harness.cli import app as cli
from harness.kafka.patching import load_patch
from harness.model.detection import Caught, Detection, DetectionKey, Expected, Ground, Part
from harness.model.power import SCHEMA, Power
from harness.model.request import Request
from harness.model.setup import Profile
from harness.rundir.directory import RunDirectory
from harness.stages import mutants as stage
from harness.stages import power as power_stage
from harness.stages.mutant_folder import load_mutants
from harness.stages.mutants import Workshop
from harness.stages.rules_digest import judging_digest, making_digest
from harness.toolbox.toolbox import local_toolbox

MUTANTS = Path(__file__).parent.parent / "mutants"
NOTICED = Detection("m", "it", Expected("x", ("costs",)), (Caught("costs", "dear"),))
MISSED = Detection("m", "it", Expected("x", ("costs",)))
ONE, TWO = "leaks-on-every-append", "shutdown-hook-never-ends"


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        code = cli._run()
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def asked(monkeypatch):
    """Have the stage find what a test says, and note what it was asked."""
    calls, found = [], [NOTICED]

    def detect(folder, workshop, without=()):
        calls.append((folder, workshop, without))
        RunDirectory(workshop.out / "base").request.write(workshop.request)
        return tuple(found)

    monkeypatch.setattr(stage, "detect", detect)
    return calls, found


def test_a_table_of_all_mutants_is_asked_of_the_chosen_suite_without_what_is_left_out(harness, asked, tmp_path):
    calls, _ = asked
    code, out, _ = harness("mutants", MUTANTS / "stock", "--without", "tests,proof", "--suite", "bootstrap")
    assert code == 0
    assert "| m | it | costs | dear | yes |" in out
    folder, workshop, without = calls[0]
    assert (folder.ground, len(folder.mutants) >= 40) == (Ground.STOCK, True)
    assert without == tuple(Part)
    assert (workshop.request.suite, workshop.request.coverage) == ("bootstrap", False)
    assert workshop.out.parent == tmp_path / "out"


def test_scenarios_by_name_are_asked_in_place_of_a_suite_and_each_row_keeps_them(harness, asked, workshop):
    named = ("--scenario", "chaos-17", "--scenario", "chaos-56")
    harness("mutants", MUTANTS / "stock", "--only", ONE, *named)
    (_, made, _) = asked[0][0]
    assert made.request.scenarios == ("chaos-17", "chaos-56")
    patch = load_patch(MUTANTS / "stock", f"{ONE}.patch")
    row = stage.detect_one(MISSED, patch, replace(workshop, request=made.request), Passes())
    assert row.asked == named


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request(), ()),
        (Request(jobs=4, coverage=False), ()),
        (Request(suite="chaos", seeds=20), ("--suite", "chaos", "--seeds", "20")),
    ],
)
def test_a_row_of_a_suite_keeps_it_and_what_does_not_choose_scenarios_is_left_out(request_, words):
    assert stage.asked_by(request_) == words


def test_one_that_survives_without_a_reason_ends_in_1(harness, asked):
    asked[1].append(MISSED)
    assert harness("mutants", MUTANTS / "stock", "--only", ONE)[0] == 1
    assert [each.name for each in asked[0][0][0].mutants] == [ONE]


def test_an_earlier_table_goes_on_and_any_other_folder_is_refused(harness, asked, tmp_path):
    arguments = ("mutants", MUTANTS / "stock", "--only", ONE, "--out", "made")
    assert [harness(*arguments)[0], harness(*arguments)[0]] == [0, 0]
    assert {workshop.out for _, workshop, _ in asked[0]} == {tmp_path / "made"}
    (tmp_path / "mine" / "base").mkdir(parents=True)
    code, _, err = harness(*arguments[:-1], "mine")
    assert code == 2
    assert "is not empty" in err


@pytest.mark.parametrize(("command", "folder"), [("mutants", "stock"), ("power", "growing")])
def test_whoever_interrupts_a_table_reads_how_to_go_on_with_it_and_can(harness, monkeypatch, command, folder):
    def interrupt(self):
        (self.out / "jars" / "nothing-is-wrong-0123abcd").mkdir(parents=True, exist_ok=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(Workshop, "control", interrupt)
    for _ in range(2):
        code, _, err = harness(command, MUTANTS / folder, "--out", "a table")
        assert code == 130
        assert re.search(r"Go on with the same command and --out '.*a table'\.", "".join(err.splitlines()))


def test_a_part_that_cannot_be_left_out_is_named_with_those_that_can(harness, asked):
    code, _, err = harness("mutants", MUTANTS / "stock", "--without", "clusters")
    assert code == 2
    assert "--without knows no clusters" in err
    assert "proof, tests" in err


def test_power_is_measured_of_the_kinds_that_are_named_as_often_as_asked(harness, monkeypatch):
    calls = []

    def measure(kinds, workshop, times):
        calls.append(([each.kind for each in kinds], workshop.ground, times))
        return Power(SCHEMA, "3.9.1", "s", Profile.FAST, (), "now", "a", "b", unnoticed=("a stall of 3.2 s",))

    monkeypatch.setattr(power_stage, "measure", measure)
    code, out, _ = harness("power", MUTANTS / "growing", "--only", "stall", "--times", "3")
    assert (code, calls) == (0, [(["stall"], Ground.STOCK, 3)])
    assert "Never noticed: a stall of 3.2 s." in out


class Finds:
    """A detector that finds what a test says of each jar."""

    def __init__(self, *found: Detection) -> None:
        self.found, self.without, self.suspects = list(found), (), []

    def detect(self, suspect):
        self.suspects.append(suspect)
        return self.found.pop(0)


class Passes:
    """A detector that finds nothing, of any jar."""

    without = ()

    def detect(self, suspect):
        return suspect.about


@pytest.fixture
def workshop(monkeypatch, tmp_path):
    monkeypatch.setattr(stage, "patched_jar", lambda *_: tmp_path / "raft.jar")
    monkeypatch.setattr(stage, "prepare_base", lambda *_: None)
    return Workshop(tmp_path, Ground.STOCK, Request(), local_toolbox(), Reporter(Console(quiet=True)))


def kept_row(out: Path, name: str, **changed: object) -> None:
    """Write what an earlier call found of a mutant."""
    row = RunDirectory(out / "rows" / f"{name}-0123abcd")
    key = DetectionKey("a" * 64, making_digest(), judging_digest(), ("turn1",))
    asked = {each: changed.pop(each) for each in ("asked",) if each in changed}
    row.detection_key.write(replace(key, **changed))
    row.detection.write(replace(NOTICED, name=name, **asked))


def test_one_row_of_a_table_leaves_the_others_that_were_asked_the_same_by_todays_rules(workshop, monkeypatch, tmp_path):
    monkeypatch.setattr(stage, "Detector", lambda *_: Finds(MISSED, replace(NOTICED, name=ONE)))
    kept_row(tmp_path, TWO)
    kept_row(tmp_path, "voters-do-not-flush", judging="other")
    kept_row(tmp_path, "buffers-run-out", without=(Part.TESTS,))
    kept_row(tmp_path, "elections-take-longer", asked=("--suite", "chaos"))
    kept_row(tmp_path, "nothing-is-wrong")
    kept_row(tmp_path, ONE)
    stage.detect(load_mutants(MUTANTS / "stock", [ONE]), workshop)
    written = from_json(tuple[Detection, ...], (tmp_path / stage.RESULTS).read_text())
    assert [each.name for each in written] == [ONE, TWO]


def test_a_jar_of_another_builder_is_another_jar(workshop, monkeypatch):
    folders = []
    monkeypatch.setattr(stage, "patched_jar", lambda *words: folders.append(words[2].name) or Path("raft.jar"))
    for builder in ("auto", "javac"):
        replace(workshop, request=Request(builder=builder)).control()
    first, second = folders
    assert second == f"{first}-javac"


def test_a_jar_in_which_nothing_is_wrong_ends_the_table_when_it_is_held_back(workshop, monkeypatch):
    monkeypatch.setattr(stage, "Detector", lambda *_: Finds(NOTICED))
    with pytest.raises(HarnessError, match="nothing is wrong is held back by costs: dear"):
        workshop.detector(workshop.control(), ())
    monkeypatch.setattr(stage, "Detector", lambda *_: Finds(MISSED))
    assert workshop.detector(workshop.control(), ()).found == []


def test_the_table_is_written_row_by_row(workshop, monkeypatch, tmp_path):
    detector = Finds(MISSED, NOTICED, MISSED)
    monkeypatch.setattr(stage, "Detector", lambda *_: detector)
    found = stage.detect(load_mutants(MUTANTS / "stock", [ONE, TWO]), workshop)
    assert found == (NOTICED, MISSED)
    assert "1 of 2 are noticed (50 %)" in (tmp_path / "mutants.md").read_text()
    folders = [suspect.folder.name for suspect in detector.suspects]
    assert [name.rpartition("-")[0] for name in folders] == ["nothing-is-wrong", ONE, TWO]
    assert detector.suspects[1].request.jar == tmp_path / "raft.jar"


def test_another_patch_of_the_same_name_is_another_folder(workshop, tmp_path):
    patch = tmp_path / "one.patch"
    folders = set()
    for text in ("Description: a\n---\n", "Description: b\n---\n"):
        patch.write_text(text)
        folders.add(workshop.suspect(Detection("one", "a"), [load_patch(tmp_path, "one.patch")]).folder)
    assert len(folders) == 2


def test_a_mutant_of_the_series_is_a_patch_behind_it_and_not_a_given_jar(workshop):
    (mutant,) = load_mutants(MUTANTS / "series", ["wrong-port"]).mutants
    behind = replace(workshop, ground=Ground.SERIES).suspect(Detection("wrong-port", "it"), [mutant.patch])
    assert (behind.request.jar, behind.request.patches) == (None, (mutant.patch.path,))


def test_a_fault_of_harness_or_host_leaves_a_jar_undecided(workshop, monkeypatch):
    def fails(*_):
        raise HarnessError("git cannot apply it.")

    monkeypatch.setattr(stage, "patched_jar", fails)
    patch = load_patch(MUTANTS / "stock", f"{ONE}.patch")
    found = stage.detect_one(MISSED, patch, workshop, Finds())
    assert (found.undecided, found.settled) == ("git cannot apply it.", False)
