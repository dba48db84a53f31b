"""The ledger's judge, held against a checker that asks each question of all records, one by one."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cluster.segments import Writer
from harness.scenario.ledger.history import NO_TRANSACTION, Ended, History, Ledger
from harness.scenario.ledger.judge import Findings, judge, violations

NUMBERS = st.integers(0, 7)
PLACES = st.tuples(st.integers(0, 1), st.integers(-1, 6))
READ = st.lists(st.tuples(st.tuples(st.integers(0, 1), st.integers(0, 9)), NUMBERS), max_size=10).map(
    lambda found: list(dict(found).items())  # a place holds one record
)
HISTORIES = st.builds(
    History,
    sent=st.dictionaries(NUMBERS, st.sampled_from([NO_TRANSACTION, 0, 1, 2])),
    keys=st.dictionaries(NUMBERS, st.sampled_from("ab")),
    acknowledged=st.dictionaries(NUMBERS, PLACES),
    failed=st.dictionaries(NUMBERS, st.just("E")),
    transactions=st.dictionaries(st.integers(0, 2), st.sampled_from(Ended)),
    seen=READ,
    stored=READ,
    writers=st.dictionaries(
        st.tuples(st.integers(0, 1), st.integers(0, 9)),
        st.builds(Writer, st.just(7), st.integers(0, 1), st.integers(0, 2)),
        min_size=8,
    ),
    highest=st.dictionaries(st.integers(0, 1), st.integers(0, 5)),
    ends=st.dictionaries(st.integers(0, 1), st.integers(0, 5)),
)


def checked(history: History) -> Findings:
    """Return the same, slowly: every definition as it reads, over every pair where it is about two."""
    stored, seen = history.stored, history.seen
    order = list(history.sent)

    def there(number):
        return any(each == number for _, each in stored)

    def repeated(number):
        return sum(each == number for _, each in stored) > 1

    def known(number):
        return there(number) or any(each == number for _, each in seen)

    def ending(number):
        transaction = history.sent.get(number, NO_TRANSACTION)
        return history.transactions.get(transaction, Ended.UNKNOWN) if transaction != NO_TRANSACTION else None

    def first(number):
        return min((p for p, each in stored if each == number), default=None)

    def overtaken(number):
        return any(
            first(other) is not None
            and first(other)[0] == first(number)[0]
            and first(other)[1] < first(number)[1]
            and order.index(other) > order.index(number)
            for other in order
        )

    def whole(transaction):
        committed = history.transactions.get(transaction) is Ended.COMMITTED
        mine = [n for n in order if history.sent[n] == transaction]
        members = [n for n in mine if committed or n in history.acknowledged]
        return not any(there(n) for n in mine) or all(there(n) for n in members)

    def taken_twice(number):
        copies = [place for place, each in stored if each == number]
        return ending(number) is not None or any(
            one not in history.writers
            or one[0] != other[0]
            or (one != other and history.writers[one][:2] == history.writers.get(other, (None, None))[:2])
            for one in copies
            for other in copies
        )

    every = sorted({*history.sent, *history.acknowledged, *(n for _, n in [*seen, *stored])})
    acked = history.acknowledged
    return Findings(
        lost=tuple(n for n in every if n in acked and ending(n) in (None, Ended.COMMITTED) and not there(n)),
        duplicated=tuple(n for n in every if repeated(n) and taken_twice(n)),
        resent=tuple(n for n in every if repeated(n) and not taken_twice(n)),
        reordered=tuple(n for n in every if n in history.sent and there(n) and overtaken(n)),
        unacknowledged=tuple(n for n in every if n in history.sent and known(n) and n not in acked),
        vanished=tuple(n for n in every if known(n) and not there(n)),
        skipped=tuple(
            n
            for n in every
            if not any(each == n for _, each in seen)
            and any(each == n and any(p[0] == q[0] and p[1] < q[1] for q, _ in seen) for p, each in stored)
        ),
        changed=tuple(n for n in every if there(n) and any(each == n and (p, n) not in stored for p, each in seen)),
        foreign=tuple(n for n in every if known(n) and n not in history.sent),
        misplaced=tuple(
            n for n in every if n in acked and acked[n][1] >= 0 and there(n) and (acked[n], n) not in stored
        ),
        aborted=tuple(n for n in every if known(n) and ending(n) is Ended.ABORTED),
        torn=tuple(t for t in range(3) if not whole(t)),
        scattered=tuple(
            key for key in "ab" if len({partition for (partition, _), n in stored if history.keys.get(n) == key}) > 1
        ),
        receded=tuple(p for p in range(2) if p in history.highest and history.ends.get(p, 9) < history.highest[p]),
    )


@given(HISTORIES)
def test_the_judge_finds_what_a_checker_finds_that_asks_of_every_record(history):
    assert asdict(judge(history)) == asdict(checked(history))


@given(st.integers(1, 30), st.integers(1, 3))
def test_a_history_in_which_nothing_went_wrong_has_no_findings(count, partitions):
    places = {number: (number % partitions, number // partitions) for number in range(count)}
    stored = [(place, number) for number, place in places.items()]
    history = History(dict.fromkeys(range(count), NO_TRANSACTION), {}, places, seen=list(stored), stored=stored)
    assert judge(history) == Findings()
    assert violations(judge(history), idempotent=True) == ()


def test_what_a_consumer_was_not_given_before_what_lies_behind_it_is_passed_over():
    places = [((part, offset), 10 * part + offset) for part in (0, 1) for offset in range(5)]
    sent = dict.fromkeys((number for _, number in places), NO_TRANSACTION)
    seen = [each for each in places if each[1] in (0, 1, 3, 10, 11)]
    history = History(sent, {}, {number: place for place, number in places}, seen=seen, stored=places)
    assert judge(history).skipped == (2,)
    (said,) = violations(judge(history), idempotent=True)
    assert said == "1 records were not given to a consumer that read on behind them: 2"
    assert violations(judge(history), idempotent=True, binding=False) == ()


def ledger_of(tmp_path, *calls):
    with Ledger(tmp_path / "run" / "ledger.tsv") as ledger:
        for name, *values in calls:
            getattr(ledger, name)(*values)
    return ledger.history, (tmp_path / "run" / "ledger.tsv").read_text().splitlines()


def test_an_acknowledged_record_that_is_gone_is_lost_and_one_that_failed_is_not(tmp_path):
    history, lines = ledger_of(
        tmp_path,
        ("sent", [(0, "")]),
        ("acknowledged", [(0, 0, 0)]),
        ("sent", [(1, "")]),
        ("failed", 1, "_MSG_TIMED_OUT"),
        ("stored", []),
    )
    assert judge(history) == Findings(lost=(0,))
    assert [line.split("\t")[0] for line in lines] == ["S", "A", "S", "E"]
    assert lines[1].split("\t")[2:] == ["0", "0", "0"]


def test_what_an_aborted_transaction_wrote_may_not_be_seen_and_what_has_no_answer_may(tmp_path):
    history, _ = ledger_of(
        tmp_path,
        ("sent", [(0, "")], 7),
        ("ended", 7, Ended.ABORTED),
        ("sent", [(1, "")], 8),
        ("ended", 8, Ended.UNKNOWN),
        ("seen", [((0, 0), 0)]),
        ("stored", [((0, 0), 0), ((0, 1), 1)]),
    )
    found = judge(history)
    assert (found.aborted, found.unacknowledged, found.lost) == ((0,), (0, 1), ())
    assert violations(found, idempotent=True) == ("1 records can be read although they were aborted: 0",)


def test_a_high_watermark_that_came_back_is_a_setback_and_one_that_did_not_is_a_violation(tmp_path):
    history, _ = ledger_of(tmp_path, *(("high_watermark", 0, offset) for offset in (5, 9, 7, 9, 12)))
    assert (history.setbacks, judge(history).receded) == (1, ())
    history, _ = ledger_of(tmp_path, *(("high_watermark", 0, offset) for offset in (5, 9, 7)))
    assert violations(judge(history), idempotent=False) == ("the high watermark went back for good in partition 0",)


def test_the_copy_whose_place_was_told_may_go_where_no_loss_binds():
    history = History({0: NO_TRANSACTION}, acknowledged={0: (0, 9)}, stored=[((0, 5), 0)])
    assert violations(judge(history), idempotent=False, binding=False) == ()
    assert violations(judge(history), idempotent=False) == ("1 records do not lie where the broker said: 0",)


def test_a_record_that_was_consumed_at_a_place_lies_there_in_the_end_where_losses_bind():
    history = History(dict.fromkeys((7, 8), NO_TRANSACTION), acknowledged={8: (0, 3)})
    history.seen, history.stored = [((0, 3), 7)], [((0, 3), 8), ((0, 9), 7)]
    found = judge(history)
    assert (found.changed, found.vanished) == ((7,), ())
    assert violations(found, idempotent=False) == ("1 records do not lie where they were consumed: 7",)
    assert violations(found, idempotent=False, binding=False) == ()


def test_all_that_was_sent_in_a_committed_transaction_is_there_whatever_was_answered():
    history = History({0: 1, 1: 1}, acknowledged={0: (0, 0)}, transactions={1: Ended.COMMITTED})
    history.stored = [((0, 0), 0)]
    assert judge(history).torn == (1,)
    history.transactions = {1: Ended.UNKNOWN}
    assert judge(history).torn == ()


def test_a_transaction_of_which_a_record_without_an_answer_is_there_has_all_that_was_acknowledged():
    history = History({0: 1, 1: 1, 2: 1}, acknowledged={0: (0, 0)}, transactions={1: Ended.UNKNOWN})
    history.stored = [((0, 1), 1)]
    assert violations(judge(history), idempotent=True) == ("1 transactions are there in part: 1",)
    history.stored = [((0, 0), 0)]
    assert judge(history).torn == ()


def test_order_and_repetition_bind_only_where_the_producer_is_idempotent():
    history = History(dict.fromkeys(range(3), NO_TRANSACTION))
    history.stored = [((0, 0), 1), ((0, 1), 0), ((0, 2), 2), ((0, 3), 2)]
    found = judge(history)
    assert (found.reordered, found.duplicated) == ((0,), (2,))
    assert violations(found, idempotent=False) == ()
    assert violations(found, idempotent=True) == (
        "1 records lie behind records that were sent later: 0",
        "1 records are there twice in spite of idempotence: 2",
    )


def test_a_ledger_that_is_closed_keeps_what_comes_late(tmp_path):
    ledger = Ledger(tmp_path / "ledger.tsv")
    ledger.close()
    ledger.acknowledged([(0, 0, 0)])
    assert ledger.history.acknowledged == {0: (0, 0)}


def test_a_record_is_there_twice_by_its_producer_where_another_epoch_of_it_wrote_the_other(tmp_path):
    history, _ = ledger_of(
        tmp_path,
        ("sent", [(0, ""), (1, "")]),
        ("stored", [((0, 0), 0), ((0, 1), 1), ((0, 2), 0), ((0, 3), 1)]),
    )
    old, new = Writer(7, 0, 0), Writer(7, 1, 0)
    history.writers = {(0, 0): old, (0, 1): Writer(7, 0, 1), (0, 2): new, (0, 3): Writer(7, 0, 1)}
    found = judge(history)
    assert (found.duplicated, found.resent) == ((1,), (0,))
    assert violations(found, idempotent=True) == ("1 records are there twice in spite of idempotence: 1",)


@pytest.mark.parametrize(
    ("places", "writers"),
    [
        ([(0, 0), (1, 2)], [Writer(7, 0, 0), Writer(7, 1, 0)]),  # no producer sends to another partition again
        ([(0, 0), (0, 2)], [Writer(7, 0, 2), Writer(7, 0, 3)]),  # nor a second time in one epoch
    ],
)
def test_a_copy_elsewhere_or_of_the_same_epoch_was_not_sent_again_by_its_producer(places, writers):
    history = History({0: NO_TRANSACTION}, stored=[(place, 0) for place in places])
    history.writers = dict(zip(places, writers, strict=True))
    assert (judge(history).duplicated, judge(history).resent) == ((0,), ())


def test_a_record_that_comes_back_with_another_key_is_named():
    history = History(dict.fromkeys(range(3), NO_TRANSACTION), {0: "k0", 1: "k1"}, stored=[((0, 0), 0)])
    history.stored_keys = {0: "k0", 1: "k0", 2: "made up"}
    found = judge(history)
    assert found.rekeyed == (1, 2)
    assert "2 records have another key than they were sent with: 1, 2" in violations(found, idempotent=True)


def test_nothing_of_a_transaction_is_written_by_two_epochs_of_its_producer():
    history = History({0: 0}, transactions={0: Ended.COMMITTED}, stored=[((0, 0), 0), ((0, 1), 0)])
    history.writers = {(0, 0): Writer(7, 0, 0), (0, 1): Writer(7, 1, 0)}
    assert (judge(history).duplicated, judge(history).resent) == ((0,), ())


def test_where_nobody_knows_who_wrote_a_copy_it_counts():
    history = History({0: NO_TRANSACTION}, stored=[((0, 0), 0), ((0, 1), 0)])
    assert judge(history).duplicated == (0,)
