"""What `harness diff` prints for scripts, and what of it makes the exit code."""

import json
import sys
from dataclasses import replace

import pytest
import sample_run

from harness.base.errors import HarnessError
from harness.cli import app as cli
from harness.logs.count_cache import SCHEMA
from harness.model.findings import Contrast, FindingKind, Significance
from harness.model.log_totals import Totals
from harness.report.diff_markdown import render_diff_markdown
from harness.rundir.parts import LogsFolder
from harness.stages import diff as stage
from harness.stages.diff_output import is_among, kinds_of

FOUND = sample_run.contrasts("ship")[2].findings[0]
NEW = replace(FOUND, kind=FindingKind.NEW, significance=Significance.UNKNOWN)
NOISE = replace(FOUND, kind=FindingKind.LEVEL, significance=Significance.WITHIN)


def contrast(*findings):
    return Contrast("before", "after", findings)


@pytest.mark.parametrize(
    ("words", "findings", "fails"),
    [
        ("", (NEW,), False),
        ("new", (NEW,), True),
        ("level, new", (NEW, NOISE), True),
        ("level", (NEW, NOISE), False),
        ("vanished", (NEW,), False),
        ("new", (), False),
    ],
)
def test_what_is_named_fails_unless_it_is_known_to_be_noise(words, findings, fails):
    assert is_among([contrast(), contrast(*findings)], kinds_of(words)) is fails


@pytest.mark.parametrize("kind", FindingKind)
def test_every_kind_of_finding_can_be_named(kind):
    assert kinds_of(f" {kind.value} ,") == {kind}


def test_what_is_no_kind_is_refused_with_those_that_are():
    with pytest.raises(HarnessError, match="There are: level, new"):
        kinds_of("xyzzy")


def test_markdown_has_the_headline_what_differs_and_what_was_not_read_and_no_markup_of_a_log():
    hostile = replace(NEW, template="a | b <img src=x> `c`", base_count=0, candidate_count=7)
    left_out = ("gc.log was not read: it fits no log layout.",)
    text = render_diff_markdown([contrast(hostile, NOISE)], Totals(SCHEMA, (), left_out, ("gc.log",)))
    assert "; 1 log was not read.**" in text
    assert "**They differ" in text
    assert "| new | " in text
    assert r"| 0 | 7 | a \| b \<img src=x\> \`c\`" in text
    assert "- gc.log was not read: it fits no log layout." in text
    assert text.count("| level |") == 1  # the heading: what is noise is left out


@pytest.fixture
def compared(monkeypatch):
    """Let what is compared be two folders of which a line is new, without Spark."""

    def diff_folders(base, candidate, out, *_):
        logs = LogsFolder(out)
        unread = ("server.log",) if base == "unread" else ()
        logs.totals.write(Totals(SCHEMA, (), tuple(f"{log} was not read." for log in unread), unread))
        logs.findings.write((Contrast(base, candidate, (NEW,)),))
        _[2].report("Reading")
        return logs.findings.read()[0]

    monkeypatch.setattr(stage, "diff_folders", diff_folders)


@pytest.fixture
def diff(compared, monkeypatch, capsys, tmp_path):
    """Return what runs `harness diff` on two folders, and gives its exit code and what it wrote to both outputs."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, base="a"):
        monkeypatch.setattr(sys, "argv", ["harness", "diff", base, "b", *arguments])
        return cli._run(), *capsys.readouterr()

    return run


def said(fail_on):
    return ["--fail-on", fail_on] if fail_on else []


@pytest.mark.parametrize(("fail_on", "code"), [("", 0), ("level", 0), ("new,level", 1)])
def test_the_exit_code_is_that_of_what_was_found(diff, fail_on, code):
    assert diff(*said(fail_on))[0] == code


@pytest.mark.parametrize(("fail_on", "code"), [("", 0), ("level", 3), ("new,level", 1)])
def test_nothing_found_is_no_answer_where_a_log_was_not_read(diff, fail_on, code):
    ended, out, _ = diff(*said(fail_on), base="unread")
    assert ended == code
    assert "1 finding; 1 log was not read: " in out


def test_json_is_all_that_stands_in_stdout_and_is_that_of_the_findings(diff, tmp_path):
    _, out, err = diff("-o", "json", "--out", "out")
    assert json.loads(out) == json.loads((tmp_path / "out" / "findings.json").read_text())
    assert "Reading" in err
    assert "1 finding:" in err


def test_markdown_is_all_that_stands_in_stdout(diff):
    _, out, err = diff("-o", "markdown")
    assert out.startswith("### Logs of a and b")
    assert "Reading" in err


def test_a_quiet_diff_prints_what_differs_and_no_progress(diff):
    _, out, err = diff("-q")
    assert "1 finding:" in out
    assert "Reading" not in out + err
    assert "Reading" in diff()[1]


@pytest.mark.parametrize("option", ["--layout", "--repeats-dir", "--candidate-repeats-dir"])
def test_what_goes_with_two_folders_is_refused_with_a_run_directory(monkeypatch, capsys, option):
    monkeypatch.setattr(sys, "argv", ["harness", "diff", "a", option, "x"])
    assert cli._run() == 2
    assert f"{option} goes with two folders of logs." in capsys.readouterr().err
