"""What each node was in each phase, as a journal tells it."""

import pytest

from harness.engine.phase_roles import roles
from harness.model.events import NodeChanged, PhaseStarted, QuorumSeen, StepChanged

VOTERS = (0, 1, 2)


def node(number: int, state: str) -> NodeChanged:
    return NodeChanged(number, state)


def led_by(number: int) -> QuorumSeen:
    return QuorumSeen(number, 4, 0)


def phase(name: str) -> PhaseStarted:
    return PhaseStarted(name)


DONE = StepChanged("expect", "…", "met")
STARTED = [phase("start"), *(node(each, "starting") for each in range(4)), led_by(1)]


def test_the_leader_is_distinguished_from_other_voters_and_from_the_observer() -> None:
    text = roles([*STARTED, DONE], VOTERS)
    assert text == {
        0: {"start": "follower"},
        1: {"start": "leader"},
        2: {"start": "follower"},
        3: {"start": "observer"},
    }


def test_the_leader_of_a_phase_is_whom_the_voters_named_last_in_it() -> None:
    text = roles([*STARTED, phase("elect"), led_by(1), led_by(-1), led_by(2), led_by(-1), DONE], VOTERS)
    assert [text[each]["elect"] for each in VOTERS] == ["follower", "follower", "leader"]


def test_who_led_before_leads_a_phase_in_which_the_voters_named_nobody() -> None:
    assert roles([*STARTED, phase("quiet")], VOTERS)[1]["quiet"] == "leader"


def test_a_node_is_restarted_in_the_phase_in_which_it_started_again_and_in_no_other() -> None:
    again = [
        phase("move"),
        node(2, "stopping"),
        node(2, "stopped"),
        node(2, "starting"),
        led_by(2),
        phase("after"),
        DONE,
    ]
    text = roles([*STARTED, *again], VOTERS)
    assert text[2] == {"start": "follower", "move": "restarted leader", "after": "leader"}
    assert text[0]["move"] == "follower"


@pytest.mark.parametrize("end", ["stopped", "killed", "died"])
def test_a_node_that_ended_is_stopped_until_it_is_started_again(end: str) -> None:
    text = roles(
        [*STARTED, phase("stop"), node(1, end), led_by(0), phase("on"), phase("back"), node(1, "starting"), DONE],
        VOTERS,
    )
    assert text[1] == {"start": "leader", "stop": "stopped voter", "on": "stopped voter", "back": "restarted follower"}


def test_a_node_that_was_not_started_yet_is_left_out() -> None:
    text = roles([phase("voters"), node(0, "starting"), phase("observer"), node(3, "starting"), DONE], VOTERS)
    assert text == {0: {"voters": "follower", "observer": "follower"}, 3: {"observer": "observer"}}


def test_the_end_of_every_node_after_the_plan_is_no_part_of_its_last_phase() -> None:
    text = roles([*STARTED, DONE, led_by(2), node(1, "killed")], VOTERS)
    assert text[1] == {"start": "leader"}


def test_a_journal_without_phases_shows_nothing() -> None:
    assert roles([], VOTERS) == {}
    assert roles([node(0, "starting"), led_by(0), DONE], VOTERS) == {}


def test_a_node_that_died_is_stopped_though_its_death_ended_the_plan_without_another_step() -> None:
    text = roles([*STARTED, DONE, node(1, "died"), node(0, "stopping"), node(0, "killed")], VOTERS)
    assert text[1] == {"start": "stopped voter"}
    assert text[0] == {"start": "follower"}
