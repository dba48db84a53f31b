"""What clients were answered, second by second, in the journal of every run."""

import time

import pytest

from harness.engine.outcome import measures
from harness.model.clients import ClientReport
from harness.model.events import ClientSeconds
from harness.scenario.answered_seconds import AnsweredSeconds
from harness.scenario.client import Client


class Clock:
    """A monotonic clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


def test_answers_are_counted_in_the_second_in_which_they_came_with_how_long_they_took(clock):
    seconds = AnsweredSeconds()
    for at, latency in ((100.1, 0.004), (100.9, 0.006), (100.95, 0.02), (103.2, 2.5)):
        clock.now = at
        seconds.answered([latency])
    assert seconds.event("orders") == ClientSeconds(
        "orders", 3.2, (3, 0, 0, 1), (0, 0, 0, 0), (6.0, 0.0, 0.0, 2500.0), (20.0, 0.0, 0.0, 2500.0)
    )


def test_a_second_without_an_answer_is_there_up_to_now(clock):
    seconds = AnsweredSeconds()
    seconds.answered([0.001])
    clock.now = 104.5
    assert seconds.event("orders").acknowledged == (1, 0, 0, 0, 0)


def test_seconds_are_counted_from_when_the_client_began(clock):
    seconds = AnsweredSeconds()
    clock.now = 130.0
    seconds.begin()
    seconds.answered([None])
    assert (seconds.event("group").ago, seconds.event("group").acknowledged) == (0.0, (1,))
    assert seconds.event("group").longest_ms == (0.0,), "a client that does not know says 0"


class Idle(Client):
    """A client of which a test makes the answers."""

    def work(self) -> None:
        """Do nothing."""

    def compare(self, brokers) -> ClientReport:
        raise NotImplementedError


def test_an_answer_ends_a_pause_and_a_failure_has_its_name_and_both_are_counted_in_their_second(clock):
    client = Idle("orders", "records", (), (0,))
    client.start()
    clock.now = 102.0
    client.answered(0, 0.5)
    client.failed("_MSG_TIMED_OUT")
    assert client.pauses.longest == 2.0
    assert dict(client.failures) == {"_MSG_TIMED_OUT": 1}
    seen = client.by_second()
    assert (seen.acknowledged, seen.failed) == ((0, 0, 1), (0, 0, 1))


class Mute:
    """A producer whose last records have no answer."""

    def flush(self, _seconds):
        return 790


class Asking(Idle):
    """A client of a mute producer."""

    compared = True

    def work(self) -> None:
        with self.awaiting_answers(Mute()):
            pass

    def compare(self, brokers) -> ClientReport:
        if not self.compared:
            raise TimeoutError("nobody answers")
        return ClientReport(self.name, self.description, 2, 0, 0, 0.0)


@pytest.mark.parametrize("compared", [True, False], ids=["read back", "not read back"])
def test_what_has_no_answer_when_a_client_ends_is_in_its_report(compared):
    client = Asking("orders", "records", (), (0,))
    client.compared = compared
    client.start()
    client.stop()
    report = client.report(())
    assert (report.unanswered, report.failed, bool(report.unread)) == (790, 0, not compared)
    assert report.not_acknowledged == {"unanswered": 790}
    assert measures([report], 1.0, {})["unanswered_records"] == 790


def test_an_answer_costs_its_client_little():
    seconds = AnsweredSeconds()
    began = time.process_time()
    for _ in range(20_000):
        seconds.answered([0.001])
    assert (time.process_time() - began) / 20_000 * 50 < 0.01, "50 records a second take less than 1 % of a core"
