"""What `harness diff` prints for scripts, and what of it makes the exit code 1."""

import json
from dataclasses import replace

import pytest
import sample_run

from harness.base.errors import HarnessError
from harness.cli import stages as cli
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
    text = render_diff_markdown([contrast(hostile, NOISE)], ["gc.log was not read: it fits no log layout."])
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
        logs.totals.write(Totals(SCHEMA, (), ()))
        logs.findings.write((Contrast(base, candidate, (NEW,)),))
        _[2].report("Reading")
        return logs.findings.read()[0]

    monkeypatch.setattr(stage, "diff_folders", diff_folders)


@pytest.mark.parametrize(("fail_on", "code"), [("", 0), ("level", 0), ("new,level", 1)])
def test_the_exit_code_is_that_of_what_was_found(compared, tmp_path, fail_on, code):
    assert cli.diff("a", "b", fail_on=fail_on, out=tmp_path / "out") == code


def test_json_is_all_that_stands_in_stdout_and_is_that_of_the_findings(compared, tmp_path, capsys):
    cli.diff("a", "b", output=cli.DiffOutput.JSON, out=tmp_path / "out")
    out, err = capsys.readouterr()
    assert json.loads(out) == json.loads((tmp_path / "out" / "findings.json").read_text())
    assert "Reading" in err


def test_markdown_is_all_that_stands_in_stdout(compared, tmp_path, capsys):
    cli.diff("a", "b", output=cli.DiffOutput.MARKDOWN, out=tmp_path / "out")
    assert capsys.readouterr().out.startswith("### Logs of a and b")
