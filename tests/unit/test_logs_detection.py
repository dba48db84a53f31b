"""Which layout a log is read in, and that no event is lost to the one before it whatever stands where."""

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.logs.read.blocks import LogFile, whole
from harness.logs.read.event_counts import MAX_EVENT, WHOLE_LOG, Reading
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.layout_detection import detect, layouts_of
from harness.logs.read.layout_fit import dated, without_others
from harness.logs.read.places import lines_of

WITH_THREAD = "[%d] %p [%t] %m (%c)%n"


def plain(text: str, level: str = "INFO", second: int = 58) -> str:
    return f"[2026-11-21 14:28:{second:02},949] {level} {text} (a.B)"


def events(pattern: str, lines: list[str]) -> list[tuple[str, str, int]]:
    """Return level, template and number of what is counted of a whole file."""
    content = pa.scalar("".join(f"{line}\n" for line in lines).encode(), pa.binary())
    rows = whole(content, LogFile("x.log", Reading(compile_layout(pattern), (WHOLE_LOG,))))
    return [tuple(row) for row in rows.filter(part="event").select("level", "template", "count").iter_rows()]


def test_a_log_whose_lines_all_begin_with_a_context_is_read_as_the_log_beside_it():
    contexts = [plain(f"[Controller id={number}] Started") for number in range(9)]
    found = layouts_of({"a/state-change.log": contexts, "b/server.log": [*contexts, plain("Started")], "none": ["x"]})
    assert {name: layout.pattern for name, layout in found.items()} == {
        "a/state-change.log": KAFKA_DEFAULT,
        "b/server.log": KAFKA_DEFAULT,
    }


def test_threads_that_all_logs_name_are_threads():
    lines = [plain("[main] Started"), plain("[kafka-0-raft-io-thread] [RaftManager id=0] Leader")]
    assert [layout.pattern for layout in layouts_of({"a": lines, "b": lines[1:]}).values()] == [WITH_THREAD] * 2


def test_threads_are_no_part_of_a_message_though_the_logs_beside_name_none():
    threads = ["main", "kafka-0-raft-io-thread", "kafka-producer-network-thread | producer-1", "SIGTERM handler", "t-1"]
    with_threads = [plain(f"[{name}] Started") for name in threads]
    with_contexts = [plain(f"[{name}] Started") for name in ("RaftManager id=1", "Controller 1", "sink|task-0", "t-1")]
    logs = {"a": with_threads, "b": with_contexts, "c": [plain("Started"), plain("[Broker id=1] Started")]}
    assert [layout.pattern for layout in layouts_of(logs).values()] == [WITH_THREAD, KAFKA_DEFAULT, KAFKA_DEFAULT]


@given(st.lists(st.sampled_from(["[main] it began", "it broke", "[a] b [c] d"]), min_size=1, max_size=12))
def test_an_event_begins_with_date_and_level_whether_or_not_it_names_a_thread(texts):
    lines = [plain(text, "ERROR" if text == "it broke" else "INFO") for text in texts]
    found = events(WITH_THREAD, lines)
    assert sum(count for *_, count in found) == len(lines)
    assert sum(count for level, _, count in found if level == "ERROR") == texts.count("it broke")


JSON = '{{"@timestamp":"2026-11-21T14:28:58.949Z","level":"{}","logger":"a.B","message":"it {}"}}'
CARRIED = "2026-11-21T14:28:58.949123456Z {}"


@pytest.mark.parametrize(
    ("lines", "pattern"),
    [
        ([plain("one")] + [JSON.format("ERROR", "broke")] * 3, f"json | {KAFKA_DEFAULT}"),
        ([plain("one")] + [CARRIED.format(plain("it broke", "ERROR"))] * 3, f"kubectl | {KAFKA_DEFAULT}"),
        ([plain("one")] + [f"prod7 kafka {plain('it broke', 'ERROR')}"] * 3, f"%x{KAFKA_DEFAULT}"),
        ([plain("one")] * 3 + [f"prod7 kafka {plain('it broke', 'ERROR')}"], KAFKA_DEFAULT),
    ],
    ids=["json", "kubectl", "unknown", "mostly plain"],
)
def test_the_layout_that_explains_most_lines_wins_whatever_stands_first(lines, pattern):
    assert detect(lines).pattern == pattern


@pytest.mark.parametrize(
    "behind", ["{}", CARRIED, '{{"log":"{}\\n","stream":"stdout"}}'], ids=["", "kubectl", "docker"]
)
def test_colours_hide_no_event(behind):
    escape = "\\u001b" if "log" in behind else "\x1b"
    coloured = f"{escape}[1;31m{plain('it broke', 'ERROR')}{escape}[m"
    level = plain("it broke", "ERROR").replace("ERROR", f"{escape}[31mERROR{escape}[0;39m")
    lines = [behind.format(each) for each in (plain("one"), coloured, level)]
    assert events(detect(lines).pattern, lines) == [("INFO", "one", 1), ("ERROR", "it broke", 2)]


@pytest.mark.parametrize(
    "line",
    [
        JSON.format("error", "broke"),
        CARRIED.format("2026-11-21 14:28:58,949 [main] ERROR a.B - it broke"),
        "Nov 21, 2026 2:28:58 PM a.B SEVERE: 14:28:58 it broke",
    ],
)
def test_lines_that_look_like_events_of_another_layout_are_counted(line):
    lines = [line, "", "\tat a.B.c(B.java:1)", "Caused by: java.io.IOException: ERROR", line]
    left, odd = without_others(pl.Series(lines), pl.Series([False] * len(lines)))
    assert odd.to_list() == [line, line]
    assert left.to_list() == [None] * len(lines)
    left, odd = without_others(pl.Series(lines), pl.Series([False, True, False, False, True]))
    assert (odd.to_list(), left.to_list()) == ([line], [None, *lines[1:]])


def test_a_log_whose_lines_end_in_carriage_returns_is_recognised():
    head = "".join(f"{plain(text)}\r\n" for text in ("one", "two")).encode()
    assert detect(lines_of(head, 200)).pattern == KAFKA_DEFAULT


def test_a_first_line_that_is_longer_than_a_sample_is_recognised_by_its_beginning():
    head = plain("x" * 2 * MAX_EVENT).encode()[:MAX_EVENT]
    assert detect(lines_of(head, 200)).pattern == KAFKA_DEFAULT
    assert detect(["x" * MAX_EVENT]) is None


def test_a_log_that_begins_with_pages_of_anything_is_sampled_further_on():
    lines = ["\tat a.B.c(B.java:1)"] * 5_000 + [plain("one")] * 300
    assert dated(lines, 200) == [plain("one")] * 200


def test_a_layout_that_a_few_lines_of_an_export_happen_to_fit_is_none():
    """A table of CloudWatch: what it quotes are Kafka's lines, and only one kind of these looks like a layout."""
    odd = "[MetadataLoader id=1] InitializeNewPublishers: initializing Snapshot"
    texts = [
        odd if number % 8 == 0 else "Error while reading checkpoint (kafka.server.BrokerServer)" for number in range(24)
    ]
    lines = [f'"2026-11-21 14:29:02,000","{plain(text, "ERROR").removesuffix(" (a.B)")}"' for text in texts]
    assert detect(lines) is None


COLLECTOR = "[2026-11-21T14:29:04.949+0000] GC(4) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(64M) 3.2ms"


@pytest.mark.parametrize("line", [COLLECTOR, "[12.3s][info][gc] GC(4) Pause Young (Normal) 24M->4M(64M) 3.2ms"])
def test_what_the_garbage_collector_writes_among_events_is_no_part_of_one(line):
    told = [plain("it broke", "ERROR"), line, "java.io.IOException: gone", line, plain("it goes on"), line]
    without = [each for each in told if each != line]
    assert events(KAFKA_DEFAULT, told) == events(KAFKA_DEFAULT, without)
