"""What a topic holds is read back between the watermarks that its leaders state."""

import time
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from harness.cluster.address import Address
from harness.scenario.loads import readback
from harness.scenario.loads.compacted import stale_keys
from harness.scenario.loads.readback import (
    StoredRecord,
    Watermarks,
    high_watermarks,
    number_of,
    read_back,
    watermarks,
)
from harness.scenario.loads.records import lost_and_twice, never_so
from harness.scenario.loads.transactions import TransactionLedger, compare_transactions

BROKERS = [Address("h", 1)]
VALUE = b"x" * 100


def message(partition, offset, key=b"", error=None):
    told = {"partition": partition, "offset": offset, "key": key, "value": b"x", "error": error}
    return SimpleNamespace(**{name: (lambda value=value: value) for name, value in told.items()})


def end_at(partition, offset):
    return message(partition, offset, error=KafkaError(KafkaError._PARTITION_EOF))


class Log:
    """A consumer of partitions with these watermarks, which gives messages only from where it was told to begin."""

    def __init__(self, bounds, *messages):
        self._bounds, self._messages, self._begins = bounds, list(messages), {}

    def __call__(self, _settings):
        return self

    def get_watermark_offsets(self, part, timeout):
        if part.partition not in self._bounds:
            raise KafkaException("no leader")
        return self._bounds[part.partition]

    def assign(self, parts):
        self._begins = {part.partition: part.offset for part in parts}

    def poll(self, _seconds):
        found = self._messages.pop(0) if self._messages else None
        assert found is None or found.offset() >= self._begins[found.partition()]
        low = found and self._bounds[found.partition()][0]
        # Who asks for what lies below is told that there is no such offset, and gets nothing.
        return found if found and self._begins[found.partition()] >= low else None

    def close(self):
        pass


def keys_of(monkeypatch, log, partitions=1):
    monkeypatch.setattr(readback, "Consumer", log)
    monkeypatch.setattr(readback, "READ_SECONDS", 0.2)
    return [record.key for record in read_back("t", partitions, BROKERS)]


def test_what_was_lost_from_the_front_of_a_log_is_absent_and_the_rest_is_read(monkeypatch):
    stored = keys_of(monkeypatch, Log({0: (2, 4)}, message(0, 2, b"2"), message(0, 3, b"3")))
    assert lost_and_twice([0, 1, 2, 3], [int(key) for key in stored]) == (2, 0)


def test_a_log_of_which_nothing_is_left_is_read_at_once(monkeypatch):
    assert keys_of(monkeypatch, Log({0: (4, 4), 1: (0, 0)}), partitions=2) == []


def test_what_is_no_record_is_passed_by_where_a_partition_ends(monkeypatch):
    assert keys_of(monkeypatch, Log({0: (0, 3)}, message(0, 0, b"0"), end_at(0, 3))) == [b"0"]


def test_what_cannot_be_read_back_in_time_is_said_by_how_much_of_it_was(monkeypatch):
    with pytest.raises(TimeoutError, match="only 1 of 3 offsets"):
        keys_of(monkeypatch, Log({0: (4, 7)}, message(0, 4, b"4")))


def test_nobody_waits_for_watermarks_of_a_run_that_is_over(monkeypatch):
    monkeypatch.setattr(readback, "Consumer", Log({}))
    began = time.monotonic()
    with pytest.raises(TimeoutError, match="the end of t-0"):
        watermarks("t", 1, BROKERS, lambda: True)
    assert time.monotonic() - began < readback.READ_SECONDS / 2


def test_watermarks_are_those_of_every_partition_and_a_silent_leader_is_an_error(monkeypatch):
    monkeypatch.setattr(readback, "Consumer", Log({0: (2, 4), 1: (0, 1)}))
    monkeypatch.setattr(readback, "READ_SECONDS", 0.2)
    assert watermarks("t", 2, BROKERS) == {0: Watermarks(2, 4), 1: Watermarks(0, 1)}
    assert high_watermarks("t", 2, BROKERS) == {0: 4, 1: 1}
    with pytest.raises(TimeoutError, match="the end of t-2"):
        watermarks("t", 3, BROKERS)


def lying(*numbers, value=VALUE):
    keys = (b"" if number is None else str(number).encode() for number in numbers)
    return [StoredRecord(0, at, key, value) for at, key in enumerate(keys)]


@pytest.mark.parametrize(
    ("stored", "binding", "told"),
    [
        (lying(0, 1, 2, 3), True, ()),
        (lying(0, 1, 1, 2, 3), True, ()),  # a copy counts elsewhere
        (lying(3, 2, 1, 0), True, ("3 records lie behind records that were sent later: 0, 1, 2",)),
        (lying(3, 2, 1, 0), False, ()),
        (lying(0, 1, 2, 3, 77), True, ("1 records were never sent: 77",)),
        (lying(0, 1, 2, 3, None), False, ("1 records were never sent: -1",)),
        (lying(0, 1, value=b""), True, ("2 records have another value than they were sent with",)),
    ],
)
def test_numbered_records_are_what_was_sent_in_its_order_and_nothing_else(stored, binding, told):
    assert never_so(4, {}, stored, binding=binding) == told


def test_numbered_records_lie_where_the_broker_said():
    told = ("1 records do not lie where the broker said: 1",)
    assert never_so(2, {0: (0, 0), 1: (0, 7)}, lying(0, 1), binding=True) == told
    assert never_so(2, {0: (0, 0), 1: (0, -1)}, lying(0, 1), binding=True) == ()


@pytest.mark.parametrize("key", [b"\x00\xffab", b"", b"seven"])
def test_a_key_that_names_no_number_is_one_that_nobody_sent(key):
    assert number_of(key) == -1
    assert stale_keys({"0": 1}, [StoredRecord(0, 0, b"0", key)]) == ["0"]
    ledger = TransactionLedger(1, [4], [], [])
    assert compare_transactions(ledger, [4, number_of(key)])[2] == (
        "records of 1 transactions can be read that were never begun",
    )
