"""What a user is told while the harness works."""

import io
import threading

import pytest
from rich.console import Console

from harness.base.progress import Reporter, duration, estimate
from harness.model.arms import Role
from harness.model.runs import Outcome, RunKey, RunResult


def key(scenario, arm="stock"):
    return RunKey(scenario, arm, 1)


def done(scenario, seconds, arm="stock", outcome=Outcome.PASSED, expectation="", reason=""):
    return RunResult(scenario, arm, Role.BASE, 1, outcome, expectation, reason, seconds=seconds)


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (125, "2 min 05 s")])
def test_durations_read_as_people_say_them(seconds, text):
    assert duration(seconds) == text


def test_what_is_left_is_shared_by_the_clusters_side_by_side():
    assert estimate([key("a"), key("b")], {}, [], 2) == estimate([key("a")], {}, [], 1)


def test_a_scenario_that_has_run_before_tells_how_long_it_takes():
    assert estimate([key("a")], {}, [done("a", 20), done("a", 40), done("b", 300)], 1) == 30


def test_a_run_that_takes_longer_than_expected_is_nearly_done():
    assert estimate([], {key("a"): 100.0}, [done("a", 20)], 1) == 2


def plain(act):
    stream = io.StringIO()
    act(Reporter(Console(file=stream, width=200)))
    return stream.getvalue()


def test_without_a_terminal_each_run_is_one_plain_line():
    def act(reporter):
        with reporter.runs([key("a"), key("a", "patched-on")], 2) as board:
            board.begin(key("a"))
            board.phase(key("a"), "start")
            board.begin(key("a", "patched-on"))
            board.end(done("a", 30, outcome=Outcome.FAILED, expectation="observer_recovers"))
            board.end(done("a", 20, "patched-on", Outcome.INCONCLUSIVE, "has_leader", "guard unmet: x\x1b"))

    lines = plain(act).splitlines()
    assert [line.split(";")[0] for line in lines[:2]] == ["  a on stock begins", "  a on patched-on begins"]
    assert lines[2].startswith("  [1/2] a on stock: FAILED(observer_recovers) in 30 s; about ")
    assert lines[3] == "  [2/2] a on patched-on: INCONCLUSIVE in 20 s — guard unmet: x\\x1b"
    assert "\x1b" not in "".join(lines)


def test_the_live_display_and_the_end_of_runs_never_wait_for_each_other():
    keys = [RunKey("a", "stock", number) for number in range(1, 120)]

    def act(reporter):
        with reporter.runs(keys, 2) as board:
            board._live.refresh_per_second = 200
            for number, each in enumerate(keys, 1):
                board.begin(each)
                board.phase(each, "start")
                board.end(RunResult("a", "stock", Role.BASE, number, Outcome.PASSED))

    worker = threading.Thread(target=lambda: on_a_terminal(act), daemon=True)
    worker.start()
    worker.join(20)
    assert not worker.is_alive()


def on_a_terminal(act):
    act(Reporter(Console(file=io.StringIO(), force_terminal=True, width=100)))


def test_downloads_are_told_once_and_not_at_all_when_all_is_cached():
    def some(reporter):
        with reporter.downloads() as bar:
            bar.advance("a.jar", 1_000_000, 2_000_000)
            bar.advance("a.jar", 2_000_000, 2_000_000)

    def none(reporter):
        with reporter.downloads():
            pass

    assert plain(some).splitlines()[-1] == "  1 file downloaded, 2 MB"
    assert plain(none) == ""
