"""Names that people look for, help that can be read, and what -q, -v and -o json print."""

import json
import re
import shlex
import shutil
import sys

import pytest
import sample_run
from rich.console import Console
from typer.main import get_command

from harness.base.json import from_json
from harness.base.progress import Reporter
from harness.cli import app as cli
from harness.cli import common
from harness.kafka.lock import locked_versions
from harness.model.options import record_of
from harness.model.request import Request
from harness.model.verdict import VerdictRecord
from harness.report.links import HERE
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import LogsFolder, TopicIdsFolder, UpgradeFolder
from harness.stages.judge import judge_run
from harness.stages.verify import print_more, print_verdict


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        code = cli._run()
        return (code, *capsys.readouterr())

    return run


def commands(command=None, words=("harness",)):
    """Yield every command of the program with its words."""
    command = command or get_command(cli.app)
    yield " ".join(words), command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*words, name))


EVERY = dict(commands())


def examples():
    return [example for command in EVERY.values() for example in re.findall(r"- `(harness .*?) # ", command.help or "")]


def test_no_help_has_examples_that_run_together():
    assert [words for words, each in EVERY.items() if re.search(r"Examples?: harness", each.help or "")] == []
    assert len(examples()) > 60


@pytest.mark.parametrize("example", examples())
def test_every_example_is_a_command_line_that_is_read(example):
    words = shlex.split(example.partition(" && ")[0])
    while " ".join(words) not in EVERY:
        words.pop()
    command = EVERY[" ".join(words)]
    given = shlex.split(example.partition(" && ")[0])[len(words) :]
    named = {word.partition("=")[0] for word in given if word.startswith("-")}
    assert named <= {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


def test_versions_in_examples_of_upgrade_notes_are_locked():
    asked = [example.split()[2:4] for example in examples() if example.startswith("harness upgrade-notes")]
    assert asked
    assert {name for pair in asked for name in pair if "/" not in name} <= {*locked_versions()}


def test_a_switch_takes_no_value_and_a_value_has_a_word(harness, monkeypatch):
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 120)
    for words in ("verify", "nightly", "merge", "topic-ids check"):
        out = harness(*words.split(), "--help")[1]
        assert "<bool>" not in out
        assert "list[" not in out.partition("─ Options ─")[2]
        assert re.search(r"--out +PATH", out)
        assert re.search(r"--help +-h +", out)
    assert harness("judge", "-h")[0] == 0


def test_options_have_the_names_that_people_look_for(harness):
    assert "No scenario is named 'nope'" in harness("verify", "-k", "nope")[2]
    assert "Kafka 7.7 is of a release line" in harness("verify", "--kafka-version", "7.7")[2]
    assert "No noise of Kafka 2.8 is known" in harness("noise", "show", "--kafka-version", "2.8.2")[2]
    assert record_of(Request, ("-k", "turn2", "--scenario", "turn1")).scenarios == ("turn2", "turn1")


def test_merge_is_where_nightly_is(harness, tmp_path):
    assert harness("nightly", "merge", "none", "--out", "night")[2] == harness("merge", "none", "--out", "night")[2]
    assert harness("nightly", "--list", "--shard", "1/9")[0] == 0


def test_a_night_is_gone_on_with_quietly_and_takes_no_other_option(harness):
    assert "not --jobs" in harness("nightly", "--resume", "x", "--jobs", "3")[2]
    assert "x is no night" in harness("nightly", "--resume", "x", "-q")[2]


def judged(tmp_path):
    sample_run.write_sample(tmp_path / "x", "hold")
    judge_run(RunDirectory(tmp_path / "x"))
    return tmp_path / "x"


def test_json_is_the_record_alone_on_stdout(harness, tmp_path, monkeypatch):
    folder = judged(tmp_path)
    monkeypatch.setattr("harness.stages.judge.check_results", lambda _: None)  # the sample has no seals
    code, out, err = harness("judge", folder, "-o", "json")
    assert code == 1
    assert str(from_json(VerdictRecord, out).verdict) == "HOLD"
    assert "judging" in err
    code, out, _ = harness("judge", folder)
    assert code == 1
    assert out.splitlines()[:2] == ["• judging", "HOLD"], "the next command is not as the one before"


def test_differences_of_two_runs_are_json_too(harness, tmp_path):
    folder = judged(tmp_path)
    shutil.copytree(folder, tmp_path / "y")
    assert harness("compare", folder, tmp_path / "y", "-o", "json")[:2] == (0, "[]\n")
    record = RunDirectory(tmp_path / "y").verdict
    document = json.loads(record.path.read_text())
    record.path.write_text(json.dumps({**document, "verdict": "SHIP"}))
    code, out, err = harness("compare", folder, tmp_path / "y", "--output", "json")
    assert code == 1
    assert {"what": "verdict", "where": "", "before": "HOLD", "after": "SHIP", "counts": True} in json.loads(out)
    assert "verdict" in err


def test_quiet_leaves_results_and_no_progress(capsys):
    for quiet in (True, False):
        reporter = Reporter(Console(), quiet=quiet)
        reporter.stage("building")
        reporter.report("a detail")
        with reporter.downloads() as bar:
            bar.advance("x", 1, 1)
        reporter.console.print("SHIP")
        assert (capsys.readouterr().out == "SHIP\n") is quiet


def test_what_the_command_line_says_counts_for_that_command_alone(harness, tmp_path):
    harness("verify", "-q", "-v", "-o", "json", "--jar", "none")
    assert common._shown == {"quiet": True, "verbose": True, "document": True}
    assert harness("list")[1]
    assert common._shown == {"quiet": False, "verbose": False, "document": False}


def test_verbose_has_every_reason_and_where_the_evidence_is(tmp_path, capsys):
    record = RunDirectory(judged(tmp_path)).verdict.read()
    console = Console(soft_wrap=True, highlight=False, markup=False)
    print_verdict(console, record, {}, HERE.report)
    short = capsys.readouterr().out
    print_more(console, record)
    more = capsys.readouterr().out
    failed = [run for run in record.runs if not run.check.is_fine]
    assert failed
    assert all(f"  {run.key.folder}: {run.label}, see {run.evidence[0].place}" in more for run in failed)
    assert all(f"not tested: {gap}" in more for gap in record.not_tested)
    assert all(f"not fixed: {left}" in more for left in record.not_fixed)
    assert "see runs/" not in short


@pytest.mark.parametrize("page", [LogsFolder, UpgradeFolder, TopicIdsFolder])
def test_every_page_is_opened(harness, monkeypatch, tmp_path, page):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "x").mkdir()
    page(tmp_path / "x").page.write_text("x")
    assert harness("open", "x")[:2] == (0, f"x/{page(tmp_path).page.name}\n")


def test_a_folder_that_is_not_there_is_not_to_be_judged_first(harness):
    assert "Judge it first" not in harness("compare", "a", "b")[2]
