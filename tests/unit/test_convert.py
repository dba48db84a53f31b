"""Folders of before are converted whole, any number of times, and what was tampered with stays refused."""

import errno
import json
import shutil
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from examples import costly
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.cli import app as cli
from harness.engine.sealing import check_results
from harness.model.events import Unknown
from harness.model.runs import Outcome, RunKey
from harness.nightly.history import read_history
from harness.rundir import schema1
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal
from harness.stages import convert as stage
from harness.stages.convert import convert
from harness.stages.judge import report_either

QUIET = Reporter(Console(quiet=True))
STOCK = RunKey("turn2", "stock", 1)


@pytest.fixture
def folder(kept_folders, tmp_path) -> Path:
    """Return a run directory of schema 1 without a verdict."""
    copy = tmp_path / "run"
    shutil.copytree(kept_folders / "hold-by-runs", copy)
    (copy / "verdict.json").unlink()
    return copy


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_results_journals_and_seals_agree_once_they_are_converted(folder):
    with pytest.raises(HarnessError, match="has schema 1") as caught:
        RunDirectory(folder).declaration.read()
    assert f"harness convert {folder}" in caught.value.hint
    convert(folder, QUIET)
    check_results(folder)
    directory = RunDirectory(folder)
    assert directory.run(STOCK).result.read().outcome is Outcome.FAILED
    assert [*read_journal(directory.run(STOCK).journal)][-1].event.outcome == "FAILED"
    assert directory.coverage_runs.results()


def test_converting_again_changes_nothing(folder):
    convert(folder, QUIET)
    once = contents(folder)
    convert(folder, QUIET)
    assert contents(folder) == once


@pytest.mark.parametrize("cut_at", ["seal.json", "journal.jsonl", "result.json", "run.json"])
def test_a_conversion_that_was_cut_short_is_gone_on_with(folder, tmp_path, monkeypatch, cut_at):
    shutil.copytree(folder, tmp_path / "whole")
    convert(tmp_path / "whole", QUIET)
    real = stage.write_text

    def killed(path, content):
        real(path, content)
        if path.name == cut_at:
            raise KeyboardInterrupt

    monkeypatch.setattr(stage, "write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        convert(folder, QUIET)
    monkeypatch.undo()
    convert(folder, QUIET)
    assert contents(folder) == contents(tmp_path / "whole")


def test_a_journal_that_was_changed_after_its_run_is_still_refused(folder):
    journal = RunDirectory(folder).run(STOCK).journal
    journal.write_text(journal.read_text().replace("REFUTED", "HELD"))
    convert(folder, QUIET)
    with pytest.raises(HarnessError, match=r"is not the journal that was written in this run"):
        check_results(folder)


def test_a_journal_that_a_crash_cut_keeps_its_last_piece(folder):
    journal = RunDirectory(folder).run(STOCK).journal
    journal.write_text(journal.read_text() + '{"seq": 9, "eve')
    convert(folder, QUIET)
    assert journal.read_text().endswith('{"seq": 9, "eve')


def test_lines_of_a_journal_stay_in_their_places(folder):
    journal = RunDirectory(folder).run(STOCK).journal
    before = journal.read_text().splitlines()
    convert(folder, QUIET)
    after = journal.read_text().splitlines()
    stamps = ("seq", "t", "at")
    assert [[json.loads(line)[stamp] for stamp in stamps] for line in after] == [
        [json.loads(line)[stamp] for stamp in stamps] for line in before
    ]


@pytest.mark.parametrize("name", ["hold-by-runs", "rollout-held", "rollout-stopped"])
def test_every_event_of_before_is_read_as_one_of_today(kept_folders, tmp_path, name):
    shutil.copytree(kept_folders / name, tmp_path / name)
    convert(tmp_path / name, QUIET)
    journals = [run.journal for run in RunDirectory(tmp_path / name).runs()]
    events = [entry.event for journal in journals for entry in read_journal(journal)]
    assert len(journals) > 1
    assert len(events) == sum(len(journal.read_text().splitlines()) for journal in journals)
    assert not [event for event in events if isinstance(event, Unknown)]


def test_a_rehearsal_of_before_is_a_run_with_its_plan_and_its_evidence(kept_folders, tmp_path):
    shutil.copytree(kept_folders / "rollout-stopped", tmp_path / "rollout")
    convert(tmp_path / "rollout", QUIET)
    directory = RunDirectory(tmp_path / "rollout")
    assert directory.roll_plan.read().rehearsals == ("control", "forward-and-back")
    result = directory.run(RunKey("forward-and-back", "roll", 1)).result.read()
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "node_alive")
    assert all((directory.path / each.path).is_file() for each in result.evidence)
    logs = [path for node in directory.run(result.key).logs.read() for path in node.files]
    assert all((directory.path / path).is_file() for path in logs)
    assert not (directory.path / "rehearsals").exists()


def test_a_rollout_of_before_that_is_reported_again_has_its_rehearsals_as_junit_too(kept_folders, tmp_path):
    shutil.copytree(kept_folders / "rollout-stopped", tmp_path / "rollout")
    convert(tmp_path / "rollout", QUIET)
    report_either(tmp_path / "rollout", QUIET)
    (suite,) = ET.parse(tmp_path / "rollout" / "junit.xml").getroot()
    assert {case.get("name"): case[0].tag for case in suite} == {"control": "system-out", "forward-and-back": "failure"}


def test_a_verdict_whose_logs_are_gone_is_taken_back_and_its_report_stays(kept_folders, tmp_path):
    shutil.copytree(kept_folders / "ship", tmp_path / "ship")
    shutil.rmtree(tmp_path / "ship/runs/turn2/patched-on/1/nodes")
    console = Console(record=True, width=300)
    convert(tmp_path / "ship", Reporter(console))
    assert "was not judged again" in console.export_text()
    assert not (tmp_path / "ship" / "verdict.json").exists()
    assert (tmp_path / "ship" / "report.html").is_file()


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("run.json", '{"schema": 3}', "has schema 3; this harness reads schema 2"),
        ("run.json", '{"schema": 1}', "is damaged"),
        ("run.json", "{", "is damaged"),
        ("night.json", '{"schema": 3}', "has schema 3; this harness reads schema 2"),
        ("other", "", "is no run directory"),
    ],
)
def test_what_cannot_be_converted_is_named_and_left_as_it_is(tmp_path, file, content, message):
    (tmp_path / file).write_text(content)
    with pytest.raises(HarnessError, match=message):
        convert(tmp_path, QUIET)
    assert contents(tmp_path) == {file: content.encode()}


@pytest.mark.parametrize(("before", "now"), [("ledger_asked", "records_acknowledged"), ("askable", "testable")])
def test_names_of_undecided_outcomes_are_converted_in_results_and_journals_alike(before, now):
    ended = {"outcome": "INCONCLUSIVE", "expectation": before, "reason": "none"}
    assert schema1.result(ended) == {**ended, "expectation": now}
    assert schema1.event({"event": "outcome", **ended}) == {"event": "outcome", **ended, "expectation": now}


def test_a_history_of_nights_is_converted_line_by_line(tmp_path):
    cells = [
        {"verification": "v", "scenario": "turn2", "arm": "on", "shown": shown, "standing": standing}
        | {"unstable": False, "jars": "j"}
        for shown, standing in (
            ("HELD", "as claimed"),
            ("REFUTED(observer_recovers)", "not as claimed"),
            ("UNSTABLE", "undecided"),
            ("UNSUPPORTED", "not asked"),
            ("INCONCLUSIVE(ledger_asked)", "undecided"),
        )
    ]
    verified = [{"id": "v", "ending": "HOLD", "seconds": 61.0}]
    finding = dict.fromkeys(("verification", "scenario", "base", "candidate", "kind", "template", "id"), "x")
    night = {"schema": 1, "label": "n", "started_at": "2026", "verified": verified, "cells": cells}
    night["findings"] = [{**finding, "node_role": "voter"}]
    path = tmp_path / "history.jsonl"
    path.write_text(json.dumps(night) + "\n" + json.dumps({**night, "label": "m"}) + "\n")
    with pytest.raises(HarnessError, match=r"history\.jsonl, line 1 has schema 1"):
        read_history(path)
    convert(path, QUIET)
    first, second = read_history(path)
    assert [cell.outcome for cell in first.cells] == [
        "PASSED",
        "FAILED(observer_recovers)",
        "UNSTABLE",
        "UNSUPPORTED",
        "INCONCLUSIVE(records_acknowledged)",
    ]
    assert [str(cell.standing) for cell in first.cells] == [
        "as claimed",
        "not as claimed",
        "undecided",
        "unsupported",
        "undecided",
    ]
    assert [str(each.outcome) for each in first.verified] == ["HOLD"]
    assert [finding.node_kind for finding in first.findings] == ["voter"]
    assert second.label == "m"


def test_a_history_with_a_night_of_a_newer_harness_is_left_as_it_is(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_text('{"schema": 2}\n{"schema": 3}\n')
    with pytest.raises(HarnessError, match="line 2 has schema 3"):
        convert(path, QUIET)


def test_waivers_of_a_night_name_todays_outcomes(kept_folders, tmp_path):
    shutil.copytree(kept_folders / "night-kept", tmp_path / "night")
    waivers = tmp_path / "night" / "waivers.toml"
    waivers.write_text('[[outcome]]\nwhere = "*/turn2/*"\nshows = "REFUTED(observer_recovers)"\nreason = "HELD up"\n')
    convert(tmp_path / "night", QUIET)
    assert 'shows = "FAILED(observer_recovers)"\nreason = "HELD up"' in waivers.read_text()


def test_a_copy_is_converted_and_the_original_stays(folder, tmp_path, monkeypatch, capsys):
    before = contents(folder)
    monkeypatch.setattr(sys, "argv", ["harness", "convert", str(folder), "--out", str(tmp_path / "copy")])
    assert cli._run() == 0
    assert contents(folder) == before
    assert RunDirectory(tmp_path / "copy").declaration.read().repeats == 1
    assert "has schema 2" in capsys.readouterr().out


TEXT = st.text(max_size=8)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.just("\ud800"),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXT, each, max_size=3),
    max_leaves=5,
)
NAMES = """schema name claims expected outcome expectation event ending steps cells shown standing planned ended arms
    seq t at rehearsals differences audit chains findings inputs made scenario arm files phases strips verified
    lost acked"""
FIELDS = st.sampled_from(NAMES.split())
DOCUMENTS = ANY_JSON | st.dictionaries(
    FIELDS,
    ANY_JSON | st.just("") | st.just(1) | st.lists(st.dictionaries(FIELDS, ANY_JSON, max_size=5), max_size=3),
    max_size=8,
)
EVENTS = st.builds(
    lambda kind, rest: {**rest, "event": kind},
    st.sampled_from(["outcome", "step", "node", "proof", "ledger"]),
    st.dictionaries(FIELDS, ANY_JSON, max_size=8),
)
CHANGES = {
    **schema1.RECORDS,
    **{change.__name__: change for change in (schema1.result, schema1.seal, schema1.rehearsal, schema1.node_logs)},
    **{change.__name__: change for change in (schema1.roll_plan, schema1.night, schema1.past_night, schema1.waivers)},
    "event": schema1.event,
    "rollout": lambda document: schema1.rollout(document, document),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_a_file_holds_it_is_converted_or_refused_by_its_name(change):
    @costly
    @given(DOCUMENTS | EVENTS)
    def refused_or_converted(document):
        refusal = ""
        try:
            schema1.converted(change, document, "a/file")
        except HarnessError as error:
            refusal = error.message
        assert refusal in ("", "a/file is damaged: it is not what schema 1 knows by this name.")

    refused_or_converted()


@pytest.mark.parametrize("line", ['{"event": "outcome", "reason": ""}', '{"event": "node"}', '{"event": "ledger"}'])
def test_a_damaged_line_of_a_journal_is_named_by_its_number(folder, line):
    journal = RunDirectory(folder).run(STOCK).journal
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([*lines[:2], line + "\n", *lines[2:]]))
    with pytest.raises(HarnessError, match=r"journal\.jsonl, line 3 is damaged"):
        convert(folder, QUIET)


@pytest.mark.parametrize("line", ['{"event": ["x"]}', '{"event": {}}', "7", "[" * 100_000], ids=range(4))
def test_what_is_no_event_of_schema_1_stays_in_the_journal(folder, line):
    journal = RunDirectory(folder).run(STOCK).journal
    journal.write_text(journal.read_text() + line + "\n")
    convert(folder, QUIET)
    assert journal.read_text().endswith(f"\n{line}\n")


@pytest.fixture
def rollout(kept_folders, tmp_path) -> Path:
    """Return a stopped rollout of schema 1."""
    return shutil.copytree(kept_folders / "rollout-stopped", tmp_path / "rollout")


@pytest.mark.parametrize("content", ["[]", '{"schema": 1}', "{", "NaN"])
def test_a_damaged_rollout_is_named_and_left_as_it_is(rollout, content):
    (rollout / "rollout.json").write_text(content)
    before = contents(rollout)
    with pytest.raises(HarnessError, match=r"rollout\.json is damaged"):
        convert(rollout, QUIET)
    assert contents(rollout) == before


def test_a_rehearsal_whose_place_is_occupied_is_named_and_nothing_is_converted(rollout):
    (rollout / "runs/control/roll/1").mkdir(parents=True)
    (rollout / "runs/control/roll/1/mine").write_text("")
    before = contents(rollout)
    with pytest.raises(HarnessError, match=r"runs/control/roll/1 is occupied: \S+rehearsals/control is to be there"):
        convert(rollout, QUIET)
    assert contents(rollout) == before


def test_a_rollout_of_before_that_was_cut_short_is_to_be_begun_again(rollout):
    (rollout / "rollout.json").unlink()
    before = contents(rollout)
    with pytest.raises(HarnessError, match="is a rollout that was cut short") as caught:
        convert(rollout, QUIET)
    assert "harness rollout" in caught.value.hint
    assert contents(rollout) == before


@pytest.mark.parametrize("line", ["garbage", "", "NaN"])
def test_a_line_that_is_no_night_is_named_and_the_history_left_as_it_is(tmp_path, line):
    path = tmp_path / "history.jsonl"
    path.write_text(f'{{"schema": 2, "label": "a\u2028b"}}\n{line}\n')
    before = path.read_bytes()
    with pytest.raises(HarnessError, match=r"history\.jsonl, line 2 is no night of a history") as caught:
        convert(path, QUIET)
    assert caught.value.hint == "Name a run directory, a night or a history file."
    assert path.read_bytes() == before


def test_a_night_of_a_history_that_lacks_everything_is_named_by_its_line(tmp_path):
    (tmp_path / "history.jsonl").write_text('{"schema": 1}\n')
    with pytest.raises(HarnessError, match=r"history\.jsonl, line 1 is damaged"):
        convert(tmp_path / "history.jsonl", QUIET)


def refused(monkeypatch, capsys, *words) -> str:
    monkeypatch.setattr(sys, "argv", ["harness", "convert", *map(str, words)])
    assert cli._run() == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "internal error" not in said
    return said


def test_what_is_nowhere_is_to_be_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "other" / "builds").mkdir(parents=True)
    for name in ("NOSUCH", "other"):
        said = refused(monkeypatch, capsys, tmp_path / name)
        assert said.endswith("Name a run directory, a night or a history file.")
        assert "verify" not in said
    assert (tmp_path / "other" / "builds").is_dir(), "a folder that is none of ours keeps its builds"


def test_a_file_that_is_there_is_not_written_over(tmp_path, monkeypatch, capsys):
    (tmp_path / "history.jsonl").write_text("")
    (tmp_path / "other.jsonl").write_text("mine")
    said = refused(monkeypatch, capsys, str(tmp_path / "history.jsonl"), "--out", str(tmp_path / "other.jsonl"))
    assert "is there already" in said
    assert (tmp_path / "other.jsonl").read_text() == "mine"


def test_a_copy_that_fails_leaves_nothing_and_can_be_asked_again(folder, tmp_path, monkeypatch, capsys):
    def full(_, target, *args, **kwargs):
        (Path(target) / "half").mkdir()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copytree", full)
        assert "No space left" in refused(monkeypatch, capsys, str(folder), "--out", str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("source", ["folder", "history"])
def test_a_copy_that_cannot_be_made_is_a_sentence(folder, tmp_path, monkeypatch, capsys, source):
    (tmp_path / "file").write_text("")
    (tmp_path / "history.jsonl").write_text('{"schema": 2}\n')
    of = {"folder": folder, "history": tmp_path / "history.jsonl"}[source]
    said = refused(monkeypatch, capsys, of, "--out", tmp_path / "file" / "x")
    refusal = {"folder": f"{tmp_path}/file/x cannot be made", "history": f"cannot be copied to {tmp_path}/file/x"}
    assert refusal[source] in " ".join(said.split())
    assert "Name another by --out." in said


def test_a_disk_that_refuses_is_a_sentence(folder, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(stage, "write_text", full)
    with pytest.raises(HarnessError, match="cannot be converted: No space left on device"):
        convert(folder, QUIET)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ('[[outcome]]\nshows = "INCONCLUSIVE(askable)"', '[[outcome]]\nshows = "INCONCLUSIVE(testable)"'),
        ("outcome = [{a = 'HELD', shows = 'HELD'}]", "outcome = [{a = 'HELD', shows = 'PASSED'}]"),
        ('[[outcome]]\n"shows" = "REFUTED(x)" # HELD', '[[outcome]]\n"shows" = "FAILED(x)" # HELD'),
        ('[[outcome]]\n\'shows\' = """HELD"""', '[[outcome]]\n\'shows\' = """PASSED"""'),
        (
            "[[outcome]]\nreason = 'shows = \"HELD\"'\nshows = 'INCONCLUSIVE(ledger_asked)'",
            "[[outcome]]\nreason = 'shows = \"HELD\"'\nshows = 'INCONCLUSIVE(records_acknowledged)'",
        ),
        ("[[finding]]\ncontains = 'HELD'", "[[finding]]\ncontains = 'HELD'"),
    ],
)
def test_waived_outcomes_are_renamed_by_their_value_and_nothing_else_is(before, now):
    assert tomllib.loads(now)
    assert schema1.waivers(before) == now
    assert schema1.waivers(now) == now


def test_waivers_that_cannot_be_converted_are_named(kept_folders, tmp_path):
    shutil.copytree(kept_folders / "night-kept", tmp_path / "night")
    (tmp_path / "night" / "waivers.toml").write_text("[[outcome]\n")
    with pytest.raises(HarnessError, match=r"waivers\.toml is damaged"):
        convert(tmp_path / "night", QUIET)
