"""A layout that fits no line is answered with one that does, read off the lines and tried on them."""

import polars as pl
import pytest

from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.layout_fit import fitting
from harness.logs.read.proposals import layout_mismatch, propose

MESSAGES = (
    ("INFO", "kafka.server.KafkaServer", "main", "started (kafka.server.Other) at 12:00"),
    ("WARN", "org.apache.kafka.raft.KafkaRaftClient", "raft-io-thread", "[RaftManager id=3] lost: the leader"),
    ("ERROR", "a.B$C", "pool-1-thread-2", "Exiting Kafka"),
)
DATES = {
    "%d": "2026-01-02 03:04:05,678",
    "%d{yyyy-MM-dd HH:mm:ss.SSS}": "2026-01-02 03:04:05.678",
    "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX}": "2026-01-02T03:04:05.678+01:00",
    "%d{yyyy-MM-dd'T'HH:mm:ss.SSSZ}": "2026-01-02T03:04:05.678+0100",
    "%d{yyyy/MM/dd HH:mm:ss}": "2026/01/02 03:04:05",
    "%d{DATE}": "02 Jan 2026 03:04:05,678",
}
SHAPES = (
    ("[%d] %p %m (%c)%n", "[{d}] {p} {m} ({c})"),
    ("%d %-5p [%t] %c: %m%n", "{d} {p:<5} [{t}] {c}: {m}"),
    ("%d [%t] %-5p %c - %m%n", "{d} [{t}] {p:<5} {c} - {m}"),
    ("%p [%d] (%t) %c | %m%n", "{p} [{d}] ({t}) {c} | {m}"),
    ("%d|%p|%c|%m%n", "{d}|{p}|{c}|{m}"),
)


def lines(shape, date):
    return [shape.format(d=date, p=level, c=logger, t=thread, m=text) for level, logger, thread, text in MESSAGES]


@pytest.mark.parametrize(("pattern", "shape"), SHAPES, ids=[pattern for pattern, _ in SHAPES])
@pytest.mark.parametrize("date", DATES)
def test_the_pattern_of_lines_is_read_off_them(pattern, shape, date):
    assert propose(lines(shape, DATES[date])) == pattern.replace("%d", date)


def test_a_stack_trace_between_the_lines_does_not_hide_their_pattern():
    shown = lines(SHAPES[0][1], DATES["%d"])
    trace = [
        "java.lang.IllegalStateException: no",
        "\tat a.B.c(B.java:1)",
        "Caused by: a.D: since 2026-01-02 03:04:05,678",
    ]
    assert propose([*shown, *trace]) == SHAPES[0][0]


@pytest.mark.parametrize(
    "text",
    [
        [],
        [""],
        ["no date at all"],
        ["\x00\xff2026"],
        ["2026-01-02 03:04:05,678"] * 2,
        ["at 2026-01-02 03:04:05,678 all was well"],
    ],
)
def test_nothing_is_proposed_that_does_not_fit(text):
    found = propose(text)
    assert not found or fitting(compile_layout(found), pl.Series(text)) == len(text)


def test_lines_of_many_kinds_have_no_pattern():
    assert propose([shape.format(d=DATES["%d"], p="INFO", c="a.B", t="main", m="x") for _, shape in SHAPES]) == ""


def test_a_misfit_names_the_file_the_pattern_the_first_lines_and_what_would_fit():
    shown = lines(*[SHAPES[1][1]], DATES["%d"])
    error = layout_mismatch("nodes/3/server.log", KAFKA_DEFAULT, shown)
    assert "nodes/3/server.log" in error.message
    assert KAFKA_DEFAULT in error.message
    assert "1: 2026-01-02 03:04:05,678 INFO " in error.message
    assert error.hint == "They fit this one: --layout '%d %-5p [%t] %c: %m%n'"


def test_a_mismatch_of_lines_without_any_pattern_asks_for_it():
    error = layout_mismatch("nodes/3/server.log", KAFKA_DEFAULT, ["one", "two", "three", "four"])
    assert "1: one | 2: two | 3: three" in error.message
    assert "four" not in error.message
    assert "--layout" in error.hint
