"""Events, places and totals come out the same wherever a file is cut into pieces, and nothing is lost."""

import json
import re
from collections import Counter
from itertools import pairwise

import polars as pl
import pyarrow as pa
import pytest
from examples import costly
from hypothesis import given
from hypothesis import strategies as st
from log_forms import AROUND, EVENTS, Event, around, objects

from harness.logs.read.blocks import LINES, PARTIAL, LogFile, cut, decoded, partials, path_of, whole
from harness.logs.read.event_counts import MAX_EVENT, OUTSIDE, WHOLE_LOG, Reading, count, zeroed
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.layout_detection import detect
from harness.logs.read.masks import template_of
from harness.logs.read.pipeline import FileCounts, join
from harness.model.node_logs import PhaseSpan

READING = Reading(
    compile_layout(KAFKA_DEFAULT),
    (PhaseSpan("start", 1000.0, 1010.0), PhaseSpan("stop", 1020.0, 1030.0)),
)
HEADER = re.compile(r"\[1970-01-01 00:(\d\d):(\d\d),000\] (INFO|WARN) ")

seconds = st.integers(990, 1040)
headers = st.builds(
    lambda at, level, text: f"[1970-01-01 00:{at // 60:02}:{at % 60:02},000] {level} {text}",
    seconds,
    st.sampled_from(["INFO", "WARN"]),
    st.sampled_from(["Node 0 disconnected. (a.B)", "Node 17 disconnected. (a.B)", "Leader (a.B)", "open", " (a.B)"]),
)
continuations = st.sampled_from(
    ["", "\tat a.B.c(B.java:1)", "java.io.IOException: gone", "second line (a.B)", "[1970", "\t... 3 more", "x\r"]
)
logs = st.lists(st.one_of(headers, headers, continuations), max_size=30)
cuts = st.lists(st.integers(0, 30), max_size=6)


def line_by_line(lines: list[str]) -> tuple[Counter, dict, int]:
    """Do the same work one line at a time: counts, the first line of each, and how many lines precede the events."""
    events: list[tuple[int, list[str]]] = []
    before = 0
    for number, line in enumerate(lines, 1):
        if HEADER.match(line):
            events.append((number, [line.removesuffix("\r")]))
        elif events:
            events[-1][1].append(line.removesuffix("\r"))
        else:
            before += 1
    counts, first = Counter(), {}
    for number, text in events:
        key = read_one("\n".join(text))
        counts[key] += 1
        first.setdefault(key, number)
    return counts, first, before


def read_one(text: str) -> tuple[str, str, str, str]:
    at = HEADER.match(text)
    time = int(at[1]) * 60 + int(at[2])
    phase = "start" if 1000 <= time < 1010 else "stop" if 1020 <= time < 1030 else OUTSIDE
    body, logger = text[at.end() :], ""
    end = re.search(r" \(a\.B\)$", body, re.MULTILINE)
    if end:
        body, logger = body[: end.start()] + body[end.end() :], "a.B"
    kept = [line for n, line in enumerate(body.split("\n")) if n == 0 or not re.match(r"\t(at |\.\.\. \d+ more)", line)]
    return phase, at[3], logger, template_of("\n".join(kept).rstrip())


def in_pieces(lines: list[str], cuts: list[int], batch: int, reading: Reading = READING) -> FileCounts:
    """Read the lines as Spark would hand them out: cut into blocks, blocks out of order, in batches."""
    edges = sorted({0, *(cut for cut in cuts if cut < len(lines)), len(lines)})
    blocks = [
        pl.DataFrame([(7, start, line.encode()) for line in lines[start:end]], schema=LINES, orient="row")
        for start, end in pairwise(edges)
    ]
    batches = [piece.slice(at, batch) for piece in reversed(blocks) for at in range(0, piece.height, batch)]
    rows = list(partials(batches, {7: LogFile("f", reading)}))
    return join("f", pl.concat(rows) if rows else PARTIAL.to_frame(), reading)


@given(logs, cuts, st.integers(1, 40))
def test_counts_and_places_are_those_of_a_line_by_line_reader_however_the_file_is_cut(lines, cuts, batch):
    counts, first, before = line_by_line(lines)
    file = in_pieces(lines, cuts, batch)
    found = file.counts.select("phase", "level", "logger", "template", "count", "line").rows()
    assert counts == {row[:4]: row[4] for row in found}
    assert first == {row[:4]: row[5] for row in found}
    assert before == file.total.unparsed_lines


@given(logs, cuts, st.integers(1, 40))
def test_every_line_and_byte_is_an_events_or_unparsed(lines, cuts, batch):
    total = in_pieces(lines, cuts, batch).total
    assert len(lines) == total.lines == total.event_lines + total.unparsed_lines
    assert len("".join(f"{line}\n" for line in lines)) == total.bytes == total.event_bytes + total.unparsed_bytes
    assert sum(bool(HEADER.match(line)) for line in lines) == total.events


@given(logs, cuts, cuts, st.integers(1, 40), st.integers(1, 40))
def test_excerpts_are_the_same_however_the_file_is_cut(lines, cuts, others, batch, another):
    one, two = in_pieces(lines, cuts, batch), in_pieces(lines, others, another)
    key = ["phase", "level", "logger", "template"]
    assert one.counts.sort(key).equals(two.counts.sort(key))
    assert one.unparsed == two.unparsed


def test_a_configuration_dump_is_counted_key_by_key_beside_its_event():
    dump = ["[1970-01-01 00:16:41,000] INFO KafkaConfig values: ", "\tbroker.id = 0", "\tlog.dir = null", "\track = "]
    file = in_pieces([*dump, "\t (kafka.server.KafkaConfig)"], [2], 1)
    assert file.counts.select("part", "template", "line").rows() == [
        ("event", "KafkaConfig values:", 1),
        ("item", "KafkaConfig: broker.id = <n>", 2),
        ("item", "KafkaConfig: log.dir = null", 3),
        ("item", "KafkaConfig: rack =", 4),
    ]
    assert {"kafka.server.KafkaConfig"} == set(file.counts["logger"])


def test_an_exception_is_reported_by_what_it_says_and_not_by_its_frames():
    trace = ["java.io.IOException: epoch 3", "\tat a.B.c(B.java:1)", "Caused by: x.Y: z", "\t... 12 more"]
    file = in_pieces(["[1970-01-01 00:16:41,000] WARN Failed (a.B)", *trace], [], 9)
    assert file.counts["template"].to_list() == ["Failed\njava.io.IOException: epoch <n>\nCaused by: x.Y: z"]
    assert file.counts["excerpt"][0].endswith("\t... 12 more")


def test_an_endless_event_is_cut_and_counted_once():
    lines = ["[1970-01-01 00:16:41,000] INFO x (a.B)", *["y" * 10_000] * 20]
    file = in_pieces(lines, [3, 9], 2)
    assert (1, 200_000 + 20 + len(lines[0]) + 1) == (file.total.events, file.total.bytes)
    assert len(file.counts["template"][0]) <= MAX_EVENT


def test_a_time_without_a_phase_is_outside_and_so_is_an_impossible_date():
    lines = ["[1970-01-01 00:17:35,000] INFO x (a.B)", "[1970-02-31 00:16:41,000] INFO y (a.B)"]
    assert {OUTSIDE} == set(in_pieces(lines, [], 9).counts["phase"])


def test_a_phase_begins_with_its_start_and_ends_before_its_end():
    lines = [f"[1970-01-01 00:16:{second},000] INFO x (a.B)" for second in (39, 40, 49, 50)]
    found = in_pieces(lines, [], 9).counts.select("phase", "count").rows()
    assert sorted(found) == [(OUTSIDE, 2), ("start", 2)]


def test_no_events_are_no_counts():
    assert count(pl.DataFrame(schema={"line": pl.Int64, "text": pl.String}), READING).is_empty()


def test_a_path_is_found_again_in_the_name_that_spark_gives_it():
    assert path_of("file:///tmp/a%20b/%5Bc%5D%25.log") == "/tmp/a b/[c]%.log"
    assert path_of("/tmp/a%20b") == "/tmp/a%20b"
    assert path_of("s3a://bucket/a%20b/%25.log") == "s3a://bucket/a b/%.log"


@given(st.lists(st.text(max_size=30), max_size=20))
def test_texts_lose_nothing_but_which_digits_they_have(texts):
    found = zeroed(pl.Series(texts, dtype=pl.String)).to_list()
    assert [re.sub("[0-9]", "0", text).encode() for text in texts] == found


@given(st.lists(st.sampled_from(["a.Log4jB", "a.Log5jB", "a.B"]), max_size=12))
def test_loggers_that_differ_in_a_digit_stay_two(loggers):
    file = in_pieces(
        [f"[1970-01-01 00:16:4{n % 10},000] INFO x {n} ({each})" for n, each in enumerate(loggers)], [3], 5
    )
    named = {row["logger"]: row["count"] for row in file.counts.to_dicts()}
    assert {each: loggers.count(each) for each in loggers} == named


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xff", b"\xc3\xa9"]), max_size=20), st.integers(1, 4))
def test_a_whole_file_has_the_lines_that_its_newlines_end(pieces, at_once):
    content = b"".join(pieces)
    expected = content.split(b"\n")[: -1 if content.endswith(b"\n") or not content else None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.logs.read.blocks.AT_ONCE", at_once)
        pieces = list(cut(pa.scalar(content, pa.binary())))
    assert expected == [line for piece in pieces for line in piece.to_list()]


def test_a_byte_order_mark_is_no_part_of_a_files_first_line():
    (lines,) = cut(pa.scalar(b"\xef\xbb\xbfone\ntwo", pa.binary()))
    assert lines.to_list() == [b"one", b"two"]


@given(logs, cuts, st.integers(1, 40), st.booleans())
def test_a_whole_file_has_the_counts_of_its_pieces(lines, cuts, at_once, newline):
    content = "".join(f"{line}\n" for line in lines)
    content = content if newline or not lines or not lines[-1] else content[:-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.logs.read.blocks.AT_ONCE", at_once)
        rows = whole(pa.scalar(content.encode(), pa.binary()), LogFile("f", READING))
    file, pieces = join("f", rows, READING), in_pieces(lines, cuts, 40)
    assert file.counts.equals(pieces.counts)
    assert file.total == pieces.total
    assert file.unparsed == pieces.unparsed


@given(st.binary(max_size=12))
def test_bytes_that_are_no_text_are_replaced_as_python_does(content):
    assert decoded(pl.Series([content, b"x"])).to_list() == [content.decode("utf-8", "replace"), "x"]


@pytest.mark.parametrize("indent", ["\t", "\t\t", "    ", " \t"])
def test_frames_are_left_out_however_they_are_indented_and_no_other_line_is(indent):
    frames = [f"{indent}at java.base/java.lang.Thread.run(Thread.java:1)", f"{indent}... 3 more"]
    kept = ["java.io.IOException: gone", f"{indent}Suppressed: java.io.IOException: busy", "  at the end"]
    lines = ["[1970-01-01 00:16:40,000] WARN it broke (a.B)", kept[0], *frames, kept[1], *frames, kept[2]]
    assert in_pieces(lines, [], 9).counts["template"].to_list() == ["\n".join(["it broke", *kept])]


def torn(line: str) -> list[str]:
    """Return what docker's json-file makes of a line that is longer than it keeps together."""
    pieces = [f"{line}\n"[at : at + 60] for at in range(0, len(line) + 1, 60)]
    return [json.dumps({"log": piece, "stream": "stdout", "time": "2026-11-21T14:28:58Z"}) for piece in pieces]


ODD = [*EVENTS, Event(70, "INFO", "x" * 90 + " 17"), *EVENTS]
CARRIED = {
    "docker, torn": [each for line in around(ODD, lambda _, line: line) for each in torn(line)],
    "kubectl": around(ODD, AROUND["kubectl --prefix --timestamps"][1]),
    "compose": around(ODD, AROUND["docker compose logs --timestamps"][1]),
    "objects": objects(ODD, "ECS"),
    "objects of several lines": "\n".join(
        json.dumps(json.loads(each), indent=1) for each in objects(ODD, "JsonLayout")
    ).split("\n"),
    "journald, among others": [
        *around(ODD[:2], AROUND["journalctl"][1]),
        "Nov 21 14:28:58 host-1 systemd[1]: Stopping Kafka...",
        "░░ Subject: A stop job has begun execution",
        *(
            each
            for line in around(ODD[2:], AROUND["journalctl"][1])
            for each in (line, "Nov 21 14:28:58 h systemd[1]: Consumed 3s.", "░░ Subject: It ends.", "-- Boot 1a --")
        ),
    ],
    "journald's export": [
        each
        for line in around(ODD, lambda _, line: line)
        for each in ("__REALTIME_TIMESTAMP=1795271338949000", f"MESSAGE={line}", "")
    ],
}


@costly
@given(cuts=st.lists(st.integers(0, 400), max_size=6), batch=st.integers(1, 200))
@pytest.mark.parametrize("form", CARRIED)
def test_what_was_carried_comes_out_the_same_however_the_file_is_cut(form, cuts, batch):
    lines = CARRIED[form]
    sample = around(EVENTS, AROUND["docker's json-file"][1]) if "torn" in form else lines
    reading = Reading(detect(sample), (WHOLE_LOG,))
    (whole_file, in_parts) = (in_pieces(lines, *how, reading) for how in (([], len(lines)), (cuts, batch)))
    key = ["part", "template", "level", "logger"]
    assert in_parts.counts.sort(key).equals(whole_file.counts.sort(key))
    assert in_parts.total.events == len(ODD)
    assert in_parts.total.other_lines == whole_file.total.other_lines


ENTRY = "__CURSOR=s=1\nSYSLOG_IDENTIFIER={}\nMESSAGE={}\n_PID={}\n"
ENTRIES = "\n".join(
    entry
    for line in around(ODD, lambda _, line: line)
    for entry in (ENTRY.format("kafka", line, 7), ENTRY.format("systemd", "Consumed 3s.", 1))
).split("\n")


@costly
@given(batch=st.integers(1, 60))
def test_who_wrote_an_entry_is_known_wherever_the_lines_that_are_read_at_once_end(batch):
    reading = Reading(compile_layout(f"export | {KAFKA_DEFAULT}"), (WHOLE_LOG,))
    found = in_pieces(ENTRIES, [], batch, reading)
    assert found.total.other_lines == len(ENTRIES) // 10
    assert not found.counts["template"].str.contains("Consumed").any()


@costly
@given(batch=st.integers(1, 60))
def test_a_torn_object_is_one_event_wherever_the_lines_that_are_read_at_once_end(batch):
    lines = [each for line in objects(ODD, "ECS") for each in torn(line)]
    torn_ones, whole_ones = (
        Reading(compile_layout(f"{carriers} | {KAFKA_DEFAULT}"), (WHOLE_LOG,)) for carriers in ("docker | json", "json")
    )
    found, expected = in_pieces(lines, [], batch, torn_ones), in_pieces(objects(ODD, "ECS"), [], 99, whole_ones)
    assert set(found.counts["excerpt"]) == set(expected.counts["excerpt"])
    assert found.total.events == len(ODD)
