"""What a user sees of the runs under way."""

import io
import threading

from rich.console import Console

from harness.engine.run_board import RunBoard, estimate
from harness.model.arms import Role
from harness.model.runs import Outcome, RunKey, RunResult


def key(scenario, arm="stock"):
    return RunKey(scenario, arm, 1)


def done(scenario, seconds, arm="stock", outcome=Outcome.PASSED, expectation="", reason=""):
    return RunResult(scenario, arm, Role.BASE, 1, outcome, expectation, reason, seconds=seconds)


def test_what_is_left_is_shared_by_the_clusters_side_by_side():
    assert estimate([key("a"), key("b")], {}, [], 2) == estimate([key("a")], {}, [], 1)


def test_a_scenario_that_has_run_before_shows_how_long_it_takes():
    assert estimate([key("a")], {}, [done("a", 20), done("a", 40), done("b", 300)], 1) == 30


def test_a_run_that_takes_longer_than_expected_is_nearly_done():
    assert estimate([], {key("a"): 100.0}, [done("a", 20)], 1) == 2


def plain(act):
    stream = io.StringIO()
    act(Console(file=stream, width=200))
    return stream.getvalue()


def test_without_a_terminal_each_run_is_one_plain_line():
    def act(console):
        with RunBoard(console, [key("a"), key("a", "patched-on")], 2) as board:
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

    def act(console):
        with RunBoard(console, keys, 2) as board:
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
    act(Console(file=io.StringIO(), force_terminal=True, width=100))
