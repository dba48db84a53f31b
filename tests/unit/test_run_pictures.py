"""What is drawn of runs: faults and absences as windows, clients as strips, the cluster as a picture."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_run import JournalWriter

from harness.model.events import ClientSeconds, FaultChanged, QuorumSeen, Sampled
from harness.report.client_strips import ClientLine, client_lines, strips
from harness.report.drawing import Axis, draw, shared_axis
from harness.report.fault_windows import FaultWindow
from harness.report.run_pictures import story_of
from harness.report.topology_picture import describe, topology_picture

LINKS = (("node 0", "node 3"), ("node 3", "node 0"))


def story(writer: JournalWriter, seconds: float = 40.0):
    writer.at(seconds, Sampled("the plan is still asking", True))
    return story_of(sorted(writer.entries, key=lambda entry: entry.t))


def cluster(*, leader: int = 0) -> JournalWriter:
    writer = JournalWriter()
    for node in (0, 1, 3):
        writer.node(1, node, "ready")
    for t in range(2, 41, 2):
        writer.at(t, QuorumSeen(leader, 7, t, {0: t, 1: t}, {3: t}))
    return writer


def test_a_fault_is_drawn_from_its_beginning_to_the_end_of_its_links_or_of_the_run():
    writer = cluster()
    writer.at(5, FaultChanged("cut", "cut 3 from 0", "begun", links=LINKS))
    writer.at(6, FaultChanged("cut", "cut 3 from 0", "proved"))
    writer.at(9, FaultChanged("cut", "cut 1 from 0", "begun", links=(("node 0", "node 1"),)))
    writer.at(12, FaultChanged("cut", "heal", "ended", links=LINKS))
    assert [(each.text, each.start, each.end) for each in story(writer).faults] == [
        ("cut 3 from 0", 5, 12),
        ("cut 1 from 0", 9, 40),
    ]


def test_a_fault_lasts_until_the_last_of_its_links_is_good_again():
    writer, other = cluster(), (("node 1", "node 3"), ("node 3", "node 1"))
    writer.at(5, FaultChanged("cut", "cut 3 from 0 and 1", "begun", links=(*LINKS, *other)))
    writer.at(8, FaultChanged("cut", "heal 3 and 0", "ended", links=LINKS))
    assert [(each.start, each.end) for each in story(writer).faults] == [(5, 40)]
    writer.at(12, FaultChanged("cut", "heal 3 and 1", "ended", links=other))
    (window,) = story(writer).faults
    assert (window.end, window.links) == (12, {*LINKS, *other})


def test_a_window_too_short_for_its_words_is_called_by_its_verb():
    writer = cluster()
    for t, status in ((5, "begun"), (8, "ended")):
        writer.at(t, FaultChanged("cut", "cut the observer from the leader", status, links=LINKS))
    (box,) = draw(story(writer)).faults
    assert (box.label, box.title) == ("cut", "cut the observer from the leader, 5.0 to 8.0 s")


def test_a_journal_of_before_that_names_no_links_ends_every_fault_of_the_kind():
    writer = cluster()
    for t, text in ((5, "one"), (6, "other")):
        writer.at(t, FaultChanged("cut", text, "begun"))
    writer.at(12, FaultChanged("cut", "heal", "ended"))
    assert [each.end for each in story(writer).faults] == [12, 12]


def test_a_node_is_away_from_when_it_begins_to_stop_until_it_is_ready_again_and_not_before_its_first_start():
    writer = cluster()
    for t, state in ((10, "stopping"), (11, "stopped"), (14, "starting"), (17, "ready"), (30, "killed")):
        writer.node(t, 1, state)
    assert story(writer).faults == (
        FaultWindow("node 1 down", 10, 17, is_absence=True, short="1 down"),
        FaultWindow("node 1 down", 30, 40, is_absence=True, short="1 down"),
    )


ORDERS = ClientSeconds(
    "orders", 10.0, (20, 0, 0, 31, 4), (0, 0, 2, 0, 0), (5.0, 0, 0, 2000.0, 1.0), (9.0, 0, 0, 3e3, 1)
)


def with_clients() -> JournalWriter:
    writer = cluster()
    writer.at(30, ORDERS)
    return writer


def test_a_client_begins_when_it_began_and_its_last_second_is_a_part_of_one():
    (line,) = story(with_clients()).clients
    assert (line.start, line.acknowledged) == (20.0, (20, 0, 0, 31, 4))
    assert line.end == 25.0


def test_the_last_second_of_a_client_is_drawn_as_wide_as_it_lasted():
    line = ClientLine("orders", 20.0, 22.25, (4, 4, 1), (0, 0, 0), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    answers, _ = strips([line], {"orders": 8}, 0.0, lambda at: 100 * at)
    assert answers.area == "M2000.0 26.0L2000.0 13.0H2100.0L2100.0 13.0H2200.0L2200.0 22.8H2225.0V26.0Z"
    assert (answers.top, answers.title) == ("8/s", "orders: 9 answers, at most 4 a second, 0 seconds without any")


def test_a_strip_says_in_words_what_it_shows():
    answers, latency = draw(story(with_clients())).strips
    assert (answers.name, answers.top) == ("orders", "31/s")
    assert answers.title == ("orders: 55 answers, at most 31 a second, 2 seconds without any, 2 failures in 1 second")
    assert len(answers.marks) == 1
    assert latency.title.startswith("Latency, longest 3.0 s")
    assert latency.area.count("M") == 2, "seconds without an answer have no latency"


def test_a_run_without_such_lines_has_no_strips_and_no_room_for_them():
    without, drawn = draw(story(cluster())), draw(story(with_clients()))
    assert without.strips == ()
    assert drawn.height > without.height == without.strips_top + 24


def test_pictures_on_a_shared_axis_have_one_scale_of_seconds_and_of_answers():
    short, long = story(cluster(), 40), story(with_clients(), 80)
    axis = shared_axis([short, long])
    assert axis == Axis(80, {"orders": 31})
    assert draw(short, axis).ticks == draw(long, axis).ticks
    assert max(box.x + box.width for box in draw(short, axis).lanes[0].life) < 560


@pytest.mark.parametrize("seconds", [0.5, 12, 40, 3600, 86_400, 172_800, 1e9, 1e15])
def test_an_axis_has_a_dozen_ticks_at_most_however_long_a_run_was(seconds):
    ticks = draw(story(cluster(), seconds), Axis(seconds)).ticks
    assert 1 <= len(ticks) <= 13
    assert ticks[-1][0] <= 1000


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=2000), st.floats(0, 100))
def test_strips_stay_in_their_height_whatever_a_client_was_answered(counts, start):
    zeros = (0,) * len(counts)
    event = ClientSeconds("orders", 0.0, tuple(counts), zeros, zeros, tuple(float(each) for each in counts))
    writer = JournalWriter()
    writer.at(start, event)
    for strip in strips(client_lines(writer.entries), {"orders": max(1, *counts)}, 50.0, lambda at: at):
        heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", strip.area)]
        assert all(strip.y - 0.1 <= y <= strip.y + strip.height + 0.1 for y in heights)
        assert len(strip.area) < 60_000


def test_a_line_of_a_client_that_holds_no_whole_second_has_no_strip():
    writer = JournalWriter()
    writer.at(1, ClientSeconds("orders", 0.0, (1, 2), (), (1.0, 1.0), (1.0, 1.0)))
    assert client_lines(writer.entries) == ()


def test_the_picture_of_the_cluster_shows_who_led_who_is_gone_and_who_was_cut():
    writer = cluster(leader=1)
    writer.at(5, FaultChanged("cut", "cut 3 from 0", "begun", links=LINKS))
    writer.node(30, 0, "killed")
    shown = topology_picture(story(writer))
    assert {node.name: node.state for node in shown.nodes} == {"0": "down", "1": "leads", "3": "serves"}
    assert [link.title for link in shown.links if link.kind == "follows"] == ["node 3 follows node 1"]
    assert [link.title for link in shown.links if link.kind == "cut"] == ["cut 3 from 0, 5.0 to 40.0 s"]
    assert shown.description == ("Node 1 led epoch 7. Node 0 was killed at 30.0 s. Cut 3 from 0, 5.0 s to the end.")


def test_a_host_that_is_no_node_stands_below_the_cluster():
    writer = cluster()
    writer.at(5, FaultChanged("cut", "cut", "begun", links=(("node 0", "the clients"),)))
    shown = topology_picture(story(writer))
    (host,) = [node for node in shown.nodes if node.state == "host"]
    assert (host.name, host.y < shown.height) == ("the clients", True)
    assert shown.height > topology_picture(story(cluster())).height


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        (((10, "stopping"), (11, "stopped"), (12, "ready")), "Node 1 restarted."),
        (((10, "died"), (12, "ready")), "Node 1 crashed at 10.0 s and was started again."),
        (((10, "stopping"), (11, "stopped")), "Node 1 was stopped at 11.0 s."),
    ],
)
def test_how_a_node_ended_is_said_and_whether_it_came_back(states, sentence):
    writer = cluster()
    for t, state in states:
        writer.node(t, 1, state)
    assert sentence in describe(story(writer))


def test_an_observer_that_stands_still_to_the_end_has_lost_its_leader():
    writer = JournalWriter()
    for node in (0, 3):
        writer.node(1, node, "ready")
    for t in range(2, 41):
        writer.at(t, QuorumSeen(0, 7, t, {0: t}, {3: min(t, 20)}))
    shown = topology_picture(story(writer))
    assert [(link.kind, link.title) for link in shown.links] == [("lost", "node 3 lost node 0")]
    assert "Node 3 made no progress from 20.0 s to the end." in shown.description
