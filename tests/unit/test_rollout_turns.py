"""A rehearsal is read back from its journal: turns with their checks, waits, and what stopped them."""

from dataclasses import replace

import pytest

from harness.model.arms import Role
from harness.model.clients import ClientReport
from harness.model.events import (
    ClientSettled,
    CommandTried,
    ErrorLogged,
    HostStalled,
    NodeChanged,
    NodeProved,
    Noted,
    PhaseStarted,
    Sampled,
    StepChanged,
    TurnEnded,
    TurnStarted,
)
from harness.model.runs import Outcome, RunResult
from harness.rollout.health import AFTER, BEFORE
from harness.rollout.turns import error_counts, rehearsal_of, turns_of
from harness.rundir.journal import Entry

NODE_STOPS = "the node may stop (within 60 s) as safe_to_stop"
IN_SERVICE = "the whole cluster is in service (within 120 s) as back_in_service"


def look(checks, **problems):
    return Sampled(
        "the node may stop" if checks is BEFORE else "the whole cluster is in service",
        not problems,
        {check.name: problems.get(check.name, "") for check in checks},
    )


def journal(*timed):
    return [Entry(seq, t, "", event) for seq, (t, event) in enumerate(timed, 1)]


def whole_turn(began=10.0):
    return [
        (began, TurnStarted(3, "broker", "replace", "the candidate")),
        (began + 0.5, look(BEFORE, isr_full="orders-0 has ISR 3")),
        (began + 1.0, look(BEFORE)),
        (began + 1.0, StepChanged("expect", NODE_STOPS, "met", "safe_to_stop", 1.0)),
        (began + 1.1, StepChanged("do", "stop the 1. node", "begin")),
        (began + 1.1, NodeChanged(3, "stopping")),
        (began + 3.0, StepChanged("do", "stop the 1. node", "done")),
        (began + 3.1, StepChanged("expect", "it ended on SIGTERM (within 0 s) as x", "met", "stops_on_sigterm")),
        (began + 5.0, NodeProved(3, 42, "kafka-raft.jar", "a", "true", "21")),
        (began + 5.5, look(AFTER, brokers_unfenced="not registered: 3")),
        (began + 7.1, look(AFTER)),
        (began + 7.1, StepChanged("expect", IN_SERVICE, "met", "back_in_service", 4.0)),
        (began + 7.2, Sampled("every client is served", ok=True)),
        (began + 7.2, StepChanged("expect", "every client is served (within 30 s) as x", "met", "clients_served", 0.1)),
        (began + 7.3, StepChanged("do", "the end of the turn", "begin")),
        (began + 7.3, TurnEnded({"orders": 1.5})),
    ]


def test_a_turn_has_its_checks_its_down_time_and_the_waits_of_its_clients():
    (turn,) = turns_of(journal((9.0, PhaseStarted("forward")), *whole_turn(), (30.0, StepChanged("do", "x", "done"))))
    assert (turn.number, turn.phase, turn.node, turn.roles) == (1, "forward", 3, "broker")
    assert (turn.action, turn.build) == ("replace", "the candidate")
    assert (turn.seconds, turn.down_seconds) == (7.3, 6.0)
    assert turn.pauses == {"orders": 1.5}
    assert turn.stopped == ""
    assert [check.name for check in turn.before] == [check.name for check in BEFORE]
    met_late = {check.name: check.seconds for check in (*turn.before, *turn.after) if check.seconds}
    assert met_late == {"isr_full": 0.5, "brokers_unfenced": 2.4, "clients_served": 0.1}
    assert {check.name for check in turn.after} == {
        "stops_on_sigterm",
        "right_jar",
        "clients_served",
        *(check.name for check in AFTER),
    }
    assert all(check.met for check in (*turn.before, *turn.after))


@pytest.mark.parametrize("more", [[], [(30.0, StepChanged("do", "x", "done"))]], ids=["last", "before another step"])
def test_what_a_node_runs_belongs_to_its_turn_however_late_it_is_proved(more):
    *turn, proof = sorted(whole_turn(), key=lambda each: isinstance(each[1], NodeProved))
    (late,) = turns_of(journal(*turn, (19.0, proof[1]), *more, (31.0, replace(proof[1], node=4))))
    assert [check.name for check in late.after].count("right_jar") == 1
    (wrong,) = turns_of(journal(*turn, (19.0, replace(proof[1], error="another jar")), *more))
    assert [(check.name, check.problem) for check in wrong.after if not check.met] == [("right_jar", "another jar")]


def test_a_turn_that_a_check_stopped_says_which_and_why():
    began = [
        (1.0, TurnStarted(3, "broker", "replace", "the candidate")),
        (2.0, look(BEFORE, isr_full="orders-0 has ISR 3")),
        (62.0, StepChanged("expect", NODE_STOPS, "unmet", "safe_to_stop", 60.0, "isr_full: not so")),
    ]
    (turn,) = turns_of(journal(*began))
    assert turn.stopped == "the node may stop: isr_full: not so"
    assert [check.name for check in turn.before if not check.met] == ["isr_full"]
    assert turn.down_seconds == 0.0


def test_a_turn_in_which_a_node_crashed_says_so():
    (turn,) = turns_of(journal((1.0, TurnStarted(3, "broker", "replace", "x")), (4.0, NodeChanged(3, "died"))))
    assert (turn.stopped, turn.seconds) == ("node 3 crashed", 3.0)


def test_a_turn_ends_where_the_next_begins_and_turns_are_numbered():
    second = (40.0, TurnStarted(4, "broker", "bring back", "base"))
    first, other = turns_of(journal(*whole_turn()[:-1], second, (41.0, StepChanged("do", "stop it", "done"))))
    assert [first.number, other.number] == [1, 2]
    assert (first.pauses, other.action) == ({}, "bring back")


def reworded(entry):
    event = entry.event
    other = replace(event, text="bring it down") if isinstance(event, StepChanged) and event.step == "do" else event
    return replace(entry, event=other)


def test_how_long_a_node_was_down_does_not_hang_on_how_the_stop_is_worded():
    (turn,) = turns_of([reworded(entry) for entry in journal(*whole_turn())])
    assert turn.down_seconds == 6.0


def test_a_node_that_is_killed_after_its_stop_is_down_from_the_stop_on():
    killed = (13.5, NodeChanged(3, "stopping"))
    (turn,) = turns_of(journal(*sorted([*whole_turn(), killed], key=lambda each: each[0])))
    assert turn.down_seconds == 6.0


def test_a_stop_of_another_node_is_none_of_this_turn():
    (turn,) = turns_of(journal(whole_turn()[0], (10.2, NodeChanged(4, "stopping")), *whole_turn()[1:]))
    assert turn.down_seconds == 6.0


def test_a_node_that_was_down_already_is_down_from_the_begin_of_its_turn():
    stopping = [each for each in whole_turn()[1:] if not isinstance(each[1], NodeChanged)]
    (turn,) = turns_of(journal((10.0, TurnStarted(3, "broker", "bring back", "base")), *stopping))
    assert turn.down_seconds == 7.1


def test_a_check_is_described_without_its_bound():
    (turn,) = turns_of(journal(*whole_turn()))
    assert "every client is served" in [check.description for check in turn.after]


def test_looks_at_something_else_are_no_checks_of_a_turn():
    began = (1.0, TurnStarted(3, "broker", "replace", "the candidate"))
    other = (2.0, Sampled("it is up", True, {"state": "ready"}))
    (turn,) = turns_of(journal(began, other, (3.0, StepChanged("expect", "it is up", "met", "is_up", 1.0))))
    assert (turn.before, turn.after) == ((), ())


def test_a_journal_without_turns_has_none():
    assert turns_of(journal((0.0, PhaseStarted("start on base")), (1.0, NodeChanged(0, "died")))) == ()


def test_a_rehearsal_brings_its_clients_errors_commands_and_notes_along():
    orders = ClientReport("orders", "records", 10, 0, 0, 0.5)
    tried = CommandTried("bin/kafka-topics.sh", 1.0, 0, "", agrees=True)
    entries = journal(
        (0.0, HostStalled(3, 1.5)),
        (0.5, HostStalled(3, 2.5)),
        (1.0, Noted("a key is left")),
        (1.5, Noted("did not stop on SIGTERM and was killed", 3)),
        (2.0, ErrorLogged(3, 7, "ERROR sad", "ERROR <sad>", on_base=True, refused=False)),
        (2.1, ErrorLogged(4, 9, "ERROR sad", "ERROR <sad>", on_base=False, refused=True)),
        (3.0, tried),
        (4.0, ClientSettled(orders)),
    )
    result = RunResult("control", "roll", Role.ON, 1, Outcome.PASSED)
    found = rehearsal_of(result, "Does it?", 5.0, entries)
    assert (found.name, found.question, found.budget_seconds) == ("control", "Does it?", 5.0)
    assert (found.clients, found.commands) == ((orders,), (tried,))
    assert found.errors == error_counts(entries) == {"ERROR <sad>": 2}
    assert found.notes == ("a key is left", "processor: the host gave node 3 none for 1.5 s")
    assert (found.longest_pause_seconds, found.lost) == (0.5, 0)
