"""A journal is read back as the very records that were written, as far as it is whole."""

import contextlib
import dataclasses
import errno
import json
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from still_cluster import FillingDisk

from harness.base.errors import HarnessError
from harness.model.clients import ClientReport
from harness.model.events import ClientSettled, Event, Noted, PhaseStarted, Sampled, Unknown, is_of_the_plan
from harness.rundir.journal import Entry, Journal, line_of, read_journal, read_undamaged

FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda each: st.lists(each), max_leaves=3)
st.register_type_strategy(float, FINITE)
KINDS = [kind for kind in get_args(Event) if kind is not Unknown]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_event_comes_back_equal_from_its_line(kind, tmp_path_factory):
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    events = (
        st.builds(Sampled, st.text(), st.booleans(), st.dictionaries(st.text(), JSON))
        if kind is Sampled
        else st.from_type(kind)
    )

    @given(events)
    def round_trip(event):
        path.write_text(json.dumps(line_of(Entry(1, 0.5, "2026", event))) + "\n")
        assert list(read_journal(path)) == [Entry(1, 0.5, "2026", event)]

    round_trip()


def test_no_two_events_have_one_name():
    names = [kind.kind for kind in KINDS]
    assert sorted(set(names)) == sorted(names)


def test_the_journal_numbers_its_lines(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        assert [journal.write(PhaseStarted("a")), journal.write(PhaseStarted("b"))] == [1, 2]
    assert [entry.event for entry in read_journal(journal.path)] == [PhaseStarted("a"), PhaseStarted("b")]


def phase(seq, name="a"):
    return json.dumps({"seq": seq, "t": 0.5, "at": "2026", "event": "phase", "name": name}, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    "rest",
    ['{"seq": 3', '{"seq": 3}', "\0\0\0\0\n", "not json\n", "7\n", '{"seq": 3}\n'],
    ids=["cut", "cut before its end of line", "zeroes", "words", "no object", "no event"],
)
def test_a_journal_ends_where_it_is_not_whole(tmp_path, rest):
    path = tmp_path / "journal.jsonl"
    path.write_text(phase(1) + phase(2) + rest)
    assert [entry.seq for entry in read_journal(path)] == [1, 2]


def test_a_journal_is_split_at_line_feeds_only(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(phase(1, "a\u2028b\x85c") + phase(2), encoding="utf-8")
    assert [entry.event.name for entry in read_journal(path)] == ["a\u2028b\x85c", "a"]


def test_a_run_without_a_journal_has_no_events(tmp_path):
    assert list(read_journal(tmp_path / "journal.jsonl")) == []


def test_a_report_of_a_client_that_does_not_know_what_had_no_answer_can_be_read(tmp_path):
    path = tmp_path / "journal.jsonl"
    report = ClientReport("orders", "records", 2, 0, 0, 1.0)
    line = line_of(Entry(1, 0.5, "2026", ClientSettled(report)))
    del line["report"]["unanswered"]
    path.write_text(json.dumps(line) + "\n")
    assert [entry.event for entry in read_journal(path)] == [ClientSettled(report)]


def test_an_event_of_another_kind_is_passed_on_as_it_is(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"seq": 1, "t": 0, "at": "", "event": "gc", "node": 3}\n')
    (entry,) = read_journal(path)
    assert entry.event == Unknown("gc", {"node": 3})
    assert not is_of_the_plan(entry.event)


def test_an_event_with_other_fields_than_its_kind_is_refused_with_its_line(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(phase(1) + '{"seq": 2, "t": 0, "at": "", "event": "phase", "title": "x"}\n')
    with pytest.raises(HarnessError, match=r"journal\.jsonl, line 2: this is no `phase` event"):
        list(read_journal(path))


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text() | st.sampled_from(["--5", "1"]), each),
    max_leaves=5,
)
STAMPS = {"seq": 1, "t": 0.5, "at": "2026", "event": "phase"}
FIELDS = [field.name for kind in KINDS for field in dataclasses.fields(kind)]
NAMES = [kind.kind for kind in KINDS]
LINES = st.fixed_dictionaries(
    {"seq": st.just(1) | ANY_JSON, "t": st.just(0.5) | ANY_JSON, "at": st.just("") | ANY_JSON}
    | {"event": st.sampled_from(NAMES) | ANY_JSON}
).flatmap(lambda stamps: st.dictionaries(st.sampled_from(FIELDS), ANY_JSON).map(lambda rest: {**rest, **stamps}))
EVENTS_OF_ANYTHING = st.sampled_from(KINDS).flatmap(
    lambda kind: st.fixed_dictionaries({field.name: ANY_JSON for field in dataclasses.fields(kind)}).map(
        lambda rest: {**STAMPS, **rest, "event": kind.kind}
    )
)
DAMAGED = {
    "number": {"seq": "x"},
    "no number": {"seq": True},
    "kind": {"event": ["x"]},
    "time": {"t": []},
    "endless time": {"t": 10**400},
    "wall time": {"at": None},
    "fields": {"title": "x"},
}


@pytest.fixture(scope="module")
def some_journal(tmp_path_factory):
    return tmp_path_factory.mktemp("journal") / "journal.jsonl"


@given(ANY_JSON | LINES | EVENTS_OF_ANYTHING)
@example({**STAMPS, "event": "quorum", "leader": 0, "epoch": 1, "high_watermark": 1, "voters": {"--5": 1}})
@example({**STAMPS, "event": "quorum", "leader": 0, "epoch": 1, "high_watermark": 1, "voters": {"9" * 5000: 1}})
@example({**STAMPS, "event": "turn-end", "pauses": {"a": 10**400}})
def test_whatever_a_line_holds_it_is_read_or_refused(some_journal, document):
    some_journal.write_text(json.dumps(document) + "\n")
    with contextlib.suppress(HarnessError):
        list(read_journal(some_journal))
    assert len(list(read_undamaged(some_journal))) <= 1


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_line_is_refused_by_its_number_and_passed_over_by_a_page(tmp_path, damage):
    path = tmp_path / "journal.jsonl"
    path.write_text(phase(1) + json.dumps({**STAMPS, "name": "b", **damage}) + "\n" + phase(3))
    with pytest.raises(HarnessError, match=r"journal\.jsonl, line 2: this is no .*event"):
        list(read_journal(path))
    assert [entry.seq for entry in read_undamaged(path)] == [1, 3]


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "[" * 100_000], ids=["nan", "infinity", "deep"])
def test_a_journal_ends_at_a_value_that_is_no_json(tmp_path, value):
    path = tmp_path / "journal.jsonl"
    path.write_text(phase(1) + phase(2).replace("0.5", value) + phase(3))
    assert [entry.seq for entry in read_journal(path)] == [1]


def test_a_number_that_no_float_holds_is_refused(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(phase(1).replace("0.5", "1e999"))
    with pytest.raises(HarnessError, match="expected a finite number"):
        list(read_journal(path))


def test_what_no_reader_would_read_is_not_written(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.write(PhaseStarted("a"))
        with pytest.raises(ValueError, match="not JSON compliant"):
            journal.write(Sampled("x", ok=True, detail={"lag": float("nan")}))
        journal.write(PhaseStarted("b"))
    assert [entry.seq for entry in read_journal(journal.path)] == [1, 2]


def test_a_journal_on_a_full_disk_says_so(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.symlink_to("/dev/full")
    full = pytest.raises(HarnessError, match="cannot be written: No space left on device")
    with full, Journal(path) as journal:
        journal.write(Noted("x"))


def test_what_comes_when_the_disk_fills_up_is_written_to_room_that_was_held(tmp_path):
    disk = FillingDisk(tmp_path)
    with Journal(tmp_path / "journal.jsonl") as journal:
        disk.is_under(journal)
        journal.write(Noted("a"))
        disk.is_full = True
        assert not journal.disk_is_full
        assert [journal.write(Noted("b")), journal.write(Noted("c"))] == [2, 3]
        assert journal.disk_is_full
        disk.fill_again()
        with pytest.raises(HarnessError, match="cannot be written: No space left on device"):
            journal.write(Noted("d"))
    assert [entry.event.text for entry in read_journal(journal.path)] == ["a", "b", "c"]


def test_room_is_given_back_only_for_want_of_room_and_at_the_end(tmp_path):
    disk = FillingDisk(tmp_path)
    with Journal(tmp_path / "journal.jsonl") as journal:
        disk.is_under(journal)
        disk.is_full, disk.errno = True, errno.EIO
        with pytest.raises(HarnessError, match="cannot be written: Input/output error"):
            journal.write(Noted("a"))
        assert disk.held
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]
