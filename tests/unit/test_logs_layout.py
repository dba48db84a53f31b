"""Conversion patterns become parsers that read back what log4j wrote with them."""

import dataclasses
import datetime

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.logs.read.layout import COMMON, KAFKA_DEFAULT, compile_layout
from harness.logs.read.layout_detection import detect
from harness.model.findings import LEVELS

AT = datetime.datetime(2026, 11, 21, 14, 28, 58, 949000)
MESSAGE = "[RaftManager id=3] Node 0 disconnected."
LOGGER = "org.apache.kafka.clients.NetworkClient"


def written(pattern: str, *, level="INFO", message=MESSAGE, logger=LOGGER, thread="main", trace="") -> str:
    """Return the event that log4j would write."""
    t_format = "%d{yyyy-MM-dd'T'HH:mm:ss.SSS}"
    text = pattern.replace(t_format, f"{AT:%Y-%m-%dT%H:%M:%S}.949").replace("%d{ISO8601}", "%d")
    text = text.replace("%d{yyyy-MM-dd HH:mm:ss.SSS}", f"{AT:%Y-%m-%d %H:%M:%S}.949")
    text = text.replace("%pid", "4711").replace("%X", "1").replace("%L", "123").replace("%c{1}", "%c")
    for long, short in (("%thread", "%t"), ("%-5level", "%-5p"), ("%logger", "%c"), ("%msg", "%m")):
        text = text.replace(long, short)
    text = text.replace("%d", f"{AT:%Y-%m-%d %H:%M:%S},949").replace("%-5p", f"{level:5}").replace("%p", level)
    text = (
        text.replace("%5p", f"{level:>5}")
        .replace("%-40c", "%c")
        .replace("%t", thread)
        .replace("%c", logger)
        .replace("%n", "")
        .replace("%m", message)
    )
    return text + (f"\n{trace}" if trace else "")


def parsed(pattern: str, text: str) -> dict[str, object]:
    """Return the fields of an event, the time by both ways to it if there are two."""
    layout = compile_layout(pattern)
    searched = dataclasses.replace(layout, at_place=None)
    at, found = (pl.select(each.at(pl.lit(text))).item() for each in (layout, searched))
    assert at == found
    return {"at": at, **pl.select(layout.parse(pl.lit(text))).item()}


def starts(pattern: str, line: str) -> bool:
    return bool(pl.select(compile_layout(pattern).starts(pl.lit(line))).item())


@pytest.mark.parametrize("pattern", [*COMMON, "%d{ISO8601} %-5p [%c] %m%n"])
@pytest.mark.parametrize("level", ["INFO", "ERROR"])
def test_an_event_is_read_back_field_by_field(pattern, level):
    event = parsed(pattern, written(pattern, level=level))
    assert {
        "at": AT,
        "level": level,
        "logger": LOGGER,
        "thread": "main" if "%t" in pattern else "",
        "message": MESSAGE,
        "rest": "",
    } == event


@given(
    st.sampled_from(COMMON), st.sampled_from(LEVELS), st.text(st.characters(codec="utf-8", exclude_characters="\n\r"))
)
def test_any_message_of_one_line_is_kept_to_the_letter(pattern, level, message):
    text = written(pattern, level=level, message=message, logger="a.B")
    event = parsed(pattern, text)
    read_back = written(pattern, level=level, message=event["message"], logger=event["logger"], thread=event["thread"])
    # A message may itself end like the layout, as in `x (a.B)`; then what follows is told as the rest, not lost.
    assert text == read_back + event["rest"]


signs = st.text(st.characters(categories=("P", "S", "Z"), exclude_characters="%{}"), max_size=4)


@given(signs, signs, signs, signs)
@example("<", "> ", " │ ", "")
@example("\xa0", "« ", " → ", " ·")
def test_whatever_signs_stand_around_its_parts_an_event_is_read_back(before, between, then, behind):
    pattern = f"{before}%d{between}%p{then}%m{behind}%n"
    text = written(pattern)
    assert starts(pattern, text)
    found = parsed(pattern, text)
    assert (found["at"], found["level"], found["message"]) == (AT, "INFO", MESSAGE)


def test_a_stack_trace_is_the_rest_of_its_event():
    trace = "java.io.IOException: gone\n\tat a.B.c(B.java:1)"
    event = parsed(KAFKA_DEFAULT, written(KAFKA_DEFAULT, trace=trace))
    assert (MESSAGE, LOGGER, f"\n{trace}") == (event["message"], event["logger"], event["rest"])


def test_a_message_of_several_lines_ends_at_the_line_that_ends_as_the_pattern_says():
    message = "KafkaConfig values: \n\tbroker.id = 0\n\tlog.dirs = null\n"
    event = parsed(KAFKA_DEFAULT, written(KAFKA_DEFAULT, message=message, logger="kafka.server.KafkaConfig"))
    assert (message, "kafka.server.KafkaConfig", "") == (event["message"], event["logger"], event["rest"])


def test_an_event_whose_end_was_lost_keeps_its_text_as_message():
    event = parsed(KAFKA_DEFAULT, written(KAFKA_DEFAULT)[:57])
    assert (event["level"], event["logger"], event["message"]) == ("INFO", "", "[RaftManager id=3] Node 0 ")


def test_a_date_that_no_calendar_has_is_null():
    assert parsed(KAFKA_DEFAULT, "[2026-13-41 99:00:00,000] INFO x (a.B)")["at"] is None


@pytest.mark.parametrize("line", ["\tat a.B.c(B.java:1)", "", "Caused by: x", " [2026-11-21 14:28:58,949] INFO x (a)"])
def test_a_continuation_line_starts_no_event(line):
    assert not starts(KAFKA_DEFAULT, line)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("%d %p%n", "exactly one %m"),
        ("%d %m %m%n", "exactly one %m"),
        ("%d %m", "%n at its end"),
        ("%d%n%m%n", "%n at its end"),
        ("%p %m%n", "needs %d before %m"),
        ("%m %d%n", "needs %d before %m"),
        ("%d{HH:mm:ss} %m%n", "day and time"),
        ("%d{ABSOLUTE} %m%n", "cannot be read|day and time"),
        ("%d{yyyy-MM-dd HH:mm:ss zzz} %m%n", "'zzz', which cannot be read"),
        ("%d %q %m%n", "%q is not a conversion"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_refused_with_the_reason(pattern, why):
    with pytest.raises(HarnessError, match=why):
        compile_layout(pattern)


@pytest.mark.parametrize("pattern", COMMON)
def test_each_common_layout_is_recognised_by_its_lines(pattern):
    lines = [written(pattern), written(pattern, message="no brackets here", thread="kafka-0-raft-io-thread")]
    assert pattern == detect(["a line of a banner", *lines]).pattern


def test_a_component_in_brackets_is_not_taken_for_a_thread():
    lines = [written(KAFKA_DEFAULT), written(KAFKA_DEFAULT), written(KAFKA_DEFAULT, message="Starting")]
    assert detect(lines).pattern == KAFKA_DEFAULT


def test_lines_that_fit_no_layout_have_none():
    assert detect(["[0.005s][info][gc] Using Serial", "\x00\x01"]) is None


LINES = [
    ("%d{ISO8601} %p %m (%c) [%t]%n", f"2026-11-21T14:28:58,949 INFO {MESSAGE} ({LOGGER}) [main]"),
    ("%date{yyyy-MM-dd HH:mm:ss.SSS}{UTC} %level{length=5} [%X{id}] %c{1.} - %msg%xEx{short}%n",
     f"2026-11-21 14:28:58.949 INFO [] {LOGGER} - {MESSAGE}"),
    ("%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %pid [%-15.15thread] %-5level %logger{39}:%line %message%n%nopex",
     f"2026-11-21T15:28:58.949+01:00 4711 [main           ] INFO  {LOGGER}:12 {MESSAGE}"),
    ("%d{EEE dd MMM yyyy HH:mm:ss,SSS Z} %marker%p %logger: %m%n%throwable",
     f"Sat 21 Nov 2026 16:28:58,949 +0200 INFO {LOGGER}: {MESSAGE}"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "line"), LINES)
def test_the_words_of_log4j_2_and_logback_are_read(pattern, line):
    event = parsed(pattern, line)
    assert tuple(event[name] for name in ("at", "level", "logger", "message")) == (AT, "INFO", LOGGER, MESSAGE)


def test_times_of_a_zone_that_cannot_be_known_are_refused():
    with pytest.raises(HarnessError, match="Europe/Berlin"):
        compile_layout("%d{ISO8601}{Europe/Berlin} %m%n")
