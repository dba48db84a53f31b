"""The page of a comparison of two folders: headline, differences, noise, and what was read of which file."""

from dataclasses import replace
from pathlib import Path

import pytest
import sample_run

from harness.logs.count_cache import SCHEMA
from harness.model.findings import Contrast, Significance
from harness.model.log_totals import FileTotal, Totals
from harness.report.diffpage import diff_page, render_diff

OUT = Path("/logs/out")
TOTALS = Totals(
    SCHEMA,
    (FileTotal("/logs/before/server.log", "[%d] %p %m (%c)%n", 120, 9000, 100, 110, 8000, 10, 1000),),
    ("/logs/before/gc.log was not read: it fits no log layout.",),
)
FOUND = sample_run.contrasts("ship")[2].findings[0]


def page(*findings, totals=TOTALS):
    return diff_page(Contrast("/logs/before", "/logs/after", findings), totals, OUT)


@pytest.mark.parametrize(
    ("findings", "headline"),
    [
        ((), "No line differs"),
        ((FOUND,), "They differ; by how much more than noise is not known"),
        (
            (replace(FOUND, significance=Significance.WITHIN, base_runs=(0, 1), candidate_runs=(1,)),),
            "They differ no more than by noise",
        ),
        (
            (replace(FOUND, significance=Significance.BEYOND, base_runs=(0, 0), candidate_runs=(1,)),),
            "They differ beyond the noise",
        ),
        (
            (replace(FOUND, significance=Significance.UNKNOWN, base_runs=(0, 0, 0), candidate_runs=(262,)),),
            "They differ; these repeats are too few to separate it from noise",
        ),
        (
            (replace(FOUND, significance=Significance.UNKNOWN, base_runs=(0,), candidate_runs=(262, 260)),),
            "They differ; these repeats are too few to separate it from noise",
        ),
        (
            (
                replace(FOUND, significance=Significance.WITHIN, base_runs=(0, 1), candidate_runs=(1,)),
                replace(FOUND, significance=Significance.UNKNOWN, base_runs=(0, 0), candidate_runs=(1,)),
            ),
            "They differ; these repeats are too few to separate it from noise",
        ),
    ],
)
def test_the_headline_says_how_they_differ(findings, headline):
    assert page(*findings).headline == headline


def test_what_was_read_and_what_was_not_is_reported_with_links_from_the_pages_folder():
    shown = page(FOUND)
    (file,) = shown.files
    assert (file.link.href, file.lines, file.events, file.unparsed) == ("../before/server.log", 120, 100, 10)
    assert shown.read == "1 files, 0.0 MB, 100 events; 10 lines before a first header"
    assert shown.left_out == TOTALS.left_out


@pytest.mark.parametrize("archive", ["b.tar.gz", "b.tgz", "b.zip", "b.tar", "deep/b.TAR.zst"])
def test_a_log_of_an_archive_is_linked_by_the_archive_and_shown_by_its_own_place(archive):
    total = replace(TOTALS.files[0], file=f"/logs/{archive}/kafka/x.zip/server.log")
    (file,) = page(totals=replace(TOTALS, files=(total,))).files
    assert (file.link.href, file.link.text) == (f"../{archive}", total.file)


@pytest.mark.parametrize(
    ("log", "href"),
    [
        ("/logs/all.log[kafka-1]", "../all.log"),
        ("/logs/b.tar.gz/kafka/all.log[kafka-0/kafka]", "../b.tar.gz"),
    ],
)
def test_the_log_of_one_node_among_several_is_linked_by_the_file_that_it_is_in(log, href):
    (file,) = page(totals=replace(TOTALS, files=(replace(TOTALS.files[0], file=log),))).files
    assert (file.link.href, file.link.text) == (href, log)


def test_a_path_cannot_name_a_scheme_and_no_log_text_is_markup():
    hostile = sample_run.contrasts("hostile")[2].findings
    strange = replace(TOTALS, files=(replace(TOTALS.files[0], file="javascript:alert(1)<b>.log"),))
    text = render_diff(Contrast("<i>a", "b", hostile), strange, Path.cwd())
    assert "<i>a" not in text
    assert 'href="javascript:' not in text
    assert "<script>alert" not in text
    assert "alert%281%29%3Cb%3E.log" in text


def test_equal_input_gives_equal_bytes():
    contrast = Contrast("a", "b", (FOUND,))
    assert render_diff(contrast, TOTALS, OUT) == render_diff(contrast, TOTALS, OUT)
