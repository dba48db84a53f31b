"""How much nodes log: floods by level, stack traces by their bytes, in any log and of any size."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.scenario import log_volume
from harness.scenario.log_volume import LoggedSpan, measures_of_logs, printed_lines, volume_of

STAMP = "[2026-11-22 10:00:00,000] "


@pytest.fixture
def logged(tmp_path):
    def write(text, seconds=10.0, kind="voter", start=0):
        (log := tmp_path / "server.log").write_text(text)
        return LoggedSpan(kind, log, start, log.stat().st_size, seconds)

    return write


def test_lines_are_counted_by_level_and_what_stands_below_them_is_bytes(logged):
    text = f"{STAMP}INFO a (x)\n{STAMP}ERROR b (x)\n\tat java.lang.Thread.run\n{STAMP}FATAL c (x)\n no ERROR (x)\n"
    found = volume_of(logged(text))
    assert found.lines == {"debug": 0, "info": 1, "warn": 0, "error": 2}
    assert found.size == len(text)
    info = len(f"{STAMP}INFO a (x)\n")
    assert found.bytes == {"debug": 0, "info": info, "warn": 0, "error": len(text) - info}
    assert sum(found.bytes.values()) == found.size


def test_only_the_part_that_was_written_in_the_span_counts(logged):
    before = f"{STAMP}WARN early (x)\n" * 7
    assert volume_of(logged(before + f"{STAMP}WARN late (x)\n", start=len(before))).lines["warn"] == 1


def test_lines_that_lie_across_what_is_read_at_once_count_once(logged, monkeypatch):
    monkeypatch.setattr(log_volume, "_CHUNK", 64)
    text = f"{STAMP}INFO a rather long line (x)\n\tat a frame of a stack\n{STAMP}WARN short (x)\n" * 500
    found = volume_of(logged(text))
    assert (found.lines["info"], found.lines["warn"]) == (500, 500)
    assert sum(found.bytes.values()) == len(text)
    assert found.bytes["warn"] == 500 * len(f"{STAMP}WARN short (x)\n")


def test_a_flood_is_counted_by_its_beginning(logged):
    text = f"{STAMP}INFO a (x)\n" * 1000
    assert volume_of(logged(text), most=len(text) // 10).lines["info"] == pytest.approx(1000, rel=0.02)


def test_a_log_without_any_line_end_takes_no_more_memory_than_is_read_at_once(logged, monkeypatch):
    monkeypatch.setattr(log_volume, "_CHUNK", 64)
    assert volume_of(logged(f"{STAMP}INFO " + "x" * 10_000)).lines["info"] <= 1


def test_a_log_that_is_not_there_has_nothing(tmp_path):
    found = volume_of(LoggedSpan("voter", tmp_path / "none", 0, 0, 1.0))
    assert (sum(found.lines.values()), found.size) == (0, 0)


def test_rates_are_those_of_the_node_of_a_kind_that_logs_most_over_all_its_lives(logged, tmp_path):
    span = logged(f"{STAMP}INFO a (x)\n" * 30, seconds=25.0)
    again, other = replace(span, start=span.end, seconds=5.0), replace(span, log=tmp_path / "another", seconds=90.0)
    other.log.write_text(f"{STAMP}WARN a (x)\n" * 90)
    found = measures_of_logs([span, again, replace(other, end=other.log.stat().st_size)])
    assert (found["voter_info_lines_per_second"], found["voter_warn_lines_per_second"]) == (1.0, 1.0)
    assert found["voter_error_lines_per_second"] == found["voter_error_kilobytes_per_second"] == 0.0
    assert found["voter_info_kilobytes_per_second"] == found["voter_log_kilobytes_per_second"]
    assert found["voter_log_kilobytes_per_second"] == pytest.approx(span.end / 30_000, abs=1e-3)


def test_a_node_that_lived_for_seconds_is_no_flood_by_its_start(logged):
    assert measures_of_logs([logged(f"{STAMP}INFO a (x)\n" * 40, seconds=1.0)])["voter_info_lines_per_second"] == 2.0


def test_bytes_are_counted_as_operators_log_them_without_what_is_logged_at_debug(logged):
    found = measures_of_logs(
        [logged(f"{STAMP}DEBUG {'x' * 5000} (x)\n" * 400 + f"{STAMP}INFO a (x)\n" * 2000, seconds=20.0)]
    )
    assert found["voter_debug_kilobytes_per_second"] > 100
    assert found["voter_log_kilobytes_per_second"] == found["voter_info_kilobytes_per_second"] > 1


def test_rates_of_a_window_have_its_name(logged):
    found = measures_of_logs([logged(f"{STAMP}WARN a (x)\n", kind="observer")], "idle")
    assert found["idle_observer_warn_lines_per_second"] == 0.1


def test_a_node_that_did_not_live_has_no_rates(logged):
    assert measures_of_logs([logged("", seconds=0.0)]) == {}


DUMP = "2026-11-29 00:00:00\nFull thread dump OpenJDK 64-Bit Server VM (21):\n\n" + '"main" #1 prio=5\n' * 100


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("ab F", max_size=9), max_size=20), st.booleans(), st.booleans())
def test_printed_lines_count_up_to_a_dump_of_threads_wherever_a_part_that_is_read_at_once_ends(
    tmp_path, lines, is_whole, is_dumped
):
    text = "\n".join([*lines, ""]) if is_whole else "\n".join(lines)
    (tmp_path / "out").write_text(text + "\n" * is_dumped + DUMP * is_dumped)
    counted = len((text + "\n").splitlines()) + 1 if is_dumped else len(text.splitlines())
    for size in (1, 7, 64, 2**20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(log_volume, "_CHUNK", size)
            assert printed_lines(tmp_path / "out") == counted


def test_a_node_that_printed_nothing_or_was_never_started_has_no_printed_lines(tmp_path):
    (tmp_path / "out").write_text("")
    assert (printed_lines(tmp_path / "out"), printed_lines(tmp_path / "nowhere")) == (0, 0)
