"""Events that are JSON objects: each one is an event, whatever it lacks, and what was thrown is below it."""

import json

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.logs.read.carriers import CARRIERS
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.layout_detection import detect

TIME = {"@timestamp": "2026-11-21T14:28:58.949Z"}
EVENT = {**TIME, "level": "ERROR", "logger": "a.B", "message": "it broke"}
WRITTEN = "[2026-11-21 14:28:58,949] ERROR it broke (a.B)"
TRACE = "java.io.IOException: gone\n\tat a.B.c(B.java:1)\nCaused by: java.net.ConnectException: refused"
FRAME = {"class": "a.B", "method": "c", "file": "B.java", "line": 1}
CAUSE = {"name": "java.net.ConnectException", "message": "refused"}
PARTS = {"name": "java.io.IOException", "message": "gone", "extendedStackTrace": [FRAME], "cause": CAUSE}


def written(line: str | dict) -> str:
    return CARRIERS["json"].unwrapped(pl.Series([line if isinstance(line, str) else json.dumps(line)])).item()


@pytest.mark.parametrize(
    "thrown",
    [
        {"stack_trace": TRACE},
        {"stackTrace": TRACE.split("\n")},
        {"stacktrace": TRACE},
        {"exception": TRACE},
        {"throwable": TRACE},
        {"exception": {"exception_class": "java.io.IOException", "exception_message": "gone", "stacktrace": TRACE}},
        {"exception.type": "java.io.IOException", "exception.stacktrace": TRACE},
        {"error": {"type": "java.io.IOException", "stack_trace": TRACE}},
        {"error.stack_trace": TRACE, "error.message": "gone"},
        {"thrown": PARTS},
        {"thrown": {**PARTS, "extendedStackTrace": TRACE}},
        {"thrown": [PARTS]},
    ],
    ids=lambda thrown: json.dumps(thrown)[:40],
)
def test_what_was_thrown_stands_below_its_event_wherever_an_appender_puts_it(thrown):
    assert written(EVENT | thrown) == f"{WRITTEN}\n{TRACE}"


@pytest.mark.parametrize(
    "stamp",
    [
        TIME,
        {"timestamp": "2026-11-21T15:28:58,949+0100"},
        {"time": "2026-11-21 14:28:58.949"},
        {"timestamp": "2026-11-21T14:28:58.949123456Z"},
        {"timeMillis": 1795271338949},
        {"timestamp": "1795271338949"},
        {"ts": 1795271338.949},
        {"time": 1795271338949123456},
        {"instant": {"epochSecond": 1795271338, "nanoOfSecond": 949000000}},
    ],
    ids=str,
)
def test_times_are_read_in_whatever_way_they_are_written(stamp):
    assert written({**{name: value for name, value in EVENT.items() if name not in TIME}, **stamp}) == WRITTEN


@pytest.mark.parametrize(
    ("level", "read"),
    [
        ("error", "ERROR"),
        ("Warning", "WARN"),
        ("SEVERE", "ERROR"),
        ("CRITICAL", "FATAL"),
        ("fine", "DEBUG"),
        (7, "DEBUG"),
        (99, "INFO"),
    ],
)
def test_levels_have_log4js_names(level, read):
    assert written(EVENT | {"level": level}) == WRITTEN.replace("ERROR", read)
    assert written({**TIME, "severity": level, "logger": "a.B", "message": "it broke"}) == WRITTEN.replace(
        "ERROR", read
    )


values = st.one_of(st.none(), st.text(), st.integers(), st.lists(st.text(), max_size=2))


@given(
    st.fixed_dictionaries(
        {"@timestamp": st.just(TIME["@timestamp"]), "level": st.sampled_from(["ERROR", "warning", "x"])},
        optional=dict.fromkeys(("logger", "message", "exception", "thrown"), values),
    )
)
def test_every_object_with_a_time_begins_an_event_whatever_else_it_has_or_lacks(event):
    layout = compile_layout(KAFKA_DEFAULT)
    text = pl.lit(written(event))
    assert pl.select(layout.starts(text)).item()
    assert (
        pl.select(layout.parse(text)).item()["level"]
        == {"ERROR": "ERROR", "warning": "WARN", "x": "INFO"}[event["level"]]
    )


@pytest.mark.parametrize("key", ["logLevel", "loglevel", "log_level", "lvl", "severityText", "status"])
def test_a_level_has_many_names(key):
    assert written({**TIME, key: "error", "logger": "a.B", "message": "it broke"}) == WRITTEN


@pytest.mark.parametrize("level", [3, 50, 40_000, "3"], ids=["syslog", "pino", "logback", "as text"])
def test_a_level_may_be_a_number(level):
    assert written(EVENT | {"level": level}) == WRITTEN


@given(st.integers(len('{"@timestamp": "2026-11-21T14:28:58.949Z", "level": "ERROR"'), len(json.dumps(EVENT)) - 1))
def test_an_object_that_is_torn_after_its_level_is_an_event_of_that_level(end):
    line = json.dumps(EVENT)[:end]
    assert written(line) == f"[2026-11-21 14:28:58,949] ERROR {line} (-)"


@pytest.mark.parametrize(
    "line", ['{"log":"x","stream":"stdout","time":"2026-11-21T14:28:58.949Z"}', '{"level":"ERROR"}', "{"]
)
def test_what_is_no_event_stays_as_it_is(line):
    assert written(line) == line


HUGE = 10**400
NAMES = ("@timestamp", "time", "instant", "level", "logger", "message", "short_message", "thrown", "log.level", "log")
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([HUGE, -HUGE]) | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, "epochSecond", "name"]), inner)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "event",
    [
        {**EVENT, "@timestamp": {"epochSecond": HUGE}},
        {"instant": {"epochSecond": 1, "nanoOfSecond": HUGE}, "level": "INFO"},
        {**TIME, "short_message": "x", "level": [1]},
        {**TIME, "short_message": "x", "level": {"name": 3}},
    ],
)
def test_a_number_that_no_clock_has_and_a_level_that_is_none_break_nothing(event):
    line = json.dumps(event)
    assert written(line) in (line, "[2026-11-21 14:28:58,949] INFO x (-)")


def test_half_a_character_is_shown_as_what_cannot_be_read():
    assert written(json.dumps({**EVENT, "message": "it \ud800 broke"})) == WRITTEN.replace("it", "it \ufffd")


@given(
    st.fixed_dictionaries(
        {"@timestamp": st.just(TIME["@timestamp"]) | anything, "short_message": anything, "level": anything},
        optional=dict.fromkeys(sorted({*NAMES} - {"@timestamp", "short_message", "level"}), anything),
    )
)
def test_no_object_is_more_than_can_be_read(event):
    assert isinstance(written(event), str)


def test_messages_that_begin_with_a_context_name_no_thread():
    assert detect([json.dumps(EVENT | {"message": "[RaftManager id=1] hello"})]).pattern == f"json | {KAFKA_DEFAULT}"


stamps = st.one_of(
    st.datetimes().map(lambda at: at.isoformat(timespec="milliseconds") + "Z"),
    st.datetimes().map(lambda at: at.isoformat(" ", "microseconds").replace(".", ",")),
    st.sampled_from(["2026-02-30T14:28:58.949Z", "2026-11-21T14:28:58.949+01:00", "", "x"]),
    st.integers(0, 2 * 10**9),
)
instants = st.fixed_dictionaries(
    {"epochSecond": st.integers(-(10**12), 10**12), "nanoOfSecond": st.integers(0, 10**9 - 1)}
)
plain_texts = st.one_of(st.text(), st.sampled_from(["a.B", "{}", '{"message": "x"}', "\x00", "ERROR", "a (b)", "\\ud"]))
plain_objects = st.fixed_dictionaries(
    {
        "@timestamp": stamps,
        "level": st.sampled_from(["INFO", "ERROR", "warning", "", 7]),
        "logger": st.one_of(st.just("a.B"), plain_texts),
        "message": plain_texts,
    },
    optional={
        "timestamp": stamps,
        "log.level": st.just("WARN"),
        "loggerName": st.just("a.C"),
        **dict.fromkeys(("msg", "error", "x"), plain_texts),
        "log": st.just({"level": "ERROR"}),
    },
)
of_instants = st.fixed_dictionaries(
    {"instant": instants, "level": st.just("INFO"), "loggerName": st.just("a.B"), "message": st.text()}
)


@given(st.lists(st.one_of(plain_objects, of_instants), min_size=1, max_size=5), st.booleans(), st.booleans())
@example([{**EVENT, "logger": "\x1f"}], False, False)
def test_what_is_written_all_at_once_is_what_is_written_object_by_object(events, ascii_only, compact):
    separators = (",", ":") if compact else (", ", ": ")
    lines = [json.dumps(event, ensure_ascii=ascii_only, separators=separators) for event in events]
    lines = [line for line in lines if "\\ud" not in line.lower()]
    together = CARRIERS["json"].unwrapped(pl.Series(lines, dtype=pl.String)).to_list()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "harness.logs.read.flat_objects.written", lambda each: pl.Series([None] * len(each), dtype=pl.String)
        )
        assert together == [written(line) for line in lines]


def test_one_line_that_is_no_json_leaves_the_events_around_it_as_they_are():
    lines = [json.dumps(EVENT), '{"@timestamp": torn', "plain", json.dumps(EVENT)]
    assert CARRIERS["json"].unwrapped(pl.Series(lines)).to_list() == [WRITTEN, *lines[1:3], WRITTEN]
