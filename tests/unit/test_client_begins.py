"""A client that writes has had an answer for each partition before anything happens to a leader."""

import threading
import time

import pytest

from harness.scenario import client as client_module
from harness.scenario.client import Client


class Writer(Client):
    """Is answered for the keys in turn, a moment apart, as far as it gets."""

    def __init__(self, answered: int, fails: bool = False) -> None:
        super().__init__("orders", "records", (), range(3))
        self.heard: list[int] = []
        self._answered, self._fails = answered, fails
        self._gate = threading.Event()

    def work(self) -> None:
        """Be answered, and wait for the end."""
        for key in range(self._answered):
            time.sleep(0.02)
            self.heard.append(key)
            self.answered(key)
        if self._fails:
            raise TimeoutError("nobody is there")
        self.stopping.wait()

    def compare(self, brokers):
        """Nothing is compared."""
        raise AssertionError(brokers)


@pytest.fixture
def begun():
    """Return a function that begins a writer, and returns it with the seconds that this took; they end."""
    made = []

    def begin(writer, is_over=lambda: False):
        made.append(writer)
        began = time.monotonic()
        writer.start_writing(is_over)
        return writer, time.monotonic() - began

    yield begin
    for writer in made:
        writer.stop()


def test_it_goes_on_when_every_partition_had_an_answer(begun):
    writer, took = begun(Writer(3))
    assert writer.heard == [0, 1, 2]
    assert took < client_module._FIRST_ANSWERS_SECONDS


def test_it_goes_on_after_a_while_where_a_partition_has_none(begun, monkeypatch):
    monkeypatch.setattr(client_module, "_FIRST_ANSWERS_SECONDS", 0.2)
    writer, took = begun(Writer(2))
    assert (writer.heard, took >= 0.2) == ([0, 1], True)


def test_it_waits_for_no_client_that_has_failed(begun):
    _, took = begun(Writer(0, fails=True))
    assert took < client_module._FIRST_ANSWERS_SECONDS


def test_it_waits_no_longer_than_the_run(begun):
    writer = Writer(1)
    _, took = begun(writer, lambda: bool(writer.heard))
    assert took < client_module._FIRST_ANSWERS_SECONDS
