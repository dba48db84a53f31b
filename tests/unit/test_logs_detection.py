"""Which layout a log is read in, and that no event is lost to the one before it whatever stands where."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from harness.logs.read.blocks import LogFile, whole
from harness.logs.read.event_counts import WHOLE_LOG, Reading
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.layout_detection import layouts_of

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


@given(st.lists(st.sampled_from(["[main] it began", "it broke", "[a] b [c] d"]), min_size=1, max_size=12))
def test_an_event_begins_with_date_and_level_whether_or_not_it_names_a_thread(texts):
    lines = [plain(text, "ERROR" if text == "it broke" else "INFO") for text in texts]
    found = events(WITH_THREAD, lines)
    assert sum(count for *_, count in found) == len(lines)
    assert sum(count for level, _, count in found if level == "ERROR") == texts.count("it broke")
