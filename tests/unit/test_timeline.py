"""Timelines: what a journal tells of each node, and where it is drawn."""

from __future__ import annotations

import pytest
import sample_run
from sample_run import JournalWriter

from harness.model.events import NO_NODE, HostShort, HostStalled, QuorumSeen, RoleChanged, Sampled, StepChanged
from harness.model.runs import Outcome
from harness.report.drawing import LEFT, MARK_GAP, RIGHT, WIDTH, RunStory, draw
from harness.report.timeline import RoleSpan, Span, Timeline, timeline_of


def quorum(writer: JournalWriter, t: float, leader: int, epoch: int, **observers: int) -> None:
    ends = {int(name.removeprefix("n")): offset for name, offset in observers.items()}
    writer.at(t, QuorumSeen(leader, epoch, 0, {0: 1, 1: 1}, ends))


def node(writer: JournalWriter, number: int, *states: tuple[float, str]) -> None:
    for t, state in states:
        writer.node(t, number, state)


def drawn_from(writer: JournalWriter, seconds: float) -> Timeline:
    writer.at(seconds, Sampled("the plan is still asking", True))
    return timeline_of(sorted(writer.entries, key=lambda entry: entry.t))


def test_an_empty_journal_gives_an_empty_timeline_that_can_be_drawn() -> None:
    timeline = timeline_of([])
    assert timeline == Timeline(0.0, (), (), ())
    assert draw(RunStory(timeline)).lanes == ()


def test_a_node_lives_from_state_to_state_until_the_run_ends() -> None:
    writer = JournalWriter()
    node(writer, 0, (0, "starting"), (2, "ready"), (5, "died"))
    assert drawn_from(writer, 9).lanes[0].life == (Span("starting", 0, 2), Span("ready", 2, 5), Span("died", 5, 9))


def test_an_epoch_is_led_until_another_answer_or_until_its_leader_ends() -> None:
    writer = JournalWriter()
    node(writer, 0, (0, "ready"), (6, "killed"))
    node(writer, 1, (0, "ready"))
    for t, leader, epoch in ((1, 1, 2), (2, 1, 2), (4, 0, 3), (5, 0, 3), (8, 1, 4)):
        quorum(writer, t, leader, epoch)
    first, second = drawn_from(writer, 10).lanes
    assert first.leads == (Span("3", 4, 6),)
    assert second.leads == (Span("2", 1, 4), Span("4", 8, 10))


def test_a_node_is_in_a_state_of_raft_from_when_it_logged_it_until_the_next_one_or_its_end() -> None:
    writer = JournalWriter()
    node(writer, 1, (0, "ready"), (7, "killed"), (8, "starting"))
    for t, role, leader, ago in ((2, "candidate", -1, 0.5), (3, "leader", -1, 0.5), (6, "follower", 2, 0.0)):
        writer.at(t, RoleChanged(1, role, 4, leader, ago))
    lane = drawn_from(writer, 10).lanes[0]
    assert lane.roles == (
        RoleSpan("candidate", 4, -1, 1.5, 2.5),
        RoleSpan("leader", 4, -1, 2.5, 6),
        RoleSpan("follower", 4, 2, 6, 7),
    )


def test_states_of_raft_are_drawn_above_a_nodes_bar_and_of_those_at_one_place_the_last() -> None:
    writer = JournalWriter()
    node(writer, 1, (0, "ready"))
    for t, role, leader in ((2, "candidate", -1), (2.001, "unattached", -1), (6, "follower", 2)):
        writer.at(t, RoleChanged(1, role, 4, leader))
    (lane,) = draw(RunStory(drawn_from(writer, 10))).lanes
    assert [(box.kind, box.title) for box in lane.roles] == [
        ("unattached", "unattached in epoch 4, 2.0 to 6.0 s"),
        ("follower", "follower of node 2 in epoch 4, 6.0 to 10.0 s"),
    ]


def test_an_observer_whose_log_stands_still_is_seen_to_stall() -> None:
    writer = JournalWriter()
    node(writer, 3, (0, "ready"))
    for t, offset in ((1, 10), (2, 12), (3, 14), (4, 14), (5, 14), (6, 14), (7, 14), (8, 20), (9, 22)):
        quorum(writer, t, 0, 1, n3=offset)
    lane = drawn_from(writer, 10).lanes[0]
    assert (lane.role, lane.offsets[0]) == ("observer", (1, 10))
    assert lane.stalls == (Span("no progress", 3, 8),)


def test_an_observer_that_vanishes_from_the_answers_stalls_too() -> None:
    writer = JournalWriter()
    node(writer, 3, (0, "ready"))
    quorum(writer, 1, 0, 1, n3=10)
    for t in range(2, 12):
        quorum(writer, t, 0, 1)
    assert drawn_from(writer, 12).lanes[0].stalls == (Span("no progress", 1, 12),)


def test_an_observer_that_keeps_fetching_does_not_stall() -> None:
    timeline = timeline_of(sample_run.journal("turn2", sample_run.ARMS[2], 1, Outcome.PASSED, ""))
    assert [lane.stalls for lane in timeline.lanes] == [()] * 4


def test_a_voter_that_is_listed_as_an_observer_while_it_restarts_is_a_voter() -> None:
    writer = JournalWriter()
    node(writer, 0, (0, "ready"))
    quorum(writer, 1, 1, 1, n0=5)
    assert drawn_from(writer, 2).lanes[0].role == "voter"


def test_steps_pair_their_begin_with_their_end() -> None:
    writer = JournalWriter()
    writer.step(1, 3, "do", "stop node 2", "done")
    writer.step(3, 18, "expect", "the observer follows", "unmet", name="observer_recovers")
    writer.step(18, 18, "guard", "a leader exists", "met")
    do, expect, guard = drawn_from(writer, 20).steps
    assert (do.start, do.end) == (1, 3)
    assert (expect.start, expect.end) == (3, 18)
    assert [step.notable for step in (do, expect, guard)] == [True, True, False]


def test_a_step_that_never_ended_is_unfinished() -> None:
    writer = JournalWriter()
    writer.at(4, StepChanged("do", "stop node 2", "begin"))
    assert [(s.status, s.start, s.end) for s in drawn_from(writer, 5).steps] == [("unfinished", 4, 4)]


def test_everything_is_drawn_inside_the_picture() -> None:
    drawing = draw(RunStory(timeline_of(sample_run.journal("turn2", sample_run.ARMS[0], 1, Outcome.FAILED, "lost"))))
    boxes = [box for lane in drawing.lanes for box in (*lane.life, *lane.leads, *lane.stalls)] + [*drawing.phases]
    assert all(box.x >= LEFT and box.x + box.width <= WIDTH - RIGHT + 1 for box in boxes)
    points = [tuple(map(float, point.split(","))) for point in drawing.lanes[3].points.split()]
    assert all(drawing.lanes[3].y <= y <= drawing.axis_y for _, y in points)


@pytest.mark.parametrize("steps", [3, 6])
def test_numbers_of_steps_close_in_time_do_not_cover_each_other(steps: int) -> None:
    writer = JournalWriter()
    for step in range(steps):
        writer.step(1 + step / 20, 1 + step / 20, "expect", f"step {step}", "met")
    marks = draw(RunStory(drawn_from(writer, 60))).marks
    assert len({mark.y for mark in marks}) == steps
    assert marks[-1].x - marks[0].x < MARK_GAP


@pytest.mark.parametrize(("seconds", "labels"), [(100, ["leads epoch 7"]), (16, ["epoch 7"]), (4, ["7"]), (0.5, [""])])
def test_a_short_epoch_says_less_and_never_half_a_word(seconds: float, labels: list[str]) -> None:
    writer = JournalWriter()
    node(writer, 0, (0, "ready"))
    quorum(writer, 0, 0, 7)
    quorum(writer, seconds, 1, 8)
    assert [box.label for box in draw(RunStory(drawn_from(writer, 200))).lanes[0].leads] == labels


def test_a_long_journal_is_thinned_and_keeps_its_last_sample() -> None:
    writer = JournalWriter()
    node(writer, 3, (0, "ready"))
    for t in range(2000):
        quorum(writer, t, 0, 1, n3=t)
    points = draw(RunStory(drawn_from(writer, 2000))).lanes[0].points.split()
    assert len(points) <= 241
    assert points[-1].startswith(f"{LEFT + 1999 / 2000 * (WIDTH - LEFT - RIGHT):.1f},")


def test_a_starved_host_is_reported_among_the_steps() -> None:
    writer = JournalWriter()
    writer.at(9, HostStalled(3, 1.5))
    step = drawn_from(writer, 10).steps[0]
    assert (step.kind, step.text, step.start, step.notable) == ("host", "gave node 3 no processor", 7.5, True)


def test_a_clock_that_jumped_is_no_lack_of_processor() -> None:
    writer = JournalWriter()
    writer.at(9, HostStalled(NO_NODE, 3600))
    step = drawn_from(writer, 10).steps[0]
    assert (step.start, step.end, "the host's clock jumped by 3600.0 s" in step.text) == (9, 9, True)


def test_a_resource_that_the_host_was_short_of_is_reported_among_the_steps() -> None:
    writer = JournalWriter()
    writer.at(9, HostShort("disk: only 3 MiB are free"))
    step = drawn_from(writer, 10).steps[0]
    assert (step.kind, step.text, step.start) == ("host", "slowed the run down: disk: only 3 MiB are free", 9)


def test_a_step_that_was_not_needed_is_not_notable() -> None:
    writer = JournalWriter()
    writer.step(1, 1, "do", "restart the leader on its old port", "skipped")
    assert not drawn_from(writer, 2).steps[-1].notable


def test_what_the_harness_does_to_tidy_up_is_not_part_of_the_story() -> None:
    writer = JournalWriter()
    node(writer, 0, (0, "ready"), (6, "killed"))
    writer.step(4, 5, "expect", "the observer follows", "met")
    timeline = timeline_of(writer.entries)
    assert (timeline.seconds, timeline.lanes[0].life) == (5, (Span("ready", 0, 5),))


def test_a_node_that_dies_after_the_last_step_is_part_of_the_story() -> None:
    writer = JournalWriter()
    writer.step(4, 5, "do", "stop node 2", "done")
    node(writer, 0, (0, "ready"), (6, "died"))
    assert timeline_of(writer.entries).lanes[0].life[-1] == Span("died", 6, 6)


def test_silence_between_equal_answers_is_no_election_and_a_newer_epoch_is_one() -> None:
    writer = JournalWriter()
    node(writer, 0, (0, "ready"))
    for t, leader, epoch in ((1, 0, 2), (2, -1, -1), (3, 0, 2), (5, -1, 3)):
        quorum(writer, t, leader, epoch)
    assert drawn_from(writer, 9).lanes[0].leads == (Span("2", 1, 5),)


def test_silence_of_the_voters_is_no_stall_of_the_observer() -> None:
    writer = JournalWriter()
    node(writer, 3, (0, "ready"))
    quorum(writer, 1, 0, 1, n3=10)
    quorum(writer, 5, -1, 2)
    quorum(writer, 8, 1, 3)
    quorum(writer, 9, 1, 3, n3=20)
    assert drawn_from(writer, 10).lanes[0].stalls == ()


def test_a_stall_after_silence_begins_when_it_was_seen() -> None:
    writer = JournalWriter()
    node(writer, 3, (0, "ready"))
    quorum(writer, 1, 0, 1, n3=10)
    for t in (8, 9, 10, 11, 12):
        quorum(writer, t, 1, 2)
    assert drawn_from(writer, 13).lanes[0].stalls == (Span("no progress", 8, 13),)
