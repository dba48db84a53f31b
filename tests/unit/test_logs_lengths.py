"""How long a log is: neither an odd date nor a pause hides a flood, and a log of an instant is compared by counts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.logs.cautions import cautions
from harness.logs.compare.contrasts import contrast
from harness.logs.log_diff import counts_of
from harness.logs.log_lengths import exposures
from harness.logs.read.active_time import MINUTE, MINUTES, PAUSE, ActiveTime, active_time
from harness.logs.read.blocks import LogFile, whole
from harness.logs.read.event_counts import WHOLE_LOG, Reading
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.library import ORIGIN
from harness.logs.read.pipeline import FileCounts, join
from harness.model.findings import FindingKind
from harness.model.node_logs import NodeLogs

READING = Reading(compile_layout(KAFKA_DEFAULT), (WHOLE_LOG,))
START = datetime(2026, 11, 21, 14, 28, 58, tzinfo=UTC)
DAY = 86_400


def line(second: float, text: str = "ok", level: str = "INFO") -> str:
    stamp = (START + timedelta(seconds=second)).replace(tzinfo=None).isoformat(" ", "milliseconds").replace(".", ",")
    return f"[{stamp}] {level} {text} (a.B)"


def counted(name: str, lines: list[str]) -> FileCounts:
    content = pa.scalar("".join(f"{each}\n" for each in lines).encode(), pa.binary())
    file = join(name, whole(content, LogFile(name, READING)), READING)
    origin = pl.DataFrame({"statement": "", "wording": "", "values": [[]]}, schema=ORIGIN)
    return FileCounts(file.counts.join(origin, how="cross"), file.total, ())


def node(arm: str) -> NodeLogs:
    return NodeLogs("logs", arm, 1, 1, "node", (arm,), KAFKA_DEFAULT, (WHOLE_LOG,))


def findings(a: list[str], b: list[str]):
    nodes, files = [node("a"), node("b")], {"a": counted("a", a), "b": counted("b", b)}
    counts = list(counts_of(nodes, files))
    found = contrast("a", "b", counts, exposures(nodes, files)).findings
    return [(each.kind, each.level, each.base_count, each.candidate_count) for each in found]


def steady(errors: int, start: float = 0) -> list[str]:
    ok = [line(start + second) for second in range(0, 600, 10)]
    return [*ok, *(line(start + 300 + number / 100, "it broke", "ERROR") for number in range(errors))]


FLOOD = [(FindingKind.RATE, "ERROR", 2, 400)]


@pytest.mark.parametrize(
    "odd",
    [[line(-56 * 365 * DAY)], [line(30 * DAY)], [line(30 * DAY), line(90 * DAY)], [line(-9 * 365 * DAY), line(DAY)]],
    ids=["1970", "a month", "two pauses", "both"],
)
def test_an_odd_date_or_a_pause_hides_no_flood(odd):
    assert findings(steady(2), [*steady(400), *odd]) == FLOOD
    assert findings(steady(2), [*odd, *steady(400)]) == FLOOD


def test_files_that_one_process_writes_side_by_side_make_it_no_longer():
    """Else a folder that lacks a file of one side's would have all of its lines three times as often."""
    beside = ("k/server.log", "k/controller.log", "k/state-change.log.2026-11-21-14")
    files = {name: counted(name, steady(0)) for name in (*beside, "k/broker-1.log", "k/broker-2.log")}
    files["k/server.log.1"] = counted("k/server.log.1", steady(0, start=600))

    def seconds(*names):
        (found,) = exposures([replace(node("a"), files=(name,)) for name in names], files).values()
        return found

    assert seconds(*beside) == seconds("k/server.log") == 590
    assert seconds(*beside, "k/server.log.1") == 1180, "what was rolled goes on where it ended"
    assert seconds("k/broker-1.log", "k/broker-2.log") == 1180, "two nodes"
    of_audit = [each.replace("(a.B)", "(a.Audit)") for each in steady(0)]
    files |= {name: counted(name, of_audit) for name in ("k/audit.log", "other/broker-1.log")}
    assert seconds("k/broker-1.log", "k/audit.log") == 590, "what loggers of their own write beside it"
    assert seconds("k/server.log", "k/audit.log") == 590
    assert seconds("k/broker-1.log", "other/broker-1.log") == 1180, "another folder"


def test_a_flood_in_an_instant_is_one():
    assert findings([line(0)], [line(0)] * 1000) == [(FindingKind.RATE, "INFO", 1, 1000)]


def test_what_goes_on_all_day_is_no_more_frequent_in_a_longer_log():
    def hourly(hours: int) -> list[str]:
        return [line(second) for second in range(0, hours * 3600, 600)]

    assert findings(hourly(10), hourly(40)) == []


def test_a_jump_ahead_is_told_and_a_quiet_night_too():
    files = {"b.log": counted("b.log", [*steady(0), line(30 * DAY)])}
    assert cautions(files) == ["b.log: its times jump ahead by 719.8 h; its length is reckoned without."]
    assert cautions({"b.log": counted("b.log", steady(0))}) == []


def test_a_quiet_log_with_a_line_each_half_hour_is_as_long_as_its_day():
    """Beside it the same log with a new line each second must not make all others rare."""
    start, quiet = [*range(0, 20_000, 1000)], [*range(30 * MINUTE, 48 * 30 * MINUTE, 30 * MINUTE)]
    assert active_time(minutes_of([*start, *quiet])) == ActiveTime(quiet[-1], 0)
    odd = [*start, *quiet, 10**12]
    assert active_time(minutes_of(odd)) == ActiveTime(quiet[-1], 10**12 - quiet[-1])


def test_five_pauses_that_are_nearly_alike_are_a_rhythm():
    minutes = (0.0, 29.9, 59.9, 89.9, 120.0, 150.2)
    at = [int(each * MINUTE) for each in minutes]
    assert active_time(minutes_of(at)) == ActiveTime(at[-1], 0)
    assert active_time(minutes_of(at[:-1])).idle > 0, "four are none"


times = st.lists(st.integers(0, 10 * PAUSE), min_size=1, max_size=20)


def minutes_of(at: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"minute": [each // MINUTE for each in at], "first_at": at, "last_at": at}, schema=MINUTES)


@given(times)
def test_length_and_pauses_are_the_whole_span_and_without_long_pauses_there_are_none(at):
    found = active_time(minutes_of(at))
    assert found.length + found.idle == max(at) - min(at)
    if all(later - earlier <= PAUSE for earlier, later in pairwise(sorted(at))):
        assert found.idle == 0


@given(times, st.integers(10_000, 10**9).map(lambda minutes: minutes * MINUTE))
def test_a_pause_longer_than_all_else_changes_no_length(at, pause):
    known = active_time(minutes_of(at))
    assert active_time(minutes_of([*at, max(at) + pause])) == ActiveTime(known.length, known.idle + pause)


@pytest.mark.parametrize("odd", ["[1970-01-01 00:00:07,123] INFO clock not set yet (a.B)", "a rest"])
def test_one_line_of_another_time_makes_no_start_of_two_logs_a_rate(odd):
    first = line(-40 * DAY, "clock not set yet") if odd == "a rest" else odd
    start = [line(at / 2, "Starting part") for at in range(30)]
    nodes = [node("a"), node("b")]
    logs = {
        name: [first, *start, *(line(at, "beat") for at in range(16, end))] for name, end in (("a", 1000), ("b", 100))
    }
    files = {name: counted(name, lines) for name, lines in logs.items()}
    counts = list(counts_of(nodes, files))
    found = contrast("a", "b", counts, exposures(nodes, files)).findings
    assert [each.template for each in found if each.template != "beat"] == []


def test_what_a_start_logs_is_no_rate_where_the_log_was_rotated_in_the_middle_of_it():
    def parts(arm: str, end: int) -> dict[str, FileCounts]:
        lines = [*(line(at / 2, "Starting part") for at in range(30)), *(line(at, "beat") for at in range(16, end))]
        return {name: counted(name, part) for name, part in ((f"{arm}.1", lines[:25]), (arm, lines[25:]))}

    files = parts("a", 1000) | parts("b", 100)
    nodes = [replace(node(name[0]), files=(name,), node=number) for number, name in enumerate(files)]
    found = contrast("a", "b", list(counts_of(nodes, files)), exposures(nodes, files)).findings
    assert [each.template for each in found if each.template != "beat"] == []
