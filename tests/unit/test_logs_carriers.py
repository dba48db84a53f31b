"""Logs as people have them: behind kubectl, docker, journald, syslog, several of these, or anything else."""

import json

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from log_forms import AROUND, AROUND_UNKNOWN, EVENTS, LAYOUTS, OBJECTS, TRACE, Event, around, objects, plain

from harness.base.errors import HarnessError
from harness.logs.read.blocks import LogFile, whole
from harness.logs.read.carriers import CARRIERS, ways
from harness.logs.read.event_counts import WHOLE_LOG, Reading
from harness.logs.read.layout import COMMON, KAFKA_DEFAULT, compile_layout
from harness.logs.read.layout_detection import detect

STAMP = "2026-11-21T14:28:58.949123456Z"


def counted(layout, lines):
    """Return what is counted of a whole file, but for its sizes and the texts and lines of the first events."""
    content = pa.scalar("".join(f"{line}\n" for line in lines).encode(), pa.large_binary())
    rows = whole(content, LogFile("x.log", Reading(layout, (WHOLE_LOG,))))
    kept = rows.filter(pl.col("part").is_in(["event", "item"])).sort("part", "template", "level", "logger")
    return kept.drop("bytes", "head_bytes", "line", "lines", "excerpt").to_dicts()


def as_kafka_writes(events):
    return counted(compile_layout(KAFKA_DEFAULT), plain(events))


@pytest.mark.parametrize(("carrier", "put"), AROUND.values(), ids=AROUND)
def test_a_log_behind_a_carrier_is_read_unasked_as_the_log_itself_is_with_its_stack_traces(carrier, put):
    lines = around(EVENTS, put)
    layout = detect(lines)
    assert layout is not None
    assert layout.pattern == f"{carrier} | {KAFKA_DEFAULT}"
    assert compile_layout(layout.pattern) == layout
    assert counted(layout, lines) == as_kafka_writes(EVENTS)


@pytest.mark.parametrize("put", AROUND_UNKNOWN.values(), ids=AROUND_UNKNOWN)
def test_what_stands_before_every_line_and_is_in_no_table_is_read_off_the_lines(put):
    lines = around(EVENTS, put)
    layout = detect(lines)
    assert layout is not None
    assert layout.pattern.startswith("/^")
    assert compile_layout(layout.pattern) == layout
    assert counted(layout, lines) == as_kafka_writes(EVENTS)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("around_it", ["", "kubectl --timestamps", "docker's json-file", "docker compose logs"])
def test_events_of_any_layout_are_read_unasked_whatever_carried_them(layout, around_it):
    put = AROUND[around_it][1] if around_it else lambda _, line: line
    lines = around(EVENTS, put, layout)
    found = detect(lines)
    assert found is not None, layout
    assert counted(found, lines) == as_kafka_writes(EVENTS)


@pytest.mark.parametrize("form", OBJECTS)
@pytest.mark.parametrize("around_it", ["", *AROUND])
def test_events_that_are_json_objects_are_read_unasked_whatever_carried_them(form, around_it):
    lines = objects(EVENTS, form)
    if around_it:
        lines = [AROUND[around_it][1](event.at, line) for event, line in zip(EVENTS, lines, strict=True)]
    layout = detect(lines)
    assert layout is not None
    assert layout.pattern.endswith(f"json | {KAFKA_DEFAULT}")
    assert counted(layout, lines) == as_kafka_writes(EVENTS)


VERBOSE = "Sat 2026-11-21 14:28:58.949123 UTC [s=1f;i=2a;b=3;m=4;t=5;x=6]"
AMONG_OTHERS = {
    "journalctl": lambda who, pid, line: f"Nov 21 14:28:58 host-1 {who}[{pid}]: {line}",
    "syslog, as rsyslog writes files": lambda who, _, line: f"Nov 21 14:28:58 host-1 {who}: {line}",
    "syslog, RFC 5424": lambda who, pid, line: f"<14>1 {STAMP} host {who} {pid} - - {line}",
    "journalctl -o json": lambda who, pid, line: json.dumps(
        {"SYSLOG_IDENTIFIER": who, "MESSAGE": line, "_PID": str(pid)}
    ),
    "journalctl -o json-sse": lambda who, pid, line: "data: " + json.dumps({"_PID": str(pid), "MESSAGE": line}),
    "Vector": lambda who, pid, line: json.dumps({"SYSLOG_IDENTIFIER": who, "_PID": str(pid), "message": line}),
    "journalctl -o export": lambda who, pid, line: (
        f"__CURSOR=s=1\nSYSLOG_IDENTIFIER={who}\nMESSAGE={line}\n_PID={pid}\n"
    ),
    "journalctl -o verbose": lambda who, pid, line: (
        f"{VERBOSE}\n    _PID={pid}\n    MESSAGE={line}\n    SYSLOG_IDENTIFIER={who}"
    ),
    "journalctl of containers": lambda who, pid, line: f"Nov 21 14:28:58 h {who}[9]: {STAMP} {line}",
}


@pytest.mark.parametrize("put", AMONG_OTHERS.values(), ids=AMONG_OTHERS)
def test_what_other_programs_wrote_among_the_lines_of_an_event_is_no_part_of_it(put):
    lines = [put("systemd", 1, "Started Kafka.")]
    for line in plain(EVENTS):
        lines += [put("kafka", 4711, line), put("systemd", 1, "Consumed 3s CPU time."), put("kernel", 0, "\tat x")]
    lines = "\n".join(lines).split("\n")
    assert counted(detect(lines), lines) == as_kafka_writes(EVENTS)


def test_what_a_process_says_before_its_first_event_is_no_part_of_the_last_event_of_the_one_before():
    put = AMONG_OTHERS["journalctl"]
    lines = [put("kafka", 4711, line) for line in plain(EVENTS)]
    lines += [put("kafka", 4800, "===> Running ..."), *(put("kafka", 4800, line) for line in plain(EVENTS))]
    assert counted(detect(lines), lines) == as_kafka_writes([*EVENTS, *EVENTS])


@pytest.mark.parametrize("mark", ["-- Boot 9d1f --", "-- Logs begin at Sat 2026-11-21. --", "-- cursor: s=1;i=2"])
def test_where_a_boot_or_a_journal_begins_is_no_part_of_an_event(mark):
    lines = [each for line in plain(EVENTS) for each in (AMONG_OTHERS["journalctl"]("kafka", 4711, line), mark)]
    assert counted(detect(lines), lines) == as_kafka_writes(EVENTS)


def test_what_explains_the_line_of_another_program_is_no_part_of_an_event():
    put = AMONG_OTHERS["journalctl"]
    lines = [put("kafka", 4711, line) for line in plain(EVENTS)]
    lines += [put("systemd", 1, "Stopping Kafka..."), "░░ Subject: A stop job has begun execution", "░░ "]
    assert counted(detect(lines), lines) == as_kafka_writes(EVENTS)


texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=40)
an_event = st.builds(
    Event,
    st.integers(0, 10**7),
    st.sampled_from(["DEBUG", "INFO", "WARN", "ERROR"]),
    st.one_of(texts, st.lists(texts.map("\t{}".format), min_size=1, max_size=3).map("\n".join)),
    st.sampled_from(["a.B", "kafka.log.LogManager$", "state.change.logger"]),
    st.sampled_from([(), TRACE]),
)


@given(st.lists(an_event, max_size=9), st.sampled_from(list(AROUND)))
@example([Event(0, "INFO", '{"log": "[2026-11-21 14:28:58,949] INFO x (a.B)"}')] * 3, "docker's json-file")
def test_any_carrier_around_any_events_gives_the_events_back(events, carrier):
    events = [*EVENTS, *events]
    lines = around(events, AROUND[carrier][1])
    layout = detect(lines)
    assert layout is not None
    assert counted(layout, lines) == as_kafka_writes(events)


MANY_LINES = [Event(7, "INFO", "Config values:\n\ta.b = 1\n\tc = 2", "a.B")] * 30


@pytest.mark.parametrize("carrier", ["", *AROUND])
def test_a_log_of_messages_of_many_lines_is_read_with_the_logger_that_stands_after_the_last(carrier):
    events = [*EVENTS, *MANY_LINES]
    lines = around(events, AROUND[carrier][1]) if carrier else plain(events)
    layout = detect(lines)
    assert layout is not None
    assert layout.pattern.endswith(KAFKA_DEFAULT)
    assert counted(layout, lines) == as_kafka_writes(events)


PREFIXES = [name for name, (carrier, _) in AROUND.items() if carrier in ("kubectl", "kubelet", "journald", "compose")]


@given(st.lists(an_event, max_size=5), st.sampled_from(PREFIXES), st.sampled_from(list(AROUND)))
def test_any_carrier_around_another_gives_the_events_back(events, inner, outer):
    events = [*EVENTS, *events]
    put_inner, put_outer = AROUND[inner][1], AROUND[outer][1]
    lines = around(events, lambda at, line: put_outer(at, put_inner(at, line)))
    layout = detect(lines)
    assert layout is not None
    assert counted(layout, lines) == as_kafka_writes(events)


LONG = Event(70, "INFO", "x" * 40_000 + " 17", "a.B", TRACE)
PIECE = 16_384  # bytes of a line that docker and the kubelet keep together


def torn_by_the_kubelet(line):
    *torn, last = [line[at : at + PIECE] for at in range(0, max(len(line), 1), PIECE)]
    return [*(f"{STAMP} stdout P {each}" for each in torn), f"{STAMP} stdout F {last}"]


def torn_by_docker(line, **attributes):
    pieces = [f"{line}\n"[at : at + PIECE] for at in range(0, len(line) + 1, PIECE)]
    return [json.dumps({"log": piece, "stream": "stdout", **attributes, "time": STAMP}) for piece in pieces]


def torn_by_docker_with_labels(line):
    return torn_by_docker(line, attrs={"tag": "kafka-0", "of": "{a}"})


@pytest.mark.parametrize("torn", [torn_by_the_kubelet, torn_by_docker, torn_by_docker_with_labels])
def test_a_line_that_was_torn_is_one_again(torn):
    lines = [piece for line in plain([*EVENTS, LONG]) for piece in torn(line)]
    assert counted(detect(lines), lines) == as_kafka_writes([*EVENTS, LONG])


@pytest.mark.parametrize("form", OBJECTS)
@pytest.mark.parametrize("torn", [torn_by_the_kubelet, torn_by_docker, torn_by_docker_with_labels])
def test_an_object_that_was_torn_is_one_again_before_it_is_read_as_an_event(torn, form):
    events = [LONG, *EVENTS, LONG]
    lines = [piece for line in objects(events, form) for piece in torn(line)]
    layout = detect(lines)
    assert layout is not None
    assert layout.pattern.endswith(f" | json | {KAFKA_DEFAULT}")
    assert counted(layout, lines) == as_kafka_writes(events)


@pytest.mark.parametrize("form", OBJECTS)
@pytest.mark.parametrize("around_it", ["", "kubectl --timestamps"])
@pytest.mark.parametrize("between", ["\n", ",\n"])
def test_objects_of_several_lines_are_events(form, around_it, between):
    written = between.join(json.dumps(json.loads(each), indent=2) for each in objects(EVENTS, form)).split("\n")
    lines = [AROUND[around_it][1](EVENTS[0].at, line) for line in written] if around_it else ["[", *written, "]"]
    layout = detect(lines)
    assert layout is not None
    assert layout.pattern.endswith(f"pretty | {KAFKA_DEFAULT}")
    assert counted(layout, lines) == as_kafka_writes(EVENTS)


def test_journalds_export_is_read_without_its_other_fields():
    fields = "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1795271338949000\n_HOSTNAME=h\nMESSAGE={}\n_PID=4711\n"
    lines = [each for line in plain(EVENTS) for each in fields.format(line).split("\n")]
    layout = detect(lines)
    assert layout.pattern == f"export | {KAFKA_DEFAULT}"
    assert counted(layout, lines) == as_kafka_writes(EVENTS)


def test_journalctls_verbose_form_is_read_without_its_other_fields():
    lines = [
        each
        for line in plain(EVENTS)
        for each in (VERBOSE, "    PRIORITY=6", "    _HOSTNAME=h", f"    MESSAGE={line}", "    _PID=4711")
    ]
    layout = detect(lines)
    assert layout.pattern == f"verbose | {KAFKA_DEFAULT}"
    assert counted(layout, lines) == as_kafka_writes(EVENTS)


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("line", [*plain(EVENTS), "{}", '{"x": 1}', "", '{"log": broken', '{"log": "x" broken}'])
def test_a_line_that_was_not_carried_stays_as_it_is(carrier, line):
    is_none = carrier == "export" and not line  # an empty line separates what it carries
    assert CARRIERS[carrier].unwrapped(pl.Series([line])).to_list() == [None if is_none else line]


@pytest.mark.parametrize("message", ["[12]", "[007]", "[1,2]", "[300]", '"MESSAGE": [7]'])
def test_a_message_that_looks_like_numbers_of_bytes_is_none(message):
    lines = pl.Series([json.dumps({"_PID": "1", "MESSAGE": message})])
    assert CARRIERS["journal"].unwrapped(lines).to_list() == [message]


def test_a_log_that_nothing_carried_has_no_carrier():
    assert [way.carriers for way in ways(pl.Series(plain(EVENTS)))] == [()]
    assert detect(plain(EVENTS)).pattern == KAFKA_DEFAULT


def test_events_behind_something_that_stands_before_no_other_line_are_found_by_their_own_beginning():
    lines = [
        line if line.startswith(("\t", "java", "Caused", " (")) else f"prod7 kafka {line}" for line in plain(EVENTS)
    ]
    assert detect(lines).pattern == f"%x{KAFKA_DEFAULT}"


def test_a_layout_that_was_named_is_tried_behind_carriers_too():
    pattern = COMMON[6]
    lines = [f"{STAMP} 2026-11-21 14:28:58,949 INFO hello (a.B)"]
    assert detect(lines, pattern).pattern == f"kubectl | {pattern}"


def test_loggers_of_any_name_fit_a_layout_that_was_named():
    assert detect(["2026-11-21 14:28:58,949 INFO hello (reflections)"] * 3, COMMON[6]).pattern == COMMON[6]


def test_an_expression_may_be_named_for_what_stands_before_every_line():
    layout = compile_layout(r"compose | /^\d+ / | [%d] %p %m (%c)%n")
    assert layout.unwrapped(pl.Series(["kafka-0 | 17 \tat a.B"])).to_list() == ["\tat a.B"]


def test_an_expression_that_is_none_is_refused():
    with pytest.raises(HarnessError, match="no regular expression"):
        compile_layout("/^(/ | [%d] %p %m (%c)%n")
