"""The lines of a log that a piece of evidence is about, for a page that shows why something stopped."""

import tracemalloc
from dataclasses import replace

import sample_run

from harness.model.runs import Evidence
from harness.report import write_reports
from harness.report.log_excerpt import excerpt, with_excerpts
from harness.rundir.directory import RunDirectory
from harness.stages.judge import judge_run

LOG = """\
[2026-03-01 10:00:00,000] ERROR an older one (a.B)
[2026-03-01 10:00:01,000] INFO fine (a.B)
[2026-03-01 10:00:02,000] ERROR Encountered fatal fault (a.C)
java.lang.IllegalStateException: no
\tat a.B.c(B.java:1)
[2026-03-01 10:00:03,000] INFO shut down (a.B)
"""


def test_the_last_error_is_shown_with_its_stack_trace_and_nothing_after_it():
    assert excerpt(LOG.splitlines(keepends=True)) == (
        "[2026-03-01 10:00:02,000] ERROR Encountered fatal fault (a.C)\n"
        "java.lang.IllegalStateException: no\n\tat a.B.c(B.java:1)"
    )


def test_without_an_error_the_last_lines_are_shown():
    assert excerpt(["a\n", "b\n", "c\n", "d\n"]) == "b\nc\nd"


def test_a_trace_and_its_lines_have_a_most():
    long = ["[2026-03-01 10:00:02,000] ERROR x (a.C)\n", *["\tat " + "y" * 5000 + "\n"] * 500]
    shown = excerpt(long)
    assert len(shown) < 24 * 401


def test_a_line_without_an_end_takes_no_memory(tmp_path):
    (tmp_path / "server.log").write_bytes(b"x" * 20_000_000)
    tracemalloc.start()
    (read,) = with_excerpts(tmp_path, (Evidence("server.log", 1),))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read.excerpt == "x" * 400
    assert most < 4_000_000


def test_the_file_is_read_up_to_the_line_of_the_evidence_and_only_in_the_run_directory(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "server.log").write_text(LOG)
    (tmp_path / "outside.log").write_text(LOG)
    kept = Evidence("server.log", 6, "kept")
    read, short, outside, gone, same = with_excerpts(
        folder,
        (
            Evidence("server.log", 6),
            Evidence("server.log", 2),
            Evidence("../outside.log", 6),
            Evidence("gone.log", 1),
            kept,
        ),
    )
    assert read.excerpt.startswith("[2026-03-01 10:00:02,000] ERROR Encountered")
    assert short.excerpt == "[2026-03-01 10:00:00,000] ERROR an older one (a.B)"
    assert (outside.excerpt, gone.excerpt, same) == ("", "", kept)


def test_a_run_that_went_wrong_is_quoted_from_its_log_where_nobody_kept_the_lines(tmp_path):
    directory = RunDirectory(sample_run.write_sample(tmp_path, "hold"))
    record = judge_run(directory)
    log = "runs/turn2/patched-on/1/nodes/3/server.log"
    (tmp_path / log).write_text(LOG)
    runs = tuple(run if run.check.is_fine else replace(run, evidence=(Evidence(log, 6),)) for run in record.runs)
    page = write_reports(directory, replace(record, runs=runs)).read_text(encoding="utf-8")
    assert "ERROR Encountered fatal fault" in page
