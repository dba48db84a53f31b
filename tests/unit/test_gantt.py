"""Where the time went: noted while a verification goes on, drawn as lanes, and readable without eyes for it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_run import write_sample

from harness.model.reuse import Origin
from harness.model.runs import RunKey
from harness.model.time_book import SCHEMA, TimeBook, TimeKind, TimeSpan
from harness.report import write_reports
from harness.report.gantt import gantt, packed, used_share
from harness.report.html import render_html
from harness.rundir.directory import RunDirectory
from harness.stages.judge import judge_run
from harness.stages.timing import Stopwatch, begin_times, end_times, note, noted, timed


def span(kind: TimeKind, name: str, start: float, seconds: float, cpu: float | None = None) -> TimeSpan:
    return TimeSpan(kind, name, start, seconds, cpu)


BOOK = TimeBook(
    SCHEMA,
    "2026-11-25T14:02:00+00:00",
    2,
    (
        span(TimeKind.STAGE, "start", 0.0, 2.0, 2.0),
        span(TimeKind.STAGE, "build", 2.0, 5.0, 8.0),
        span(TimeKind.STAGE, "run", 8.0, 80.0, 120.0),
        span(TimeKind.STAGE, "diff", 88.0, 12.0, 18.0),
        span(TimeKind.PART, "Spark starts", 88.0, 5.0, 7.0),
        span(TimeKind.RUN, "turn1 on patched-off", 8.1, 24.0, 12.0),
        span(TimeKind.RUN, "turn1 on patched-on", 8.2, 20.0, 11.0),
        span(TimeKind.RUN, "turn2 on patched-off", 28.3, 39.0, 17.0),
        span(TimeKind.COVERAGE, "turn1 on patched-on", 70.0, 25.0, 14.0),
        replace(span(TimeKind.BESIDE, "upstream's tests", 8.0, 60.0), held_seconds=31.0),
    ),
)


def test_each_kind_has_its_lanes_and_clusters_side_by_side_have_one_each() -> None:
    lanes = {lane.name: [bar.box.title.partition(",")[0] for bar in lane.bars] for lane in gantt(BOOK, 99).lanes}
    assert lanes == {
        "stages": ["start", "build", "run", "diff"],
        "parts": ["Spark starts"],
        "cluster 1": ["turn1 on patched-off", "turn1 on patched-on"],
        "cluster 2": ["turn1 on patched-on", "turn2 on patched-off"],
        "beside": ["upstream's tests"],
    }


def test_what_processors_did_meanwhile_is_the_filled_part_of_a_bar_and_a_number() -> None:
    chart = gantt(BOOK, 99)
    stages = {bar.box.title.partition(",")[0]: bar for bar in chart.lanes[0].bars}
    assert stages["run"].used == round(chart.bar * 0.75, 1)
    assert stages["run"].box.title == "run, 8.0 to 88.0 s, 120.0 CPU s (75 % of the processors)"
    tests = chart.lanes[-1].bars[0]
    assert (tests.used, tests.box.title) == (0.0, "upstream's tests, 8.0 to 68.0 s, held for 31.0 s")
    assert chart.description == "100.0 s on 2 processors, of which 148.0 CPU seconds were used: 74 %"


def test_the_table_says_all_that_the_picture_does_in_the_order_of_time() -> None:
    rows = gantt(BOOK, 99).rows
    assert len(rows) == len(BOOK.spans)
    assert [row.start for row in rows] == sorted(row.start for row in rows)
    (tests,) = (row for row in rows if row.kind == "beside")
    assert (tests.seconds, tests.cpu_seconds, tests.used, tests.held_seconds) == (60.0, None, None, 31.0)


def test_nothing_can_be_drawn_too() -> None:
    assert gantt(replace(BOOK, spans=()), 99).lanes == ()


def test_of_more_than_is_shown_the_longest_are_and_the_others_are_counted():
    chart = gantt(BOOK, 2)
    longest = sorted((span.seconds for span in BOOK.spans), reverse=True)[:2]
    assert sorted((row.seconds for row in chart.rows), reverse=True) == longest
    assert chart.hidden == len(BOOK.spans) - 2
    assert used_share(span(TimeKind.STAGE, "judge", 1.0, 0.0, 0.0), 2) == 0.0
    assert used_share(span(TimeKind.STAGE, "judge", 1.0, 1.0, 9.0), 2) == 1.0, "clocks differ a little"


SPANS = st.lists(
    st.builds(
        span,
        st.just(TimeKind.RUN),
        st.sampled_from(["a", "b"]),
        st.floats(0, 100).map(lambda value: round(value, 2)),
        st.floats(0.01, 50).map(lambda value: round(value, 2)),
    ),
    max_size=12,
)


@given(SPANS)
def test_lanes_hold_every_span_once_none_over_another_and_are_as_few_as_can_be(spans: list[TimeSpan]) -> None:
    lanes = packed(spans)
    assert sorted(map(repr, (each for lane in lanes for each in lane))) == sorted(map(repr, spans))
    for lane in lanes:
        assert all(one.end <= other.start for one, other in pairwise(lane))
    at_once = max((sum(s.start <= each.start < s.end for s in spans) for each in spans), default=0)
    assert len(lanes) == at_once


@given(SPANS)
def test_bars_stay_within_the_picture(spans: list[TimeSpan]) -> None:
    chart = gantt(replace(BOOK, spans=tuple(spans)), 99)
    for lane in chart.lanes:
        for bar in lane.bars:
            assert chart.left <= bar.box.x <= bar.box.x + bar.box.width <= chart.width
            assert 0 <= bar.used <= chart.bar


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return RunDirectory(write_sample(tmp_path))


def test_the_report_has_the_chart_folded_with_a_description_and_a_table_where_it_was_asked_for(
    directory: RunDirectory,
) -> None:
    record = judge_run(directory)
    assert "gantt" not in write_reports(directory, record).read_text().replace(".gantt ", "")
    directory.times.write(BOOK)
    page = write_reports(directory, record).read_text()
    assert page == write_reports(directory, record).read_text()
    (chart,) = re.findall(r"<svg class=\"timeline gantt\".*?</svg>", page, re.DOTALL)
    assert 'role="img" aria-labelledby="gantt-title" aria-describedby="gantt-desc"' in chart
    assert "<title>run, 8.0 to 88.0 s, 120.0 CPU s (75 % of the processors)</title>" in chart
    assert chart.count('<rect class="span ') == len(BOOK.spans)
    assert '<caption id="spans-caption">' in page
    assert page.index('<details class="more" id="times">') < page.index("gantt-title")
    assert "<script>alert" not in page


def test_names_that_are_no_words_stay_text(directory: RunDirectory) -> None:
    hostile = replace(BOOK.spans[0], name='"><script>alert(1)</script>', seconds=90.0)
    page = render_html(judge_run(directory), {}, times=replace(BOOK, spans=(hostile,)))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_damaged_book_costs_the_chart_and_not_the_report(directory: RunDirectory) -> None:
    directory.times.path.write_text("{")
    assert "gantt-title" not in write_reports(directory, judge_run(directory)).read_text()


def spans_of(directory: RunDirectory) -> list[tuple[str, str]]:
    return [(each.kind.value, each.name) for each in directory.times.read().spans]


def test_stages_and_their_parts_are_noted_only_where_this_command_was_asked_to(directory: RunDirectory) -> None:
    with timed(directory, "diff"), noted(directory, "Spark starts"):
        pass
    assert not directory.times.exists
    begin_times(directory)
    with timed(directory, "diff"), noted(directory, "Spark starts"):
        pass
    note(directory, Stopwatch(), TimeKind.BESIDE, "upstream's tests", held_seconds=1.5)
    wanted = [("stage", "start"), ("part", "Spark starts"), ("stage", "diff"), ("beside", "upstream's tests")]
    assert spans_of(directory) == wanted
    book = directory.times.read()
    assert book.spans[0].seconds > 0
    assert all(each.start >= book.spans[0].seconds - 0.1 for each in book.spans[1:])
    assert book.spans[-1].held_seconds == 1.5


def test_another_process_does_not_add_to_it_nor_a_later_command(directory: RunDirectory) -> None:
    begin_times(directory)
    directory.times.write(replace(directory.times.read(), process="1 1.0"))
    with timed(directory, "judge"):
        pass
    assert spans_of(directory) == [("stage", "start")]
    begin_times(directory)
    end_times(directory)
    before = directory.times.read()
    with timed(directory, "judge"):
        pass
    assert directory.times.read() == before


def at(directory: RunDirectory, key: RunKey, day: datetime) -> None:
    """Have the journal of a run be of another day."""
    path = directory.run(key).journal

    def lines() -> Iterator[str]:
        for text in path.read_text().splitlines():
            entry = json.loads(text)
            moved = day.timestamp() + entry["t"]
            yield json.dumps({**entry, "at": datetime.fromtimestamp(moved, UTC).isoformat(timespec="milliseconds")})

    path.write_text("".join(f"{line}\n" for line in lines()))


def test_runs_are_noted_from_their_journals_but_for_those_of_before(directory: RunDirectory) -> None:
    """The sample's journals are of 2026-03-01; a resumed verification has runs of yesterday, a reused one of others."""
    began = datetime.fromtimestamp(4_000_000_000, UTC)
    own, taken = RunKey("turn2", "patched-on", 1), RunKey("turn2", "stock", 1)
    for key in (own, taken):
        at(directory, key, began)
    result = directory.run(taken).result
    result.write(replace(result.read(), origin=Origin("/out/first", "2026-11-25T14:02:00+00:00", "a" * 64)))
    directory.times.write(replace(BOOK, began=began.isoformat(), spans=()))
    end_times(directory)
    (found,) = directory.times.read().spans
    assert (found.kind, found.name, found.start) == (TimeKind.RUN, "turn2 on patched-on", 0.0)
    assert found.seconds > 30
    assert found.cpu_seconds == 17.4


PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}


def test_the_cpu_seconds_of_a_living_child_and_of_what_it_waited_for_count() -> None:
    """Runs are forked by a process that lives on, and nodes by those."""
    worker = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'for _ in range(2 * 10**7): pass'])"
    watch = Stopwatch()
    with subprocess.Popen([sys.executable, "-c", f"{worker}; print(flush=True); input()"], **PIPES) as child:
        child.stdout.readline()
        assert watch.cpu_seconds > 0.05
        child.stdin.close()
