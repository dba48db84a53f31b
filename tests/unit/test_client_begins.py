"""A client that writes has had an answer for each partition before anything happens to a leader."""

import threading
import time
from types import SimpleNamespace

import pytest

from harness.model.clients import ClientReport
from harness.scenario import client as client_module
from harness.scenario.client import Client
from harness.scenario.loads import first_answers
from harness.scenario.loads.first_answers import begin_to_write
from harness.scenario.world import ActionFailed


class Writer(Client):
    """Is answered for the keys in turn, a moment apart, as far as it gets."""

    def __init__(self, answered: int, fails: bool | Exception = False) -> None:
        super().__init__("orders", "records", (), range(3))
        self.topic = "orders"
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
            raise self._fails if isinstance(self._fails, Exception) else TimeoutError("nobody is there")
        self.stopping.wait()

    def compare(self, brokers):
        """Nothing is compared."""
        raise AssertionError(brokers)


@pytest.fixture
def asked(monkeypatch):
    """Have leaders tell where partitions end; return what was asked of them."""
    asked = []
    monkeypatch.setattr(first_answers, "watermarks", lambda *what: asked.append(what))
    return asked


@pytest.fixture
def begun(asked):
    """Return a function that begins a writer, and returns it with the seconds that this took; they end."""
    made = []

    def begin(writer, is_over=lambda: False):
        made.append(writer)
        began = time.monotonic()
        begin_to_write(writer, SimpleNamespace(is_over=is_over), 3)
        return writer, time.monotonic() - began

    yield begin
    for writer in made:
        writer.stop()


def test_it_goes_on_when_every_partition_had_an_answer(begun):
    writer, took = begun(Writer(3))
    assert writer.heard == [0, 1, 2]
    assert took < client_module.FIRST_ANSWERS_SECONDS


def test_nothing_is_written_before_the_leaders_of_all_partitions_have_their_logs(begun, asked, monkeypatch):
    begun(Writer(3))
    ((*what, is_over),) = asked
    assert (what, is_over()) == (["orders", 3, ()], False)

    def no_leader(*_):
        raise TimeoutError("the end of orders-2 was not known within 20 s (no answer)")

    monkeypatch.setattr(first_answers, "watermarks", no_leader)
    writer = Writer(3)
    with pytest.raises(ActionFailed, match="orders cannot be written to: the end of orders-2 was not known"):
        begin_to_write(writer, SimpleNamespace(is_over=lambda: False), 3)
    assert writer.heard == []
    assert writer._thread.ident is None, "it was not begun"


def test_without_an_answer_for_each_partition_the_plan_cannot_go_on(begun, monkeypatch):
    monkeypatch.setattr(first_answers, "FIRST_ANSWERS_SECONDS", 1.0)
    monkeypatch.setattr(client_module, "FIRST_ANSWERS_SECONDS", 1.0)
    writer = Writer(2)
    with pytest.raises(ActionFailed, match=r"orders has not had an answer for all that it writes in 1 s"):
        begun(writer)
    assert writer.heard == [0, 1]
    assert writer.stopping.is_set(), "nobody would stop a client that the plan never got"


def test_it_waits_for_no_client_that_has_failed(begun):
    _, took = begun(Writer(0, fails=True))
    assert took < client_module.FIRST_ANSWERS_SECONDS


def test_it_waits_no_longer_than_the_run(begun):
    writer = Writer(1)
    _, took = begun(writer, lambda: bool(writer.heard))
    assert took < client_module.FIRST_ANSWERS_SECONDS


class OwnLoad(Writer):
    """A load of somebody's own, which compares what it has."""

    def compare(self, brokers):
        return ClientReport("orders", "records", len(self.heard), 0, 0, 0.0)


def test_a_client_that_dies_of_whatever_has_not_kept_account_to_the_end(begun):
    writer, _ = begun(OwnLoad(1, fails=ValueError("no such key")))
    assert writer.report(()).unread == "the client failed: ValueError: no such key"
