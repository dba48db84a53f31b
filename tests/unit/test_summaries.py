"""summary.md and junit.xml of rollouts, log diffs and upgrade notes: one shape, whatever the command."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import rollout_sample
import sample_run
from rich.console import Console
from upgrade_sample import BASE, CANDIDATE

from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.logs.count_cache import SCHEMA
from harness.model.expectations import Expectations, Met, MetCell
from harness.model.findings import Contrast, Significance
from harness.model.log_totals import FileTotal, Totals
from harness.model.operator_changes import Weight
from harness.model.runs import Evidence
from harness.report import write_reports
from harness.report.diff_cases import render_findings
from harness.report.diff_markdown import render_diff_markdown
from harness.report.markdown import render_expectations
from harness.report.rollout_cases import render_rehearsals
from harness.report.rollout_markdown import render_rollout_summary
from harness.report.run_cases import render_runs
from harness.report.upgrade_cases import render_changes
from harness.report.upgrade_markdown import render_upgrade_summary
from harness.rundir.directory import RunDirectory
from harness.stages.judge import judge_run
from harness.upgrade.changes import operator_changes
from harness.upgrade.own_files import with_uses

QUIET = Reporter(Console(quiet=True))
HOSTILE = "<script>|`x`\x1b[31m\n# no heading"
FOUND = sample_run.contrasts("ship")[2].findings[0]
CHANGES = with_uses(operator_changes(BASE, CANDIDATE), {"my.properties": "zookeeper.connect=zk:2181\n"})


def finding(significance, level="ERROR", base=0, candidate=3, **more):
    counts = {"base_count": base, "candidate_count": candidate}
    return replace(FOUND, significance=significance, level=level, **counts, **more)


DIFF = Contrast(
    "before",
    "after",
    (
        finding(Significance.BEYOND),
        finding(Significance.UNKNOWN, "WARN"),
        finding(Significance.WITHIN),
        finding(Significance.BEYOND, "INFO"),
        finding(Significance.BEYOND, base=9),
    ),
)


READ = Totals(SCHEMA, (), ())


def ended(xml: str) -> list[str]:
    return [case[0].tag for case in ET.fromstring(xml).iter("testcase")]


def test_of_a_log_diff_what_the_second_adds_at_warn_or_worse_beyond_the_noise_fails():
    assert ended(render_findings(DIFF, READ)) == ["failure", "skipped", "system-out", "system-out", "system-out"]


def test_a_log_that_was_not_read_or_only_in_part_is_an_error_with_the_reason():
    half = FileTotal("b.log", "%m%n", lines=9000, unparsed_lines=8000)
    totals = Totals(SCHEMA, (half,), ("a.log was not read: it fits none.", "b.log: its first 8000 lines."), ("a.log",))
    cases = [*ET.fromstring(render_findings(replace(DIFF, findings=()), totals)).iter("testcase")]
    assert [(case.get("name"), case[0].tag, case[0].get("message")) for case in cases] == [
        ("read a.log", "error", "a.log was not read: it fits none."),
        ("read b.log", "error", "b.log: its first 8000 lines."),
    ]


def test_of_upgrade_notes_what_breaks_a_file_of_ones_own_fails():
    cases = {case.get("name"): case[0].tag for case in ET.fromstring(render_changes(CHANGES)).iter("testcase")}
    assert cases["zookeeper.connect"] == "failure"
    named = {change.subject for change in CHANGES.changes if change.used or change.by_default}
    assert {cases[name] for name in cases if name not in named} == {"skipped"}


def test_of_upgrade_notes_what_breaks_for_everybody_fails_without_a_file():
    breaks = next(each for each in CHANGES.changes if each.weight is Weight.BREAKS and not each.used)
    cases = (replace(breaks, by_default=True), replace(breaks, by_default=False))
    assert ended(render_changes(replace(CHANGES, changes=cases))) == ["failure", "skipped"]


@pytest.mark.parametrize(
    "xml",
    [
        render_findings(DIFF, READ),
        render_changes(CHANGES),
        render_rehearsals(rollout_sample.rollout("stopped")),
    ],
)
def test_all_have_one_shape(xml, tmp_path):
    sample_run.write_sample(tmp_path)
    runs = ET.fromstring(render_runs(judge_run(RunDirectory(tmp_path))))
    root = ET.fromstring(xml)
    assert root.tag == runs.tag
    assert {*root.attrib} == {*runs.attrib}
    assert {suite.tag for suite in root} == {"testsuite"}
    assert {frozenset(case.attrib) for case in root.iter("testcase")} == {
        frozenset(case.attrib) for case in runs.iter("testcase")
    }
    for suite in (root, *root):
        cases = [*suite.iter("testcase")]
        assert int(suite.get("tests")) == len(cases)
        for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(count)) == sum(case[0].tag == tag for case in cases)


def test_a_rollouts_summary_has_the_answer_its_reasons_and_every_rehearsal():
    text = render_rollout_summary(rollout_sample.rollout("stopped"))
    found = rollout_sample.rollout("stopped")
    assert text.startswith("# Rollout STOPPED: ")
    assert text.count("\n| ") == len(found.rehearsals) + 1
    assert text.count("\n- ") >= len(found.reasons) > 0


def test_a_diffs_summary_lists_what_is_apart_from_the_noise():
    text = render_diff_markdown([DIFF], READ)
    assert "**They differ" in text
    assert text.count("| beyond the noise |") == 3


def test_upgrade_notes_name_own_files_first():
    text = render_upgrade_summary(CHANGES)
    assert text.index("## In your files") < text.index("my.properties:1") < text.index("## Breaks first")


def test_without_a_candidate_the_summary_says_what_was_expected_of_stock():
    text = render_expectations(
        Expectations(Met.UNEXPECTED, (MetCell("a", "stock", "PASSED", "FAILED(x)", Met.UNEXPECTED),))
    )
    assert text.startswith("# UNEXPECTED: 0 of 1 cell show what is expected of stock\n")
    assert "| a | stock | PASSED | FAILED(x) | UNEXPECTED |" in text


def test_the_summary_of_a_verification_without_a_candidate_has_no_verdict(tmp_path):
    sample_run.write_sample(tmp_path)
    directory = RunDirectory(tmp_path)
    declared = directory.declaration.read()
    directory.declaration.write(replace(declared, arms=tuple(arm for arm in declared.arms if arm.role.is_control)))
    write_reports(directory, judge_run(directory))
    assert "INCONCLUSIVE" not in directory.summary.read_text()
    assert directory.summary.read_text().startswith("# EXPECTED") or "# UNEXPECTED" in directory.summary.read_text()


@pytest.mark.parametrize(
    "text",
    [
        render_diff_markdown(
            [Contrast("a", "b", (finding(Significance.BEYOND, template=HOSTILE, level=HOSTILE),))], READ
        ),
        render_upgrade_summary(replace(CHANGES, changes=(replace(CHANGES.changes[0], means=HOSTILE),))),
        render_rollout_summary(replace(rollout_sample.rollout(), reasons=(HOSTILE,))),
        render_expectations(Expectations(Met.EXPECTED, (MetCell(HOSTILE, "stock", "PASSED", "PASSED", Met.EXPECTED),))),
    ],
)
def test_what_others_wrote_is_no_markup(text):
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "\n# no heading" not in text


def test_what_others_wrote_cannot_leave_its_case():
    odd = finding(Significance.BEYOND, template="]]>\x00<case>", evidence=(Evidence("a\x1b.log", 1),))
    (case,) = ET.fromstring(render_findings(Contrast("<a>", "b", (odd,)), READ)).iter("testcase")
    assert "<case>" in case.get("name")
    assert to_json(odd)


def test_a_reported_rollout_has_a_summary(tmp_path, kept_folders):
    import shutil

    from harness.stages.convert import convert
    from harness.stages.judge import judge_either, report_either

    folder = Path(shutil.copytree(kept_folders / "rollout-stopped", tmp_path / "x"))
    convert(folder, QUIET)
    judge_either(folder, QUIET)
    report_either(folder, QUIET)
    assert (folder / "summary.md").read_text().startswith("# Rollout STOPPED: ")
