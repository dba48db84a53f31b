"""What nodes count of themselves: lines that are read whatever stands in the file, and the figures made of them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cluster.node_figures import FiguresLine, ask_for_collection, parse_figures, read_figures, with_reporter
from harness.kafka.release_lines import line_of
from harness.model.told import Changes
from harness.scenario.raft_metrics import (
    NodeLines,
    allocated_in_window,
    changes_of_metrics,
    growth_in_window,
    measures_of_lines,
    metrics_of_roles,
)

MB = 2**20


def test_a_line_has_a_time_the_nodes_state_and_numbers():
    line = parse_figures("1795422577305 current-state=leader poll-idle-ratio-avg=0.98 commit-latency-avg=NaN gc-ms=538")
    types = {"current-state": "text", "poll-idle-ratio-avg": "decimal", "commit-latency-avg": "decimal"}
    assert line == FiguresLine(1795422577.305, "leader", {"poll-idle-ratio-avg": 0.98, "gc-ms": 538.0}, types)


@pytest.mark.parametrize(
    ("value", "kind"),
    [("7", "whole"), ("-1", "whole"), ("7.0", "decimal"), ("NaN", "decimal"), ("1.2E9", "decimal"), ("x_7", "text")],
)
def test_a_metric_is_of_the_type_that_java_writes(value, kind):
    assert parse_figures(f"1000 current-epoch={value} live=5").metrics == {"current-epoch": kind}


def has(state, at, *names):
    return FiguresLine(at, state, {}, dict.fromkeys(names, "whole"))


def test_a_role_has_the_metrics_that_most_of_its_lines_have():
    """Those of leaders come and go a moment after the state has changed."""
    lines = [has("follower", 0, "epoch", "uncommitted"), *(has("follower", at, "epoch") for at in (1, 2, 3))]
    led = [has("leader", 4, "epoch"), *(has("leader", at, "epoch", "uncommitted") for at in (5, 6, 7))]
    observer = [has("observer", at, "epoch") for at in range(3)]
    nodes = [NodeLines(True, [*lines, *led], ()), NodeLines(False, observer, ())]
    assert metrics_of_roles(nodes) == {
        "voter": {"epoch": "whole"},
        "leader": {"epoch": "whole", "uncommitted": "whole"},
    }


def test_how_often_a_metric_changes_is_counted_while_a_warm_process_stays_in_its_role():
    told = ["follower 0 5", "follower 1 6", "follower 1 7", "follower NaN 8", "leader 9 8", "leader 9 8", "leader 4 1"]
    lines = [
        parse_figures(f"{at}000 current-state={state} rate={rate} gc-ms={collecting}")
        for at, (state, rate, collecting) in enumerate(map(str.split, told))
    ]
    warm = NodeLines(True, lines, [(0, 9)])
    assert {role: found["rate"] for role, found in changes_of_metrics([warm]).items()} == {
        "voter": Changes(1, 3),  # to another finite number; that it leads now is another role
        "leader": Changes(0, 1),  # the last line is of another process
    }
    assert changes_of_metrics([NodeLines(True, lines, [(5, 9)])]) == {}, "it has just come up"


@pytest.mark.parametrize("text", ["", "inf of 3", "1 of -3", "3"])
def test_another_text_than_how_often_something_changed_says_nothing(text):
    assert (Changes.read(text), Changes.read(str(Changes(3, 7)))) == (Changes(), Changes(3, 7))


@pytest.mark.parametrize("text", ["", "x", "NaN a=1", "-5 a=1", "inf a=1", "a=1 5"])
def test_what_does_not_begin_with_a_time_is_no_line(text):
    assert parse_figures(text) is None


@given(st.text())
def test_any_line_is_read_or_passed_over(text):
    line = parse_figures(text)
    assert line is None or all(map(math.isfinite, line.numbers.values()))


@given(st.binary(max_size=300))
def test_any_file_is_read(tmp_path_factory, content):
    file = tmp_path_factory.mktemp("figures") / "figures.txt"
    file.write_bytes(b"1000 a=1\n" + content + b"\n2000 a=2\n")
    lines = read_figures(file)
    assert (lines[0].at, lines[-1].at) == (1.0, 2.0)


def test_a_line_that_is_half_written_or_too_long_is_left_out(tmp_path):
    (file := tmp_path / "figures.txt").write_text(f"1000 a=1\n2000 {'a' * 9000}=1\n3000 a=")
    assert [line.at for line in read_figures(file)] == [1.0]


def test_a_node_that_wrote_nothing_has_no_lines(tmp_path):
    assert read_figures(tmp_path / "figures.txt") == ()


JMX = "org.apache.kafka.common.metrics.JmxReporter"


@pytest.mark.parametrize(
    ("own", "usual", "named"),
    [({}, JMX, f"{JMX},NodeFigures"), ({"metric.reporters": "a.B"}, JMX, "a.B,NodeFigures"), ({}, "", "NodeFigures")],
)
def test_the_reporter_stands_beside_those_of_the_user_or_of_kafka(own, usual, named):
    assert with_reporter({"x": "1", **own}, usual) == {"x": "1", "metric.reporters": named}


def test_kafka_2_8_is_not_told_to_report_by_jmx_which_it_does_unasked():
    assert line_of("2.8.2").metric_reporters == ""
    assert line_of("3.9.1").metric_reporters == JMX


def test_a_collection_is_asked_for_by_a_file_beside_the_lines(tmp_path):
    assert ask_for_collection(tmp_path / "figures.txt") == tmp_path / "figures.txt.collect"
    assert (tmp_path / "figures.txt.collect").exists()


def node(*lines, is_voter=True, warm=((0, 100),)):
    return NodeLines(is_voter, [FiguresLine(at, state, numbers) for at, state, numbers in lines], warm)


def test_a_raft_thread_that_sleeps_is_not_idle():
    busy = {"poll-idle-ratio-avg": 0.4}
    found = measures_of_lines([node((1, "leader", busy), (2, "leader", {"poll-idle-ratio-avg": 0.8}))])
    assert found == {"leader_raft_not_idle_percent": 40.0}


def test_the_first_seconds_of_a_node_do_not_count():
    lines = (1, "follower", {"poll-idle-ratio-avg": 0.0}), (9, "follower", {"poll-idle-ratio-avg": 1.0})
    assert measures_of_lines([node(*lines, warm=((5, 10),))]) == {"voter_raft_not_idle_percent": 0.0}


def led(at, epoch, average, longest, state="leader", gc=0):
    numbers = {"current-epoch": epoch, "commit-latency-avg": average, "commit-latency-max": longest, "gc-ms": gc}
    return at, state, numbers


def commits(*nodes):
    found = measures_of_lines(nodes)
    return found.get("commit_at_best_milliseconds"), found.get("first_epoch_commit_longest_milliseconds")


def test_commits_are_those_of_the_leader_the_least_average_and_the_longest():
    assert commits(node(led(1, 1, 5, 9), led(2, 1, 7, 90), led(3, 2, 1, 900, state="follower"))) == (5, 90)


def test_what_waited_for_a_majority_does_not_decide_commits_whoever_leads_afterwards():
    """Averages and maxima of half a minute: a leader that had lost its majority and leads again counts the wait."""
    before = [led(at, 1, 30, 75) for at in range(5)]
    again = [led(at, 3, 1300 - 20 * at, 5919) for at in range(11, 50)]
    another = [led(at, 3, 24, 130) for at in range(11, 50)]
    assert commits(node(*before, *again)) == (30, 75)
    assert commits(node(*before), node(*another)) == (24, 130)


def test_a_process_that_was_restarted_leads_for_the_first_time_again():
    assert commits(node(led(1, 1, 5, 9, gc=400), led(9, 4, 6, 300, gc=50), led(12, 6, 6, 5000, gc=60))) == (5, 300)


def test_a_stall_on_every_append_is_in_every_average():
    lines = [led(at, epoch, 20 + 50 + at, 300) for epoch, at in ((1, 1), (1, 2), (3, 30))]
    assert commits(node(*lines)) == (71, 300)


def test_an_event_of_the_controller_takes_what_was_added_to_their_sum_by_so_many_more():
    def events(count, mean):
        return {"controller-events": count, "controller-event-ms-mean": mean}

    found = measures_of_lines([node((1, "leader", events(10, 50)), (2, "leader", events(20, 30)))])
    assert found == {"controller_event_milliseconds": 10}


def test_an_event_that_waits_until_a_majority_is_back_does_not_decide_how_long_events_take():
    totals = [(10, 100), (20, 200), (21, 5200), (31, 5300), (41, 5400)]  # ten a second take 10 ms each, one takes 5 s
    lines = [
        (at, "leader", {"controller-events": count, "controller-event-ms-mean": total / count})
        for at, (count, total) in enumerate(totals, 1)
    ]
    assert measures_of_lines([node(*lines)]) == {"controller_event_milliseconds": 10}


def test_events_of_a_restarted_node_are_not_taken_for_fewer():
    events = {"controller-events": 3, "controller-event-ms-mean": 1.0}
    assert measures_of_lines([node((1, "leader", {**events, "controller-events": 9}), (2, "leader", events))]) == {}


def test_collections_are_a_share_of_the_time_of_the_node_that_has_most_of_them():
    lines = [(at, "observer", {"gc-ms": ms}) for at, ms in ((1, 100), (3, 200), (40, 9000), (41, 9050))]
    busy = [(at, "observer", {"gc-ms": 50 * at}) for at in range(1, 32)]
    short = node(*lines, is_voter=False)
    assert measures_of_lines([short]) == {"observer_gc_percent": 0.75}, "of three seconds, as if they were twenty"
    assert measures_of_lines([node(*busy, is_voter=False), short]) == {"observer_gc_percent": 5.0}


def test_the_heap_is_what_the_last_collection_left_of_the_largest_in_each_role():
    leader = node((1, "leader", {"live": 99 * MB}), (2, "leader", {"live": 30 * MB}))
    others = [node((2, "follower", {"live": size * MB})) for size in (20, 22)]
    assert measures_of_lines([leader, *others]) == {"leader_heap_megabytes": 30, "voter_heap_megabytes": 22}


def test_a_voter_that_has_led_keeps_a_leaders_buffers_until_its_process_ends():
    """The raft client's BatchMemoryPool retains up to five batches of 8 MB, and never gives them back."""
    has_led = node((1, "leader", {"gc-ms": 5}), (2, "follower", {"gc-ms": 9, "live": 28 * MB}))
    led_before_it_restarted = node((1, "leader", {"gc-ms": 9}), (2, "follower", {"gc-ms": 3, "live": 12 * MB}))
    found = measures_of_lines([has_led, led_before_it_restarted])
    assert found["leader_heap_megabytes"] == 28
    assert found["voter_heap_megabytes"] == 12


def test_a_heap_grew_in_a_window_by_what_collections_at_both_ends_left():
    lines = [(at, "leader", {"live": size * MB}) for at, size in ((5, 1), (10.2, 20), (40.1, 25), (50, 99))]
    found = growth_in_window("idle", [node(*lines), node((10, "observer", {"live": MB}), is_voter=False)], 10, 40)
    assert found == {"idle_voter_heap_growth_megabytes": 5}


def test_of_a_node_that_was_held_at_either_end_of_a_window_nobody_knows_what_its_heap_did_meanwhile():
    lines = [(at, "follower", {"live": size * MB}) for at, size in ((5, 20), (44, 36))]
    assert growth_in_window("idle", [node(*lines)], 10, 40) == {}
    free = node(*((at, "follower", {"live": size * MB}) for at, size in ((9.5, 22), (40.5, 23))))
    assert growth_in_window("idle", [node(*lines), free], 10, 40) == {"idle_voter_heap_growth_megabytes": 1}


def test_buffers_outside_of_the_heap_are_those_of_the_last_line_of_the_node_that_has_most():
    nodes = [node((1, "leader", {"direct": 9 * MB}), (2, "leader", {"direct": size * MB})) for size in (3, 5)]
    found = measures_of_lines([*nodes, node((2, "observer", {"direct": MB}), is_voter=False)])
    assert found == {"voter_direct_megabytes": 5, "observer_direct_megabytes": 1}


def allocating(*megabytes, state="leader", **more):
    return node(*((at, state, {"allocated": each * MB}) for at, each in enumerate(megabytes)), **more)


def test_what_a_node_allocates_is_typical_over_eight_seconds_in_a_role():
    steady, more = allocating(*range(0, 20, 2)), allocating(*range(0, 8), 40, 41, 42, state="follower")
    assert measures_of_lines([steady, more]) == {
        "leader_allocated_typical_megabytes_per_second": 2,
        "voter_allocated_typical_megabytes_per_second": 1,
    }
    assert measures_of_lines([allocating(*range(8))]) == {}, "seven seconds alone"


def test_what_a_node_allocates_in_a_window_is_told_of_the_node_that_allocates_most():
    nodes = [allocating(0, 5, 7, 9, 30), allocating(0, 1, 2, 3), allocating(0, 1, 3, 5, is_voter=False)]
    assert allocated_in_window("idle", nodes, 1, 3) == {
        "idle_voter_allocated_megabytes_per_second": 2,
        "idle_observer_allocated_megabytes_per_second": 2,
    }
    assert allocated_in_window("idle", [allocating(9, 9, 1), allocating(1)], 0, 3) == {}, (
        "another process, and one line"
    )


def test_buffers_outside_of_the_heap_grew_from_the_first_line_of_a_window_to_its_last():
    sizes = ((9, 1), (10.5, 3), (20, 4), (39.5, 9), (40.5, 99))
    lines = [(at, "leader", {"direct": size * MB}) for at, size in sizes]
    steady = node((11, "follower", {"direct": 2 * MB}), (39, "follower", {"direct": MB}))
    assert growth_in_window("idle", [steady, node(*lines)], 10, 40) == {"idle_voter_direct_growth_megabytes": 6}
    assert growth_in_window("idle", [node((9, "leader", {"direct": MB}))], 10, 40) == {}


def test_the_longest_pause_between_two_commits_counts_once_a_node_is_warm():
    lines = [(at, "leader", {"commit-pause-ms": ms}) for at, ms in ((1, 1900.0), (5, 510.0), (6, 1600.0), (7, 505.0))]
    after = (8, "follower", {"commit-pause-ms": 700.0})  # it ended while the node still led
    found = measures_of_lines([node(*lines, after, warm=((3, 100),)), node((5, "follower", {}))])
    assert found["commit_pause_longest_milliseconds"] == 1600
    assert "commit_pause_longest_milliseconds" not in measures_of_lines([node((5, "leader", {}))])


def test_a_leader_that_waits_for_a_voter_that_has_just_come_back_pauses_for_a_reason():
    lines = [(at, "leader", {"commit-pause-ms": ms}) for at, ms in ((5, 900.0), (11, 2300.0), (14, 700.0))]
    restarted = node((5, "follower", {}), warm=((0, 6), (10, 100)))
    found = measures_of_lines([node(*lines), restarted, node((5, "observer", {}), is_voter=False, warm=())])
    assert found["commit_pause_longest_milliseconds"] == 900
