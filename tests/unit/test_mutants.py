"""Mutants: which part of a proof catches one, what is told of it, and which may survive."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from sample_run import write_sample

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.model.proof import (
    Answer,
    AuditAnswer,
    Difference,
    FailedTest,
    Proof,
    Severity,
    TestScope,
    TestsProof,
    TestSuite,
)
from harness.model.runs import Verdict
from harness.rundir.directory import RunDirectory
from harness.stages import mutants, verify
from harness.stages.compared_logs import note_comparison
from harness.stages.judge import judge_run
from harness.stages.mutants import Detection, catching, load_excuses, load_mutants, table, with_verdict
from harness.toolbox.toolbox import local_toolbox

DIFFERENCE = Difference("default-changed", Severity.FAIL, "a.key", "the default is false")
ANSWER = AuditAnswer("flag-guards", Answer.DOES_NOT_HOLD, "nothing asks the flag", "flag-turns-it-off")
FAILURE = FailedTest(TestSuite.SERIES, "RequestManagerTest", "nullIsIgnored()", "expected 1", "at …", None)


def proof(*, differences=(), audit=(), failed=()) -> Proof:
    tests = TestsProof(TestScope.RELATED, failed=failed)
    return Proof("patched", "a" * 64, "b" * 64, ("default-changed",), differences, tests, audit)


def test_every_part_of_a_proof_that_blocks_has_caught_the_mutant_in_the_order_of_the_stages() -> None:
    caught = catching(proof(differences=(DIFFERENCE,), audit=(ANSWER,), failed=(FAILURE,)))
    assert [stage for stage, _ in caught] == ["drop-in", "source", "tests"]
    assert caught[0][1] == "default-changed: the default is false"


def test_what_does_not_block_has_caught_nothing() -> None:
    note = Difference("class-changed", Severity.NOTE, "a.B", "code only")
    gap = AuditAnswer("refresh", Answer.DOES_NOT_HOLD, "nobody promised it")
    assert catching(proof(differences=(note,), audit=(gap,))) == ()


@pytest.mark.parametrize(
    ("caught", "excuse", "settled"),
    [
        ((("tests", "x"),), "", True),
        ((), "equivalent: nothing calls it before", True),
        ((), "", False),
        ((("tests", "x"),), "an excuse that is out of date", False),
    ],
)
def test_a_mutant_is_caught_or_excused_and_not_both(caught, excuse: str, settled: bool) -> None:
    assert Detection("m", "does", caught, excuse).settled is settled


@pytest.mark.parametrize("excuse", ["", "equivalent"])
def test_a_mutant_that_could_not_be_tested_has_neither_been_caught_nor_survived(excuse: str) -> None:
    about = Detection("m", "does", (), excuse)
    undecided = with_verdict(about, Verdict.INCONCLUSIVE, "the host starved")
    assert (undecided.settled, undecided.caught) == (False, ())
    assert "| m | does | **undecided** | the host starved |" in table([undecided])
    assert with_verdict(about, Verdict.HOLD, "turn2 is refuted").caught == (("scenarios", "turn2 is refuted"),)
    assert with_verdict(about, Verdict.SHIP, "no violation") == about


def test_the_table_names_the_catching_stages_and_shows_a_survivor_with_its_excuse() -> None:
    rows = table(
        [Detection("one", "a|b", (("drop-in", "x | y"), ("tests", "z"))), Detection("two", "no", (), "equivalent")]
    ).splitlines()
    assert rows[2:] == [r"| one | a\|b | drop-in, tests | x \| y |", "| two | no | **nothing** | equivalent |"]


def test_a_folder_without_patches_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"holds no \*\.patch"):
        load_mutants(tmp_path)


def test_an_excuse_for_a_mutant_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "survivors.toml").write_text('gone = "it is equivalent"\n')
    with pytest.raises(HarnessError, match="gone is no mutant"):
        load_excuses(tmp_path, ["here"])
    (tmp_path / "survivors.toml").write_text('here = "it is equivalent"\n')
    assert load_excuses(tmp_path, ["here"]) == {"here": "it is equivalent"}


def test_excuses_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "survivors.toml").write_text("= broken")
    with pytest.raises(HarnessError, match=r"survivors\.toml cannot be read"):
        load_excuses(tmp_path, [])


def test_the_shipped_mutants_are_patches_with_a_description_and_every_excuse_is_of_one_of_them() -> None:
    folder = Path(__file__).parent.parent / "mutants"
    mutants = load_mutants(folder)
    assert len(mutants) >= 12
    assert all(patch.subject != patch.name for patch in mutants)
    load_excuses(folder, [patch.path.stem for patch in mutants])


def test_what_the_clusters_say_of_a_mutant_includes_its_logs(tmp_path: Path, monkeypatch) -> None:
    directory = RunDirectory(write_sample(tmp_path))
    directory.logs.findings.path.unlink()

    def compared(_run_dir, _toolbox, _reporter):
        directory.logs.findings.write(())
        note_comparison(directory)

    monkeypatch.setattr(mutants.run_stage, "run", lambda *_: None)
    monkeypatch.setattr(verify.diff_stage, "diff", compared)
    monkeypatch.setattr(mutants.judge_stage, "judge", lambda *_: judge_run(directory))
    survivor = Detection("m", "does", (), "equivalent")
    assert mutants._by_scenarios(survivor, directory.path, local_toolbox(), Reporter(Console(quiet=True))) == survivor
