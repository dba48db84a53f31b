"""The page of a comparison of two folders: headline, differences, noise, and what was read of which file.

It is a page to send: what it links to lies beside it, and what was not read is never passed over in silence.
"""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
import sample_run

from harness.logs.count_cache import SCHEMA
from harness.model.findings import Contrast, Significance
from harness.model.log_totals import FileTotal, Totals
from harness.model.runs import Evidence
from harness.report.diffpage import diff_page, render_diff

OUT = Path("/logs/out")
TOTALS = Totals(
    SCHEMA,
    (FileTotal("/logs/before/server.log", "[%d] %p %m (%c)%n", 120, 9000, 100, 110, 8000, 10, 1000),),
    ("/logs/before/gc.log was not read: they are the garbage collector's.",),
)
UNREAD = replace(
    TOTALS,
    left_out=("/logs/before/server.log.1 was not read: it fits no log layout.", *TOTALS.left_out),
    unread=("/logs/before/server.log.1",),
)
HALF = replace(TOTALS, files=(replace(TOTALS.files[0], lines=9000, unparsed_lines=8000),))
FOUND = sample_run.contrasts("ship")[2].findings[0]


def page(*findings, totals=TOTALS):
    return diff_page(Contrast("/logs/before", "/logs/after", findings), totals, OUT)


@pytest.mark.parametrize(
    ("findings", "headline"),
    [
        ((), "No line differs"),
        ((FOUND,), "They differ; it is not known whether by more than noise"),
        (
            (replace(FOUND, significance=Significance.WITHIN, base_runs=(0, 1), candidate_runs=(1,)),),
            "They differ only within the noise",
        ),
        (
            (replace(FOUND, significance=Significance.BEYOND, base_runs=(0, 0), candidate_runs=(1,)),),
            "They differ beyond the noise",
        ),
        (
            (replace(FOUND, significance=Significance.UNKNOWN, base_runs=(0, 0, 0), candidate_runs=(262,)),),
            "They differ; there are too few repeats to tell this from noise",
        ),
        (
            (replace(FOUND, significance=Significance.UNKNOWN, base_runs=(0,), candidate_runs=(262, 260)),),
            "They differ; there are too few repeats to tell this from noise",
        ),
        (
            (
                replace(FOUND, significance=Significance.WITHIN, base_runs=(0, 1), candidate_runs=(1,)),
                replace(FOUND, significance=Significance.UNKNOWN, base_runs=(0, 0), candidate_runs=(1,)),
            ),
            "They differ; there are too few repeats to tell this from noise",
        ),
    ],
)
def test_the_headline_says_how_they_differ(findings, headline):
    assert page(*findings).headline == headline


@pytest.mark.parametrize(
    ("totals", "findings", "headline", "tone"),
    [
        (TOTALS, (), "No line differs", "ship"),
        (UNREAD, (), "No line differs in what was read; 1 log was not read", "inconclusive"),
        (HALF, (), "No line differs in what was read; 1 log was read only in part", "inconclusive"),
        (
            replace(HALF, unread=("a.log", "b.log")),
            (),
            "No line differs in what was read; 2 logs were not read, and 1 only in part",
            "inconclusive",
        ),
        (
            UNREAD,
            (replace(FOUND, significance=Significance.WITHIN, base_runs=(0, 1), candidate_runs=(1,)),),
            "They differ only within the noise; 1 log was not read",
            "inconclusive",
        ),
    ],
)
def test_it_is_never_green_with_a_log_that_nobody_read_and_its_headline_says_so(totals, findings, headline, tone):
    shown = page(*findings, totals=totals)
    assert (shown.headline, shown.tone) == (headline, tone)


@pytest.mark.parametrize(
    ("totals", "findings", "against"),
    [
        (UNREAD, (FOUND,), "server.log.1 was not read: it fits no log layout."),
        (replace(UNREAD, unread=("/logs/before/server.log.1", "x.log")), (), "2 logs were not read. /logs/before/"),
        (TOTALS, (FOUND,), "One run of each side"),
        (TOTALS, (), "gc.log was not read"),
        (replace(TOTALS, left_out=()), (), "are masked"),
        (replace(TOTALS, left_out=()), (replace(FOUND, base_runs=(0, 0)),), "Counts and rates"),
    ],
)
def test_it_says_what_speaks_against_its_headline(totals, findings, against):
    assert against in page(*findings, totals=totals).against
    assert against in render_diff(Contrast("a", "b", findings), totals, OUT)


def test_what_was_read_and_what_was_not_is_reported():
    shown = page(FOUND)
    (file,) = shown.files
    assert (file.link.text, file.lines, file.events, file.unparsed) == ("/logs/before/server.log", 120, 100, 10)
    assert shown.read == "1 files, 0.0 MB, 100 events; 10 lines before a first header"
    assert shown.left_out == TOTALS.left_out


@pytest.mark.parametrize(
    ("log", "href"),
    [
        ("/logs/out/before/server.log", "before/server.log"),
        ("/logs/out/b.tar.gz/kafka/x.zip/server.log", "b.tar.gz"),
        ("/logs/out/deep/b.TAR.zst/server.log", "deep/b.TAR.zst"),
        ("/logs/out/all.log[kafka-1]", "all.log"),
        ("/logs/out/b.tgz/kafka/all.log[kafka-0/kafka]", "b.tgz"),
        ("/logs/before/server.log", ""),
        ("/logs/outside.log", ""),
        ("s3a://logs/out/server.log", ""),
    ],
)
def test_a_log_is_linked_by_its_file_or_archive_where_that_lies_beside_the_page_and_is_text_elsewhere(log, href):
    finding = replace(FOUND, evidence=(Evidence(log, 7),))
    shown = page(finding, totals=replace(TOTALS, files=(replace(TOTALS.files[0], file=log),)))
    assert [(file.link.href, file.link.text) for file in shown.files] == [(href, log)]
    assert [(each.href, each.text) for each in shown.contrast.findings[0].links] == [(href, f"{log}:7")]


def test_a_page_that_is_sent_on_has_the_lines_and_links_to_nothing_that_lies_elsewhere():
    text = render_diff(Contrast("/logs/before", "/logs/after", (FOUND,)), TOTALS, OUT)
    assert FOUND.candidate_excerpt[:60] in unescape(text)
    assert "/logs/before/server.log" in text
    assert not re.search(r'href="(?:\.\.|/)', text)


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


def test_of_two_kafkas_what_only_informs_is_counted_and_what_is_worded_anew_is_named():
    informs = replace(FOUND, level="INFO")
    reworded = ("“a voter came” is “a voter joined”",)
    shown = render_diff(
        Contrast("a", "b", (informs,), of_two_kafkas=True, renamed=reworded),
        TOTALS,
        OUT,
    )
    assert "1 at a lower level is counted below" in unescape(shown)
    assert "<li>INFO: 1 message type differs" in shown
    assert "1 compared as the same, although words or class differ" in shown
    assert 'href="findings.json"' in shown
    assert "logs/findings.json" not in shown
    assert 'href="#findings"' in shown
