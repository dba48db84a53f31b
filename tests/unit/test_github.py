"""GitHub's annotations and the step's summary: a handful that decide, and nothing that anybody wrote is a command."""

import re
import sys
from dataclasses import replace

import nightly_sample
import pytest
import rollout_sample
import sample_run
from hypothesis import given
from hypothesis import strategies as st
from upgrade_sample import BASE, CANDIDATE

from harness.base.errors import HarnessError
from harness.cli import app as cli
from harness.cli import github
from harness.logs.count_cache import SCHEMA
from harness.model.findings import Contrast, Significance
from harness.model.log_totals import Totals
from harness.nightly.night import VerificationStatus
from harness.nightly.night_annotations import of_night
from harness.report.annotations import MOST, of_contrast, of_rollout, of_upgrade, of_verdict
from harness.report.github import MOST_BYTES, Annotation, Level, fitting, workflow_command
from harness.upgrade.changes import operator_changes
from harness.upgrade.own_files import with_uses

HOSTILE = "a\r\n::error::b%0A::set-output name=x::y,z:\x1b[31m"
WARNING = replace(
    sample_run.contrasts("ship")[2].findings[0], level="WARN", base_count=0, candidate_count=9, candidate_excerpt="it"
)


def test_a_command_is_one_line_as_githubs_toolkit_writes_it():
    found = Annotation(Level.ERROR, "HOLD: turn2, x", "50 % of\nall", "out/a,b.log", 7)
    assert workflow_command(found) == "::error file=out/a%2Cb.log,line=7,title=HOLD%3A turn2%2C x::50 %25 of%0Aall"
    assert workflow_command(Annotation(Level.NOTICE, "SHIP", "all")) == "::notice title=SHIP::all"


@given(st.text(max_size=200), st.text(min_size=1, max_size=50), st.text(min_size=1, max_size=50))
def test_no_text_ends_its_place_in_a_command(message, title, file):
    line = workflow_command(Annotation(Level.WARNING, title, message, file, 1))
    assert line.splitlines() == [line]
    found = re.fullmatch(r"::warning file=([^:,]+),line=1,title=([^:,]+)::(.*)", line)
    assert found
    assert not re.search(r"%(?!25|0D|0A|3A|2C)", line)


def test_hostile_text_stays_text():
    line = workflow_command(Annotation(Level.ERROR, HOSTILE, HOSTILE, HOSTILE, 1))
    assert line.startswith("::error file=a")
    assert "\n" not in line
    assert "\x1b" not in line
    assert line.count("::error") == 2, "its own, and one in the middle of a line, which is none"
    assert "%0A" in line
    assert "%250A" in line


@pytest.mark.parametrize(
    ("kind", "level", "title"),
    [("ship", Level.NOTICE, "SHIP"), ("hold", Level.ERROR, "HOLD")],
)
def test_a_verdict_comes_with_its_reasons_and_the_places_of_failed_runs(kind, level, title):
    found = of_verdict(nightly_sample.document(kind), "out/x")
    assert (found[0].level, found[0].title) == (level, title)
    assert len(found[0].message.splitlines()) > 1
    assert len(found) <= MOST
    places = {(each.level, each.file.partition("/runs/")[0], each.line > 0) for each in found[1:]}
    assert places == ({(Level.ERROR, "out/x", True)} if kind == "hold" else set())


def test_an_inconclusive_verdict_is_a_warning():
    (answer, *_) = of_verdict(nightly_sample.document("ship", nightly_sample.STARVED), "out/x")
    assert (answer.level, answer.title) == (Level.WARNING, "INCONCLUSIVE")


def test_a_rollout_that_was_stopped_shows_where():
    found = of_rollout(rollout_sample.rollout("stopped"), "out/roll")
    assert (found[0].level, found[0].title) == (Level.ERROR, "rollout STOPPED")
    assert [each.file.startswith("out/roll/runs/") for each in found[1:]] == [True] * len(found[1:])
    assert [each.level for each in of_rollout(rollout_sample.rollout(), "x")] == [Level.NOTICE]


def test_lines_that_are_added_beyond_the_noise_are_shown_and_no_others():
    beyond = replace(WARNING, significance=Significance.BEYOND)
    mild = replace(beyond, level="INFO")
    found = of_contrast(Contrast("a", "b", (WARNING, mild, *([beyond] * 9))), Totals(SCHEMA, (), ()))
    assert [each.level for each in found] == [Level.NOTICE, *[Level.WARNING] * (MOST - 1)]
    assert found[1].title.endswith("WARN: 0 → 9")
    assert found[1].file == beyond.evidence[0].path


def test_a_log_that_was_not_read_is_a_warning():
    (answer,) = of_contrast(Contrast("a", "b", ()), Totals(SCHEMA, (), (), ("a/server.log",)))
    assert (answer.level, answer.message) == (Level.WARNING, "No line differs in what was read; 1 log was not read")


def test_lines_of_the_operators_own_files_are_shown_where_they_stand():
    changes = with_uses(operator_changes(BASE, CANDIDATE), {"my.properties": "\nzookeeper.connect=zk:2181\n"})
    found = of_upgrade(changes)
    assert (found[0].level, found[0].title) == (Level.NOTICE, f"{changes.base} → {changes.candidate}")
    assert {(each.level, each.file, each.line) for each in found[1:]} == {(Level.WARNING, "my.properties", 2)}


def test_a_night_shows_waivers_at_fault_and_what_is_no_ship(tmp_path):
    from harness.nightly.concluding import conclude

    documents = {name: nightly_sample.document("hold") for name in "abcdefg"}
    ended = dict.fromkeys(documents, VerificationStatus.HOLD)
    folder = nightly_sample.write_night_folder(tmp_path, nightly_sample.night(*documents, ended=ended), documents)
    found = of_night(conclude(folder, tmp_path / "history.jsonl"))
    assert len(found) == MOST
    assert {each.level for each in found} == {Level.ERROR}
    assert found[1].title == "HOLD: a"


# The step's summary.


def test_a_summary_is_cut_at_a_line_and_says_so():
    text = "ä line\n" * 100
    assert fitting(text, 10_000) == text
    cut = fitting(text, 300)
    assert len(cut.encode()) <= 300
    assert cut.startswith("ä line\n")
    assert cut.endswith("holds 1 MiB.**\n")
    assert fitting(text, 10) == ""


@given(st.text(max_size=500), st.integers(0, 600))
def test_no_summary_takes_more_than_its_room(text, room):
    assert len(fitting(text, room).encode("utf-8", "replace")) <= max(room, 0)


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Return the files of a step of GitHub Actions: its workspace, its summary."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step"))
    monkeypatch.setattr(github, "_SETTLE_SECONDS", 0.0)
    return tmp_path


def test_summaries_of_a_step_are_appended_within_a_mebibyte(job):
    (job / "summary.md").write_text("# first\n" + "x" * 100 + "\n")
    github.announce([], job / "summary.md")
    github.announce([], job / "summary.md")
    assert (job / "step").read_text().count("# first") == 2
    (job / "summary.md").write_text("y" * 99 + "\n" + "z\n" * MOST_BYTES)
    github.announce([], job / "summary.md")
    github.announce([], job / "summary.md")
    assert (job / "step").stat().st_size <= MOST_BYTES


def test_outside_of_a_job_nothing_is_printed_or_written(job, monkeypatch, capsys):
    monkeypatch.delenv("GITHUB_ACTIONS")
    (job / "summary.md").write_text("x")
    with github.guarded():
        github.announce([Annotation(Level.ERROR, "a", "b")], job / "summary.md")
    assert capsys.readouterr() == ("", "")
    assert not (job / "step").exists()


def run(monkeypatch, capsys, *arguments):
    """Run a command line as a step of a job; return its exit code, stdout, and the lines of stderr."""
    monkeypatch.setattr(sys, "argv", ["harness", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    return ended.value.code, out, [line for line in err.splitlines() if line]


def test_nothing_that_is_printed_in_between_is_a_command(job, monkeypatch, capsys):
    code, out, lines = run(monkeypatch, capsys, "judge", "\n::set-env name=PATH::x")
    assert code == 2
    assert out == ""
    stopped = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", lines[0])
    assert stopped
    until = lines.index(f"::{stopped[1]}::")
    assert any("set-env" in line for line in lines[1:until])
    commands = [line for line in lines[until + 1 :] if line.startswith("::")]
    assert lines[until + 1 :] == commands
    assert [command.partition(" ")[0] for command in commands] == ["::error"]


def test_a_file_is_named_by_its_path_in_the_workspace_and_not_outside(job, monkeypatch, capsys):
    def announces():
        github.announce(
            [
                Annotation(Level.ERROR, "in", "x", str(job / "out/a.log"), 3),
                Annotation(Level.ERROR, "out", "x", "/etc/passwd", 3),
            ]
        )
        raise HarnessError("done")

    monkeypatch.setattr(cli, "with_words", lambda _: lambda **_: announces())
    lines = run(monkeypatch, capsys)[2]
    assert "::error file=out/a.log,line=3,title=in::x" in lines
    assert "::error title=out::x" in lines
