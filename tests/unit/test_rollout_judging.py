"""What is said of a rollout follows from what its rehearsals left, not from what was said of it before."""

import hashlib
import io
import json
import shutil
from contextlib import nullcontext
from dataclasses import replace

import pytest
import rollout_sample as sample
from markupsafe import escape
from rich.console import Console

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.model.arms import Role
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.events import OutcomeDecided, StepChanged, TurnStarted
from harness.model.findings import Contrast
from harness.model.request import Request
from harness.model.rollout import RolloutOutcome, RollPlan
from harness.model.runs import Outcome, RunKey, RunResult
from harness.model.seal import RunInputs, Seal
from harness.model.setup import Setup
from harness.report.markdown import plain
from harness.rollout.rehearsals import CONTROL, FORWARD_AND_BACK
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import Journal
from harness.stages import rollout as stage
from harness.stages.compared_logs import note_comparison
from harness.stages.convert import convert
from harness.stages.judge import judge_either, report_either
from harness.stages.rollout import rollout
from harness.stages.rollout_result import read_rehearsals

QUIET = Reporter(Console(quiet=True))
NAMES = (CONTROL, FORWARD_AND_BACK)
WHY = "node 3 crashed"


def key(name):
    return RunKey(name, "roll", 1)


def leave(directory, name, outcome, reason=""):
    """Leave what a rehearsal leaves: journal, seal and result."""
    run = directory.run(key(name))
    run.path.mkdir(parents=True)
    expectation = "node_alive" if outcome is Outcome.FAILED else ""
    with Journal(run.journal) as journal:
        journal.write(
            TurnStarted(3, "broker", *(("restart", "base") if name == CONTROL else ("replace", "the candidate")))
        )
        journal.write(StepChanged("do", "stop the 1st node", "begin"))
        journal.write(OutcomeDecided(outcome, expectation, reason))
    digest = hashlib.sha256(run.journal.read_bytes()).hexdigest()
    run.seal.write(Seal(RunInputs("a plan", "b" * 64, (), "", "fast", 1), digest))
    run.result.write(RunResult(name, "roll", Role.ON, 1, outcome, expectation, reason))


@pytest.fixture
def directory(tmp_path):
    """A rollout that was stopped in its second rehearsal, and judged."""
    made = RunDirectory(tmp_path / "run")
    made.path.mkdir()
    made.roll_plan.write(RollPlan("3+3", (), NAMES, 0.0))
    made.request.write(Request())
    made.setup.write(Setup(""))
    scenarios = tuple(DeclaredScenario(name, "Does it?") for name in NAMES)
    made.declaration.write(
        Declaration(SCHEMA, "3.9.1", (sample.BASE, sample.CANDIDATE), scenarios, 1, (), ("rollout",), "", {})
    )
    leave(made, CONTROL, Outcome.PASSED)
    leave(made, FORWARD_AND_BACK, Outcome.FAILED, WHY)
    judge_either(made.path, QUIET)
    return made


def say_passed(directory):
    """Let rollout.json say that all passed."""
    found = directory.rollout.read()
    passed = [replace(each, result=replace(each.result, outcome=Outcome.PASSED)) for each in found.rehearsals]
    directory.rollout.write(replace(found, rehearsals=tuple(passed), outcome=RolloutOutcome.PASSED, reasons=()))


def test_a_rollout_whose_own_answer_was_changed_is_judged_by_the_results(directory):
    before = directory.rollout.read()
    say_passed(directory)
    assert judge_either(directory.path, QUIET) is RolloutOutcome.STOPPED
    assert directory.rollout.read() == before
    assert before.reasons == (f"{FORWARD_AND_BACK}: {WHY}",)
    assert [len(each.turns) for each in before.rehearsals] == [1, 1]


@pytest.mark.parametrize("lost", NAMES)
def test_a_declared_rehearsal_without_a_result_leaves_the_rollout_inconclusive(directory, lost):
    (other,) = {*NAMES} - {lost}
    for name in NAMES:
        shutil.rmtree(directory.run(key(name)).path)
    leave(directory, other, Outcome.PASSED)
    assert judge_either(directory.path, QUIET) is RolloutOutcome.INCONCLUSIVE
    assert directory.rollout.read().reasons == (f"{lost}: it has no result",)


def test_a_rollout_says_what_was_not_rehearsed_and_what_speaks_against_its_answer(directory):
    found = directory.rollout.read()
    assert [gap.partition(":")[0] for gap in found.not_rehearsed[:4]] == [
        "half-way-and-back",
        "killed-in-step",
        "dies-on-load",
        "What the candidate logs otherwise",
    ]
    assert found.against == "Each rehearsal ran once, so a single unlucky roll would look the same."
    page = report_either(directory.path, QUIET).read_text()
    for sentence in (found.against, *found.not_rehearsed):
        assert escape(sentence) in page
        assert plain(sentence) in directory.summary.read_text()


def say_base_is(directory, version):
    declared = directory.declaration.read()
    base, candidate = declared.arms
    arms = (replace(base, build=replace(base.build, kafka_version=version)), candidate)
    directory.declaration.write(replace(declared, arms=arms))


@pytest.mark.parametrize(
    ("base", "checked", "said"), [("3.9.1", False, True), ("3.9.1", True, False), ("4.3.1", False, False)]
)
def test_topic_ids_that_nobody_checked_are_named_of_a_base_that_knows_zookeeper(
    directory, monkeypatch, base, checked, said
):
    directory.roll_plan.write(replace(directory.roll_plan.read(), topic_ids_checked=checked))
    say_base_is(directory, base)
    judge_either(directory.path, QUIET)
    gaps = [gap for gap in directory.rollout.read().not_rehearsed if "--cluster" in gap]
    assert bool(gaps) == said
    out = io.StringIO()
    monkeypatch.setattr(stage, "rehearse", lambda *_: [])
    monkeypatch.setattr(stage, "note_upgrade", lambda *_: None)
    rollout(directory.path, None, Reporter(Console(file=out, width=500)))
    told = "Topic ids of your own cluster were not checked: to have that done first, name each broker's"
    assert (told in out.getvalue().partition("judging")[0]) == said


@pytest.mark.parametrize(
    ("topology", "others"), [("3+3", "controller.quorum.voters"), ("3+3static", "the metadata log")]
)
def test_a_rollout_names_where_voters_stand_that_were_not_rehearsed(directory, topology, others):
    directory.roll_plan.write(replace(directory.roll_plan.read(), topology=topology))
    judge_either(directory.path, QUIET)
    (gap,) = (each for each in directory.rollout.read().not_rehearsed if each.startswith("Voters that stand in"))
    assert gap.startswith(f"Voters that stand in {others} (kraft.version ")
    assert (f"--topology {topology}static rehearses them" in gap) == (topology == "3+3")


def test_a_log_diff_of_the_roll_that_failed_is_told_by_the_record_and_the_page_and_judging_again(directory):
    note_comparison(directory, "Spark did not start: no memory.")
    judge_either(directory.path, QUIET)
    told = "What the candidate logs otherwise: the log diff failed. Spark did not start: no memory."
    assert told in directory.rollout.read().not_rehearsed
    assert told in report_either(directory.path, QUIET).read_text()


def test_logs_of_a_roll_that_were_compared_are_no_gap(directory):
    note_comparison(directory)
    directory.logs.findings.write((Contrast("control", "forward-and-back", ()),))
    judge_either(directory.path, QUIET)
    assert not any("logs" in gap for gap in directory.rollout.read().not_rehearsed)


@pytest.mark.parametrize("error", ["Spark did not start: no memory.", ""])
def test_a_roll_notes_whether_its_logs_were_compared(directory, monkeypatch, error):
    def fails(*_, **__):
        raise HarnessError(error or "unreachable")

    for name in NAMES:
        directory.run(key(name)).logs.write(())
    found = read_rehearsals(directory)
    monkeypatch.setattr("harness.logs.log_diff.opened", fails if error else lambda *_: nullcontext())
    monkeypatch.setattr("harness.logs.log_diff.read_nodes", lambda *_: None)
    monkeypatch.setattr("harness.logs.log_diff.compare", lambda *_: ())
    stage._compare(found, directory, None, QUIET)
    assert directory.logs.comparison.read().failed == error


def test_a_rollout_is_judged_without_its_rollout_json(directory):
    directory.rollout.path.unlink()
    assert judge_either(directory.path, QUIET) is RolloutOutcome.STOPPED


def test_a_rehearsal_without_its_seal_is_refused(directory):
    run = directory.run(key(FORWARD_AND_BACK))
    run.seal.path.unlink()
    run.journal.write_text("x")
    with pytest.raises(HarnessError, match=r"seal\.json cannot be read"):
        judge_either(directory.path, QUIET)


def test_a_rehearsal_whose_journal_was_changed_is_refused_and_how_to_go_on_is_said(directory):
    directory.run(key(CONTROL)).journal.write_text("x")
    with pytest.raises(HarnessError, match="changed afterwards") as caught:
        judge_either(directory.path, QUIET)
    assert f"harness rollout --resume {directory.path}" in caught.value.hint


def test_a_rollout_whose_jar_is_gone_is_not_gone_on_with(directory):
    with pytest.raises(HarnessError, match=r"is not the jar that run\.json declares") as caught:
        rollout(directory.path, None, QUIET)
    assert "begin anew with `harness rollout`" in caught.value.hint


@pytest.mark.parametrize(("name", "hint"), [("rollout", "harness judge"), ("roll_plan", "harness rollout")])
def test_what_to_do_about_a_damaged_file_of_a_rollout_is_no_command_of_a_verification(directory, name, hint):
    file = getattr(directory, name)
    file.path.write_text("{")
    with pytest.raises(HarnessError, match="is damaged") as caught:
        file.read()
    assert hint in caught.value.hint
    assert "verify" not in caught.value.hint


def test_judging_and_reporting_a_rollout_are_announced(directory):
    out = io.StringIO()
    judge_either(directory.path, Reporter(Console(file=out)))
    report_either(directory.path, Reporter(Console(file=out)))
    assert "• judging" in out.getvalue()
    assert "• writing the report" in out.getvalue()
    assert directory.runbook.is_file()


@pytest.fixture
def converted(kept_folders, tmp_path):
    shutil.copytree(kept_folders / "rollout-stopped", tmp_path / "rollout")
    convert(tmp_path / "rollout", QUIET)
    return RunDirectory(tmp_path / "rollout")


def test_a_converted_rollout_is_judged_by_its_results_too(converted):
    before = converted.rollout.read()
    say_passed(converted)
    assert judge_either(converted.path, QUIET) is RolloutOutcome.STOPPED
    assert converted.rollout.read() == before


def test_a_converted_rollout_declares_its_rehearsals_and_keeps_what_each_showed(converted, kept_folders):
    before = json.loads((kept_folders / "rollout-stopped" / "rollout.json").read_text())
    now = converted.rollout.read()
    assert [each.name for each in converted.declaration.read().scenarios] == [*NAMES]
    assert [[turn.down_seconds for turn in each.turns] for each in now.rehearsals] == [
        [step["down_seconds"] for step in each["steps"]] for each in before["rehearsals"]
    ]
    assert [(each.errors, each.budget_seconds, each.lost) for each in now.rehearsals] == [
        (each["errors"], each["budget_seconds"], sum(a["lost"] for a in each["accounts"] if a["binding"]))
        for each in before["rehearsals"]
    ]


def test_a_converted_rehearsal_is_sealed_from_then_on_and_the_seal_says_by_what(converted):
    run = converted.run(key(CONTROL))
    assert run.seal.read().is_of_a_conversion
    run.journal.write_text("x")
    with pytest.raises(HarnessError, match="changed afterwards"):
        judge_either(converted.path, QUIET)


def test_a_conversion_seals_nothing_that_is_converted_already(converted):
    converted.run(key(CONTROL)).seal.path.unlink()
    convert(converted.path, QUIET)
    assert not converted.run(key(CONTROL)).seal.exists
