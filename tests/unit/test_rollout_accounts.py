"""What clients were promised is compared with what is there; and the answer follows from all of it."""

import time
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest
import rollout_sample as sample
from hypothesis import given
from hypothesis import strategies as st

from harness.rollout.accounts import Account, GroupPosition, Transactions, against, settle_transactions, stale_keys
from harness.rollout.errorlines import ErrorLines
from harness.rollout.judging import Facts, answer, decide
from harness.rollout.programme import KINDS, Yardstick, budget, with_key, with_key_left, without_class
from harness.rollout.records import CONTROL, Ending, RehearsalResult
from harness.scenario.load import spread
from harness.scenario.pauses import Pauses
from harness.scenario.readback import Stored

GOOD = Account("orders", "records", 100, 0, 0, 1.0)
LOST = Account("orders", "records", 100, 2, 0, 1.0)
NOT_PROMISED = Account("clicks", "records", 100, 2, 0, 1.0, binding=False)
REWOUND = Account("group", "deliveries", 100, 0, 0, 1.0, wrong=("3 records came again",))
UNREAD = Account("orders", "records", 100, 0, 0, 1.0, unread="no answer")
IDLE = Account("orders", "records", 0, 0, 0, 1.0)


@pytest.mark.parametrize(
    ("facts", "ending", "says"),
    [
        (Facts((GOOD, NOT_PROMISED)), Ending.PASSED, ""),
        (Facts((LOST,)), Ending.STOPPED, "orders: 2 of 100 acknowledged are gone"),
        (Facts((LOST,), starved="no processor"), Ending.STOPPED, "2 of 100"),
        (Facts((REWOUND,)), Ending.STOPPED, "group: 3 records came again"),
        (Facts((UNREAD,)), Ending.INCONCLUSIVE, "orders could not be checked: no answer"),
        (Facts((IDLE,)), Ending.INCONCLUSIVE, "nothing was ever acknowledged"),
        (Facts((GOOD,), stopped="node 3 died"), Ending.STOPPED, "node 3 died"),
        (Facts((GOOD,), stopped="node 3 died", starved="no processor"), Ending.INCONCLUSIVE, "no processor"),
        (Facts((GOOD,), starved="no processor"), Ending.PASSED, ""),
        (Facts(unsound="it did not come up"), Ending.INCONCLUSIVE, "it did not come up"),
        (Facts((GOOD,), broken="two leaders"), Ending.STOPPED, "two leaders"),
        (Facts((GOOD,), stopped="node 3 died", must_stop=True, changed=(3,)), Ending.PASSED, "node 3 died"),
        (Facts((GOOD,), stopped="nobody leads", must_stop=True), Ending.INCONCLUSIVE, "before the jar"),
        (Facts((GOOD,), stopped="4 died", must_stop=True, changed=(3, 4)), Ending.INCONCLUSIVE, "only at node 2"),
        (Facts((GOOD,), must_stop=True), Ending.INCONCLUSIVE, "was not stopped"),
        (Facts((GOOD,), stopped="node 3 died", must_stop=True, not_serving="orders"), Ending.STOPPED, "orders"),
        (Facts((GOOD,), stopped="it died", no_way_back="stuck"), Ending.STOPPED, "it died; stuck"),
    ],
)
def test_a_rehearsal_ends_as_its_facts_say(facts, ending, says):
    found, reason = decide(facts)
    assert found is ending
    assert says in reason


def result(name, ending, reason="why"):
    return RehearsalResult(name, "?", ending, reason, 1.0, 5.0, (), (), {}, (), (), 1.0)


@pytest.mark.parametrize(
    ("endings", "ending", "reasons"),
    [
        ([(CONTROL, Ending.PASSED), ("a", Ending.PASSED)], Ending.PASSED, ()),
        ([(CONTROL, Ending.PASSED), ("a", Ending.STOPPED), ("b", Ending.INCONCLUSIVE)], Ending.STOPPED, ("a: why",)),
        (
            [(CONTROL, Ending.PASSED), ("a", Ending.PASSED), ("b", Ending.INCONCLUSIVE)],
            Ending.INCONCLUSIVE,
            ("b: why",),
        ),
        (
            [(CONTROL, Ending.STOPPED), ("a", Ending.STOPPED)],
            Ending.INCONCLUSIVE,
            ("base itself could not be rolled: why",),
        ),
        ([], Ending.INCONCLUSIVE, ("nothing was rehearsed",)),
    ],
)
def test_the_answer_is_that_of_the_worst_rehearsal_and_none_where_base_cannot_be_rolled(endings, ending, reasons):
    assert answer([result(*each) for each in endings]) == (ending, reasons)


@pytest.mark.parametrize(("ending", "code"), [(Ending.PASSED, 0), (Ending.STOPPED, 1), (Ending.INCONCLUSIVE, 3)])
def test_the_exit_code_tells_the_ending(ending, code):
    assert ending.exit_code == code


def test_a_loss_speaks_against_the_jar_only_where_the_record_was_promised():
    assert against([GOOD, NOT_PROMISED]) == []
    assert against([LOST, REWOUND]) == ["orders: 2 of 100 acknowledged are gone", "group: 3 records came again"]


def record(key, value, offset):
    return Stored(0, offset, key.encode(), str(value).encode())


def test_a_key_is_stale_if_its_last_record_is_older_than_what_was_acknowledged():
    stored = [record("a", 1, 0), record("a", 5, 4), record("b", 2, 1)]
    assert stale_keys({"a": 5, "b": 2}, stored) == []
    assert stale_keys({"a": 4}, stored) == []
    assert stale_keys({"a": 6, "b": 2, "c": 1}, stored) == ["a", "c"]


def test_a_transaction_is_there_wholly_or_not_at_all():
    known = Transactions(3, committed=[0, 1], aborted=[4], unknown=[5, 6])
    assert settle_transactions(known, [0, 0, 0, 1, 1, 1, 5, 5, 5]) == ([], 0, ())
    assert settle_transactions(known, [0, 0, 0, 1, 1])[0] == [1]
    assert settle_transactions(known, [0, 0, 0, 0, 1, 1, 1])[1] == 1
    assert settle_transactions(known, [0, 0, 0, 1, 1, 1, 4])[2] == ("1 aborted transactions can be read",)
    assert settle_transactions(known, [0, 0, 0, 1, 1, 1, 6])[2] == ("1 transactions can be read in part",)


@given(st.lists(st.integers(1, 5), max_size=20))
def test_a_group_that_reads_on_and_commits_misses_nothing_and_repeats_nothing(batches):
    position, at = GroupPosition(), 0
    for batch in batches:
        for _ in range(batch):
            position.deliver(0, at)
            at += 1
        position.committed_to(position.commit())
    assert (position.rewound, position.again, position.skipped, position.short_of({0: at})) == (0, 0, 0, 0)


def test_a_delivery_below_the_committed_offset_is_a_rewind_one_above_it_only_a_repeat():
    position = GroupPosition()
    for offset in range(5):
        position.deliver(0, offset)
    position.committed_to({0: 3})
    position.deliver(0, 3)
    assert (position.rewound, position.again) == (0, 1)
    position.deliver(0, 2)
    assert (position.rewound, position.again) == (1, 2)


def test_what_was_jumped_over_is_gone_and_what_was_not_reached_is_only_left_to_read():
    position = GroupPosition()
    position.deliver(0, 0)
    position.deliver(0, 3)
    assert (position.skipped, position.short_of({0: 4})) == (2, 0)
    assert (position.skipped, position.short_of({0: 6, 1: 2})) == (2, 4)


def test_a_pause_is_told_while_it_lasts_and_after_it_ended(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    pauses = Pauses((0, 1))
    pauses.begin()
    now = 102.0
    assert pauses.longest_after(101.0) == 2.0
    pauses.answered(0)
    assert not pauses.all_answered_since(101.0)
    pauses.answered(1)
    assert pauses.all_answered_since(101.0)
    now = 102.3
    assert pauses.longest_after(101.0) == 2.0
    assert pauses.longest_after(102.1) == 0.0, "what ended before does not count, what is short is not told"
    assert pauses.longest == 2.0
    pauses.begin()
    assert pauses.longest == 0.0, "what was before a new beginning is forgotten"


def test_partitions_are_spread_so_that_each_broker_leads_one():
    assert spread((3, 4, 5, 6), 4, 3) == [(3, 4, 5), (4, 5, 6), (5, 6, 3), (6, 3, 4)]


@pytest.mark.parametrize(
    ("kind", "told", "yardstick", "overlay", "seconds"),
    [
        ("forward-and-back", 0.0, Yardstick(frozenset(), 4.0), {}, 8.0),
        ("forward-and-back", 0.0, Yardstick(frozenset(), 0.5), {}, 5.0),
        ("forward-and-back", 3.0, Yardstick(frozenset(), 4.0), {}, 3.0),
        ("forward-and-back", 0.0, None, {}, 15.0),
        ("killed-in-step", 0.0, Yardstick(frozenset(), 4.0), {}, 17.0),
        ("killed-in-step", 0.0, Yardstick(frozenset(), 4.0), {"broker.session.timeout.ms": "18000"}, 26.0),
    ],
)
def test_a_client_may_wait_as_long_as_base_makes_it_wait_twice(kind, told, yardstick, overlay, seconds):
    assert budget(KINDS[kind], told, yardstick, overlay) == seconds


HEADER = "[2026-01-01 00:00:00,000]"


@pytest.fixture
def log(tmp_path):
    return SimpleNamespace(id=3, log_file=tmp_path / "server.log")


def errors(log, *, base, known=()):
    return ErrorLines([log], frozenset(known), lambda _: base)


def write(log, *lines):
    with log.log_file.open("a") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def test_an_error_line_of_the_candidate_is_news_once(log):
    lines = errors(log, base=False)
    assert lines.news() == []
    write(log, f"{HEADER} INFO well (x)", f"{HEADER} ERROR the raft thread died (x)", f"{HEADER} INFO on (x)")
    (found,) = lines.news()
    assert (found.node, found.line) == (3, 2)
    assert "raft thread died" in found.text
    assert lines.news() == []
    assert lines.counts.total() == 1


def test_an_error_line_of_base_is_no_news_on_any_node_after(log):
    base = errors(log, base=True)
    write(log, f"{HEADER} ERROR broker 7 is sad (x)", f"{HEADER} INFO on (x)")
    assert base.news() == []
    assert base.counts.total() == 1
    known = errors(log, base=False, known=base.counts)
    assert known.news() == []


@pytest.mark.parametrize(
    "below",
    [
        "org.apache.kafka.common.errors.OutOfOrderSequenceException: at offset 3",
        "java.util.concurrent.CompletionException: org.apache.kafka.common.errors.NotControllerException: node 0",
    ],
)
def test_a_refused_request_is_counted_and_is_no_news(log, below):
    lines = errors(log, base=False)
    write(log, f"{HEADER} ERROR Error processing append (x)")
    assert lines.news() == [], "what stands below it may still come"
    write(log, below, f"{HEADER} INFO on (x)")
    assert lines.news() == []
    assert lines.counts.total() == 1


def test_any_other_exception_below_an_error_is_news(log):
    lines = errors(log, base=False)
    write(
        log, f"{HEADER} ERROR in the raft thread (x)", "java.lang.IllegalStateException: org.apache.kafka.common.errors"
    )
    write(log, f"{HEADER} INFO on (x)")
    assert len(lines.news()) == 1


def test_an_error_in_the_last_line_is_news_at_the_second_look(log):
    lines = errors(log, base=False)
    write(log, f"{HEADER} ERROR the last word (x)")
    assert lines.news() == []
    (found,) = lines.news()
    assert found.line == 1
    assert lines.news() == []


def test_half_a_line_is_waited_for(log):
    lines = errors(log, base=False)
    log.log_file.write_text(f"{HEADER} ERROR half")
    assert lines.news() == []
    write(log, " of it (x)", f"{HEADER} INFO on (x)")
    (found,) = lines.news()
    assert "half of it" in found.text


def test_on_the_way_back_the_key_stays_and_a_base_that_does_not_know_it_tells_no_value():
    base, candidate = sample.BASE, with_key(sample.CANDIDATE, "a.key")
    assert candidate.settings == {"a.key": "true"}
    left = with_key_left(base, candidate, "a.key")
    assert (left.settings, left.flag, left.sha256) == ({"a.key": "true"}, "None", base.sha256)


def test_a_base_that_knows_the_key_tells_what_was_left():
    known = replace(sample.BASE, flag="false")
    assert with_key_left(known, with_key(sample.CANDIDATE, "a.key"), "a.key").flag == "true"


def test_without_a_flag_nothing_is_left_behind():
    assert with_key(sample.CANDIDATE, "") == sample.CANDIDATE
    without = replace(sample.CANDIDATE, flag="absent")
    assert with_key(without, "a.key") == without
    assert with_key_left(sample.BASE, without, "a.key") == sample.BASE


def test_a_jar_that_dies_on_load_is_the_candidate_without_one_class(tmp_path):
    whole = tmp_path / "kafka-raft-3.9.1.jar"
    with zipfile.ZipFile(whole, "w") as jar:
        jar.writestr("org/apache/kafka/raft/KafkaRaftClient.class", b"x")
        jar.writestr("org/apache/kafka/raft/Other.class", b"y")
    without_class(whole, tmp_path / "torn" / whole.name)
    with zipfile.ZipFile(tmp_path / "torn" / whole.name) as torn:
        assert torn.namelist() == ["org/apache/kafka/raft/Other.class"]
