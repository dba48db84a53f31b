"""The load that keeps a ledger: what it promises, in words and as settings, and what its report says."""

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from harness.cluster.address import Address
from harness.scenario.ledger.history import Ended
from harness.scenario.loads import along, first_answers
from harness.scenario.loads import ledger as module
from harness.scenario.loads.ledger import LedgerClient, keep_ledger
from harness.scenario.loads.readback import StoredRecord

MADE = []


@pytest.fixture(autouse=True)
def no_open_files():
    yield
    while MADE:
        MADE.pop()._ledger.close()


def nobody(places):
    return {}


def client_of(tmp_path, **promised):
    MADE.append(LedgerClient(keep_ledger("t", **promised), 1, [Address("h", 1)], tmp_path / "ledger.tsv", nobody))
    return MADE[-1]


def test_what_a_producer_is_promised_is_what_it_is_configured_with():
    assert keep_ledger("t").promise.settings("t")["enable.idempotence"] is True
    assert keep_ledger("t", acks="1", idempotent=False).promise.settings("t")["acks"] == "1"
    in_transactions = keep_ledger("t", transactional=True).promise
    assert in_transactions.settings("t")["transactional.id"] != in_transactions.settings("u")["transactional.id"]


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
    client._ledger.sent([(number, "")])
    client._told(error, message_of(number, offset))
    client._enter_answers()


def test_what_was_acknowledged_and_is_not_there_counts_as_lost(tmp_path, monkeypatch):
    client = client_of(tmp_path)
    answered(client, 0, 0)
    answered(client, 1, 1)
    answered(client, 2, error=KafkaError(KafkaError._MSG_TIMED_OUT))
    report = report_of(client, monkeypatch, 0)
    assert (report.acknowledged, report.lost, report.failures, report.binding) == (2, 1, {"_MSG_TIMED_OUT": 1}, True)
    assert "A\t" in (tmp_path / "ledger.tsv").read_text()


class Reader:
    """A consumer that gets these messages, and raises what is among them; leaders say that partition 0 ends at `end`.

    All is written when it has given the last but one.
    """

    def __init__(self, client, *messages, end=1):
        self._client, self._messages, self._end = client, list(messages), end

    def assign(self, parts):
        pass

    def consume(self, most, _seconds):
        if len(self._messages) < 2:
            self._client._along.all_is_written(patient=True)
        message = self._messages.pop(0) if self._messages else None
        if isinstance(message, Exception):
            raise message
        return [message][:most] if message else []

    def get_watermark_offsets(self, _part, *, cached=False, timeout=0.0):
        if timeout and self._end is None:
            raise KafkaException("no leader")
        return None if self._end is None else (0, self._end)

    def close(self):
        pass


def end_at(offset):
    message = message_of("", offset)
    message.error = lambda: KafkaError(KafkaError._PARTITION_EOF)
    return message


def read_along(client, monkeypatch, *messages, end=1):
    monkeypatch.setattr(along, "DRAIN_SECONDS", 0.2)
    monkeypatch.setattr(along, "_ANSWERS_SECONDS", 0.2)
    monkeypatch.setattr(along, "Consumer", lambda _settings: Reader(client, *messages, end=end))
    client._read_along()


def message_of(number, offset):
    values = {"partition": 0, "offset": offset, "value": str(number).encode(), "error": None, "latency": 0.01}
    return SimpleNamespace(**{name: (lambda value=value: value) for name, value in values.items()})


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([message_of(0, 0)], ""),
        ([], "its consumer got to 0 of 1 in partition 0"),
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
    read_along(client, monkeypatch, *messages)
    report = report_of(client, monkeypatch, 0)
    assert (report.unread, report.lost) == (why, 1)


@pytest.mark.parametrize(
    ("messages", "end", "why"),
    [
        ([message_of(0, 0), message_of(1, 1)], 2, ""),
        ([message_of(0, 0)], 2, "its consumer got to 1 of 2 in partition 0"),
        ([message_of(0, 0), end_at(2)], 2, ""),  # a marker of a transaction is no record
        ([end_at(2), message_of(0, 0)], 2, "its consumer got to 1 of 2 in partition 0"),  # truncated, and read again
        ([message_of(0, 0), end_at(1)], 2, "its consumer got to 1 of 2 in partition 0"),
        ([message_of(0, 0), end_at(5)], 2, ""),
        ([message_of(0, 0)], None, "where the topic ends was not said of partitions [0]"),
    ],
)
def test_a_consumer_reads_on_to_the_end_that_the_producer_left_or_says_how_far_it_got(
    tmp_path, monkeypatch, messages, end, why
):
    client = client_of(tmp_path)
    answered(client, 0, 0)
    read_along(client, monkeypatch, *messages, end=end)
    assert report_of(client, monkeypatch, 0).unread == why


def test_who_waits_for_nothing_does_not_read_on(tmp_path, monkeypatch):
    client = client_of(tmp_path)
    client._along.all_is_written(patient=False)
    read_along(client, monkeypatch, end=7)
    assert not client._along.unseen


def test_a_ledger_whose_consumer_still_reads_is_not_known_to_be_whole(tmp_path, monkeypatch):
    client = client_of(tmp_path)
    answered(client, 0, 0)
    assert report_of(client, monkeypatch, 0).unread == "its consumer did not end"


def test_with_one_ack_a_loss_is_counted_and_binds_nobody(tmp_path, monkeypatch):
    client = client_of(tmp_path, acks="1", idempotent=False)
    answered(client, 0, 0)
    client._ledger.seen([((0, 0), 0)])
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
    read_along(client, monkeypatch, message_of(0, 0), message_of("x" * 100, 1), message_of(1, 2), end=3)
    report = report_of(client, monkeypatch, 0, "x" * 100, 1)
    assert (report.lost, report.violations, report.unread) == (0, (), "")
    assert [number for _, number in client._ledger.history.seen] == [0, 1]
    foreign = report_of(client_of(tmp_path, existing=True), monkeypatch, 7)
    assert foreign.violations == ("1 records were never sent: 7",)


class AWorld:
    """Makes topics, and knows of one how many partitions it has."""

    def __init__(self, folder):
        self.made = []
        self.is_over = lambda: True
        topology = SimpleNamespace(combined=False, voter_ids=(), broker_ids=(0, 1, 2))
        self.cluster = SimpleNamespace(topology=topology, client_brokers=[Address("h", 1)])
        self.folder = SimpleNamespace(ledger=lambda topic: folder / f"{topic}.tsv")

    def create_topic(self, name, replicas, _settings):
        self.made.append((name, len(replicas)))


@pytest.mark.parametrize(
    ("existing", "partitions", "made"),
    [(False, 3, [("__consumer_offsets", 1), ("t", 3)]), (True, 6, [])],
)
def test_a_topic_is_made_or_taken_with_all_the_partitions_that_it_has(
    tmp_path, monkeypatch, existing, partitions, made
):
    world = AWorld(tmp_path)
    monkeypatch.setattr(module, "partitions_of", lambda *_: 6)
    monkeypatch.setattr(LedgerClient, "start", lambda _: None)
    monkeypatch.setattr(first_answers, "watermarks", lambda *_: {})
    client = keep_ledger("t", existing=existing).start(world)
    client.abandon()
    assert (client._partitions, world.made) == (partitions, made)


def test_transactions_are_counted_by_how_they_ended(tmp_path, monkeypatch):
    client = client_of(tmp_path, transactional=True)
    for transaction, how in enumerate([Ended.COMMITTED, Ended.ABORTED, Ended.UNKNOWN]):
        client._ledger.sent([(transaction, "")], transaction)
        client._ledger.acknowledged([(transaction, 0, transaction)])
        client._ledger.ended(transaction, how)
    report = report_of(client, monkeypatch, 0)
    assert (report.lost, report.violations) == (0, ())
    assert report.detail.endswith("1 transactions aborted, 1 unknown")
    assert client._ledger.history.stored == [((0, 0), 0)]


class Sender:
    """A producer that has every record acknowledged at the next poll, but for those that a test has fail."""

    def __init__(self, client, fails=()):
        self.sent, self._waiting, self._client, self._fails = [], [], client, fails

    def produce(self, _topic, value, key, partition):
        self.sent.append((int(value), key, partition))
        self._waiting.append((self._error(int(value)), message_of(value, int(value))))

    def _error(self, number):
        return KafkaError(KafkaError._MSG_TIMED_OUT) if number in self._fails else None

    def poll(self, _seconds):
        waiting, self._waiting = self._waiting, []
        for answer in waiting:
            self._client._told(*answer)

    def begin_transaction(self):
        pass

    commit_transaction = abort_transaction = flush = poll


@pytest.mark.parametrize(("stored", "lost"), [((0,), 1), ((0, 1), 0)])
def test_what_was_acknowledged_before_a_producer_failed_for_good_is_looked_for_all_the_same(
    tmp_path, monkeypatch, stored, lost
):
    client = client_of(tmp_path, per_second=5000)

    class Fails(Sender):
        def produce(self, topic, value, key, partition):
            if len(self.sent) == 2:  # what is on its way to the client is answered yet
                client.stopping.set()
                raise KafkaException("out of order")
            super().produce(topic, value, key, partition)

    monkeypatch.setattr(client, "_producer", lambda: Fails(client))
    monkeypatch.setattr(along, "Consumer", lambda _settings: Reader(client, message_of(0, 0), message_of(1, 1)))
    monkeypatch.setattr(module, "high_watermarks", lambda *_: {0: 2})
    records = [StoredRecord(0, number, b"", str(number).encode()) for number in stored]
    monkeypatch.setattr(module, "read_back", lambda *_, committed: records)
    client.start()
    assert client.stopping.wait(5.0)
    client.stop()
    report = client.report([])
    assert (report.acknowledged, report.lost, report.unread) == (2, lost, "the client failed: out of order")
    assert not client.pauses.all_answered_since(0.0), "nothing is expected any more of a client that failed"


class Time:
    """A clock that goes on while somebody waits."""

    def __init__(self, monkeypatch, client):
        self.now = 100.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(client.stopping, "wait", self.wait)

    def wait(self, seconds):
        self.now += seconds
        return False


@pytest.mark.parametrize(("per_second", "apart"), [(50, 0.02), (5000, 0.02), (5, 0.2)])
def test_records_are_sent_in_bunches_at_the_rate_that_was_asked_for(tmp_path, monkeypatch, per_second, apart):
    client = client_of(tmp_path, per_second=per_second)
    sender = Sender(client)
    clock = Time(monkeypatch, client)
    client._due = clock.now
    bunches = [client._send(sender, 500) for _ in range(100)]
    assert [number for number, *_ in sender.sent] == [*range(sum(bunches))]
    assert sum(bunches) == pytest.approx(per_second * (clock.now - 100), abs=per_second * apart)
    assert clock.now - 100 == pytest.approx(100 * apart)
    assert max(bunches) <= per_second * apart + 1


def test_what_became_due_while_the_client_had_no_turn_is_sent_at_once_and_no_more_than_was_allowed(
    tmp_path, monkeypatch
):
    client = client_of(tmp_path, keys=3)
    sender = Sender(client)
    clock = Time(monkeypatch, client)
    client._due = clock.now - 1.0
    assert client._send(sender, 10, 7) == 10
    assert client._send(sender, 500) == 41
    assert sender.sent[:4] == [(0, "k0", -1), (1, "k1", -1), (2, "k2", -1), (3, "k0", -1)]
    assert client._ledger.history.sent[9] == 7


def test_every_answer_is_entered_with_its_number_and_those_of_one_moment_at_once(tmp_path, monkeypatch):
    client = client_of(tmp_path, per_second=5000)
    sender = Sender(client, fails={3})
    client._due = Time(monkeypatch, client).now - 0.0021
    noted = []
    monkeypatch.setattr(client, "answered_all", lambda keys, latencies: noted.append((keys, len(latencies))))
    assert client._send(sender, 500) == 11
    history = client._ledger.history
    assert history.acknowledged == {number: (0, number) for number in range(11) if number != 3}
    assert (history.failed, dict(client.failures)) == ({3: "_MSG_TIMED_OUT"}, {"_MSG_TIMED_OUT": 1})
    assert noted == [({0}, 10)]
    client._ledger.close()
    times = {line.split("\t")[1] for line in (tmp_path / "ledger.tsv").read_text().splitlines() if line[0] == "A"}
    assert len(times) == 1


def test_a_transaction_has_its_records_and_its_end_behind_their_answers(tmp_path, monkeypatch):
    client = client_of(tmp_path, transactional=True, per_second=5000)
    sender = Sender(client)
    client._due = Time(monkeypatch, client).now
    monkeypatch.setattr(client, "_initialised", lambda: sender)
    ended = []
    monkeypatch.setattr(client._ledger, "ended", lambda *told: ended.append(told) or client.stopping.set())
    client._in_transactions()
    assert ended == [(0, Ended.COMMITTED)]
    assert client._ledger.history.sent == dict.fromkeys(range(10), 0)
    assert len(client._ledger.history.acknowledged) == 10


def test_a_transaction_that_is_left_open_is_ended_by_the_producer_that_takes_its_place(tmp_path, monkeypatch):
    client = client_of(tmp_path, transactional=True, per_second=5000)
    client._due = Time(monkeypatch, client).now
    made = []

    class Fails(Sender):
        def commit_transaction(self, _seconds):
            client.stopping.set()
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    monkeypatch.setattr(client, "_initialised", lambda: made.append(Fails(client)) or made[-1])
    client._in_transactions()
    assert client._ledger.history.transactions == {0: Ended.UNKNOWN}
    assert len(made) == 2


def test_a_batch_that_a_consumer_got_is_seen_in_its_order_with_the_newest_watermark(tmp_path):
    client = client_of(tmp_path)
    client._along.saw([message_of(4, 0), message_of(2, 1)])
    client._along.note_watermarks(Reader(client), {0})
    assert client._ledger.history.seen == [((0, 0), 4), ((0, 1), 2)]
    assert client._ledger.history.highest == {0: 1}
