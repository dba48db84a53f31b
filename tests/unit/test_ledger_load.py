"""The load that keeps a ledger: what it promises, in words and as settings, and what its report says."""

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from harness.cluster.address import Address
from harness.scenario.ledger.history import Ended, Place
from harness.scenario.loads import ledger as module
from harness.scenario.loads.ledger import LedgerClient, keep_ledger
from harness.scenario.loads.readback import StoredRecord


def client_of(tmp_path, **promised):
    return LedgerClient(keep_ledger("t", **promised), 1, [Address("h", 1)], tmp_path / "ledger.tsv")


def test_what_a_producer_is_promised_is_what_it_is_configured_with():
    assert keep_ledger("t").promise.settings["enable.idempotence"] is True
    assert keep_ledger("t", acks="1", idempotent=False).promise.settings["acks"] == "1"
    assert "transactional.id" in keep_ledger("t", transactional=True).promise.settings


def test_a_ledger_is_described_in_words():
    said = keep_ledger("t", keys=20).description
    assert said == "keep a ledger of 50 records a second to “t” (acks=all, idempotently, 20 keys)"


@pytest.mark.parametrize("promised", [{"acks": "1"}, {"transactional": True, "idempotent": False}])
def test_promises_that_kafka_does_not_make_are_mistakes_of_the_plan(promised):
    with pytest.raises(ValueError, match="idempotent"):
        keep_ledger("t", **promised)


def report_of(client, monkeypatch, *stored):
    monkeypatch.setattr(module, "high_watermarks", lambda *_: {0: len(stored)})
    records = [StoredRecord(0, offset, b"", str(number).encode()) for offset, number in enumerate(stored)]
    monkeypatch.setattr(module, "read_back", lambda *_, committed: records)
    return client.compare([])


def answered(client, number, offset=None, error=None):
    client._ledger.sent(number)
    client._answered(number)(error, SimpleNamespace(partition=lambda: 0, offset=lambda: offset, latency=lambda: 0.01))


def test_what_was_acknowledged_and_is_not_there_counts_as_lost(tmp_path, monkeypatch):
    client = client_of(tmp_path)
    answered(client, 0, 0)
    answered(client, 1, 1)
    answered(client, 2, error=KafkaError(KafkaError._MSG_TIMED_OUT))
    report = report_of(client, monkeypatch, 0)
    assert (report.acknowledged, report.lost, report.failures, report.binding) == (2, 1, {"_MSG_TIMED_OUT": 1}, True)
    assert "A\t" in (tmp_path / "ledger.tsv").read_text()


class Reader:
    """A consumer that gets these messages, and raises what is among them."""

    def __init__(self, client, *messages):
        self._client, self._messages = client, list(messages)

    def assign(self, parts):
        pass

    def poll(self, _seconds):
        if len(self._messages) < 2:
            self._client.stopping.set()
        message = self._messages.pop(0) if self._messages else None
        if isinstance(message, Exception):
            raise message
        return message

    def get_watermark_offsets(self, _part, *, cached):
        return (0, 1) if cached else None

    def close(self):
        pass


def message_of(number, offset):
    values = {"partition": 0, "offset": offset, "value": str(number).encode(), "error": None}
    return SimpleNamespace(**{name: (lambda value=value: value) for name, value in values.items()})


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([message_of(0, 0)], ""),
        ([], "its consumer saw nothing"),
        ([message_of(0, 0), KafkaException("no such group")], "its consumer failed: no such group"),
        ([message_of("x", 0)], "its consumer failed: invalid literal for int() with base 10: b'x'"),
    ],
)
def test_a_ledger_whose_consumer_saw_too_little_says_so_and_is_judged_all_the_same(
    tmp_path, monkeypatch, messages, why
):
    client = client_of(tmp_path)
    answered(client, 0, 0)
    answered(client, 1, 1)
    monkeypatch.setattr(module, "Consumer", lambda _settings: Reader(client, *messages))
    client._watch()
    report = report_of(client, monkeypatch, 0)
    assert (report.unread, report.lost) == (why, 1)


def test_a_ledger_whose_consumer_still_reads_is_not_known_to_be_whole(tmp_path, monkeypatch):
    client = client_of(tmp_path)
    answered(client, 0, 0)
    assert report_of(client, monkeypatch, 0).unread == "its consumer did not end"


def test_with_one_ack_a_loss_is_counted_and_binds_nobody(tmp_path, monkeypatch):
    client = client_of(tmp_path, acks="1", idempotent=False)
    answered(client, 0, 0)
    client._ledger.seen(0, 0, 0)
    client._ledger.high_watermark(0, 1)
    report = report_of(client, monkeypatch)
    assert (report.lost, report.binding, report.violations) == (1, False, ())


def test_a_record_in_another_place_than_the_broker_said_is_a_violation(tmp_path, monkeypatch):
    client = client_of(tmp_path)
    answered(client, 0, 5)
    assert report_of(client, monkeypatch, 0).violations == ("1 records do not lie where the broker said: 0",)


def test_a_record_that_names_no_number_was_never_sent(tmp_path, monkeypatch):
    client = client_of(tmp_path)
    answered(client, 0, 0)
    report = report_of(client, monkeypatch, 0, "torn")
    assert (report.lost, report.violations) == (0, ("1 records were never sent: -1",))


def test_of_a_topic_that_others_write_to_only_what_is_a_number_is_accounted_for(tmp_path, monkeypatch):
    client = client_of(tmp_path, existing=True)
    answered(client, 0, 0)
    answered(client, 1, 2)
    reader = Reader(client, message_of(0, 0), message_of("x" * 100, 1), message_of(1, 2))
    monkeypatch.setattr(module, "Consumer", lambda _settings: reader)
    client._watch()
    report = report_of(client, monkeypatch, 0, "x" * 100, 1)
    assert (report.lost, report.violations, report.unread) == (0, (), "")
    assert [number for _, number in client._ledger.history.seen] == [0, 1]
    foreign = report_of(client_of(tmp_path, existing=True), monkeypatch, 7)
    assert foreign.violations == ("1 records were never sent: 7",)


class AWorld:
    """Makes topics, and knows of one how many partitions it has."""

    def __init__(self, folder):
        self.made = []
        topology = SimpleNamespace(combined=False, voter_ids=(), broker_ids=(0, 1, 2))
        self.cluster = SimpleNamespace(topology=topology, client_brokers=[Address("h", 1)])
        self.folder = SimpleNamespace(ledger=lambda topic: folder / f"{topic}.tsv")

    def create_topic(self, name, replicas, _settings):
        self.made.append((name, len(replicas)))


@pytest.mark.parametrize(
    ("existing", "partitions", "made"),
    [(False, 3, [("__consumer_offsets", 1), ("t", 3)]), (True, 6, [("__consumer_offsets", 1)])],
)
def test_a_topic_is_made_or_taken_with_all_the_partitions_that_it_has(
    tmp_path, monkeypatch, existing, partitions, made
):
    world = AWorld(tmp_path)
    monkeypatch.setattr(module, "partitions_of", lambda *_: 6)
    monkeypatch.setattr(LedgerClient, "start", lambda _: None)
    client = keep_ledger("t", existing=existing).start(world)
    client.abandon()
    assert (client._partitions, world.made) == (partitions, made)


def test_transactions_are_counted_by_how_they_ended(tmp_path, monkeypatch):
    client = client_of(tmp_path, transactional=True)
    for transaction, how in enumerate([Ended.COMMITTED, Ended.ABORTED, Ended.UNKNOWN]):
        client._ledger.sent(transaction, "", transaction)
        client._ledger.acknowledged(transaction, 0, transaction)
        client._ledger.ended(transaction, how)
    report = report_of(client, monkeypatch, 0)
    assert (report.lost, report.violations) == (0, ())
    assert report.detail.endswith("1 transactions aborted, 1 unknown")
    assert client._ledger.history.stored == [(Place(0, 0), 0)]
