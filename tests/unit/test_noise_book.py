"""What is known of noise, run by run: as a record and back, merged, and kept in files."""

import gzip
import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.logs import noise_store
from harness.logs.compare.observed_run import Line, ObservedRun
from harness.logs.compare.stock_runs import LEAST_STOCK_RUNS
from harness.logs.compare.template_families import family
from harness.logs.noise_book import MOST_RUNS, can_stand_for, digest_of_jars, merged, record_of_runs, runs_of_record
from harness.logs.noise_store import add_runs, known_noise, learned_runs, own_noise, shipped_noise
from harness.logs.noise_summary import describe_noise
from harness.logs.read.masks import masked_again, template_of
from harness.model.arms import Build, Flag, Kafka
from harness.model.stock_noise import SCHEMA, StockLine, StockNoise, StockPlace, StockRun
from harness.rundir.parts import noise_file
from harness.scenario.registry import load_all, select

JAR = "ab" * 32
RUN = StockRun("0" * 64, "turn2", "1 observer, 3 voter", "fast", "3.9.1", JAR, True, "21.0.8", "PASSED", "2026-11-23")
WARNED = Line("voter", "WARN", "a.B", "no connection")


def stock_run(number, **fields):
    return replace(RUN, id=f"{number:064x}", **fields)


def book(*numbers, count=3, **fields):
    return {stock_run(n, **fields): ObservedRun("turn2", {WARNED: count} if count else {}) for n in numbers}


lines = st.builds(
    Line,
    st.sampled_from(["voter", "observer"]),
    st.sampled_from(["INFO", "WARN", "ERROR"]),
    st.text(max_size=5),
    st.text(max_size=9),
    st.sampled_from(["", "true", "a b"]),
)
observed = st.dictionaries(lines, st.integers(1, 10**6), max_size=4)
scenarios = st.sampled_from(["turn1", "turn2"])
books = st.dictionaries(st.integers(0, 99), st.tuples(scenarios, observed), max_size=5).map(
    lambda runs: {
        stock_run(n, scenario=name): ObservedRun(name, counts) for n, (name, counts) in runs.items()
    }
)  # fmt: skip


@given(books)
def test_a_book_is_the_same_after_it_was_a_record(known):
    assert runs_of_record(record_of_runs("3.9", known)) == known


@given(books)
def test_the_same_runs_make_the_same_bytes_in_whatever_order_they_came(known):
    backwards = dict(reversed(known.items()))
    assert to_json(record_of_runs("3.9", known)) == to_json(record_of_runs("3.9", backwards))


@given(books, books)
def test_what_is_learned_twice_counts_once(one, other):
    learned = [run.id for run in merged([one, other, one])]
    assert sorted(learned) == sorted({run.id for run in (*one, *other)})


def test_the_newest_runs_of_a_scenario_profile_and_jar_are_kept():
    days = {n: f"2026-01-{1 + n // 10:02}" for n in range(MOST_RUNS + 10)}
    many = {run: seen for n, day in days.items() for run, seen in book(n, day=day).items()}
    others = book(500, profile="production") | book(501, jar_sha256="cd" * 32) | book(502, jars_sha256="ef" * 32)
    kept = merged([many, others])
    assert len(kept) == MOST_RUNS + 3
    assert min(run.day for run in kept) == "2026-01-02"


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ("1 2 3", "are no counts of 2 runs"),
        ("1 -2", "are no counts of 2 runs"),
        ("", "are no counts"),
        ("1 ²", "are no"),
    ],
)
def test_counts_that_do_not_fit_the_runs_are_refused(counts, why):
    runs = (stock_run(1), stock_run(2))
    place = StockPlace("turn2", "voter", tuple(run.id for run in runs), (StockLine("WARN", "a.B", "x", counts),))
    with pytest.raises(HarnessError, match=why):
        runs_of_record(StockNoise(SCHEMA, "3.9", runs, (place,)))


def test_lines_of_runs_that_are_not_described_are_refused():
    place = StockPlace("turn2", "voter", ("f" * 64,), (StockLine("WARN", "a.B", "x", "1"),))
    with pytest.raises(HarnessError, match="of which it says nothing"):
        runs_of_record(StockNoise(SCHEMA, "3.9", (RUN,), (place,)))


APACHES = Kafka("3.9.2", "", "kafka-raft-3.9.2.jar", {"kafka-raft-3.9.2.jar": "cd" * 32, "lz4.jar": "11" * 32})
OWN = replace(APACHES, place="/opt/kafka")
PATCHED = replace(OWN, jars={**OWN.jars, "lz4.jar": "22" * 32})


def build(kafka, builder="release", digest="cd" * 32):
    return Build("stock", "3.9.2", "kafka-raft-3.9.2.jar", digest, builder, Flag("", False), kafka=kafka)


def learned_of(made, released=False):
    return replace(
        RUN, kafka_version="3.9.2", jar_sha256=made.jar_sha256, jars_sha256=digest_of_jars(made), released=released
    )


OF_RELEASE, OF_OWN, OF_PATCHED = (
    learned_of(build(APACHES), released=True),
    learned_of(build(OWN)),
    learned_of(build(PATCHED)),
)


@pytest.mark.parametrize(
    ("run", "judged", "stands"),
    [
        (replace(OF_RELEASE, kafka_version="3.9.1", jars_sha256="aa" * 32), build(APACHES), True),
        (OF_OWN, build(OWN), True),
        (OF_RELEASE, build(OWN), True),
        (OF_OWN, build(APACHES), True),
        (OF_RELEASE, build(PATCHED), False),
        (OF_PATCHED, build(APACHES), False),
        (OF_PATCHED, build(OWN), False),
        (OF_PATCHED, build(PATCHED), True),
        (OF_RELEASE, build(APACHES, "given", "ef" * 32), False),
        (learned_of(build(APACHES, "given", "ef" * 32)), build(APACHES, "given", "ef" * 32), True),
    ],
    ids=[
        "two releases of a line", "the very Kafka of somebody's own", "a release for a copy of it",
        "a copy of a release for it",
        "a release for a Kafka with other jars beside its raft jar", "and the other way round", "two of somebody's own",
        "the very same of these", "for somebody's jar", "the very jar",
    ],
)  # fmt: skip
def test_a_run_stands_for_the_very_same_jars_and_that_of_a_release_for_other_releases(run, judged, stands):
    assert can_stand_for(run, judged) is stands


BEFORE = replace(RUN, kafka_version="3.9.2", jar_sha256="cd" * 32)


@pytest.mark.parametrize(
    ("run", "judged", "stands"),
    [
        (BEFORE, build(APACHES), True),
        (replace(BEFORE, kafka_version="3.9.1", jar_sha256=JAR), build(APACHES), True),
        (replace(BEFORE, jar_sha256=JAR), build(APACHES), False),
        (replace(BEFORE, released=False), build(APACHES, "given"), True),
        (BEFORE, build(OWN), False),
        (replace(BEFORE, released=False), build(OWN), False),
        (BEFORE, build(Kafka()), True),
    ],
    ids=[
        "of a release", "of another release", "of this version, with another raft jar", "of this jar",
        "for somebody's own Kafka",
        "of this jar, for somebody's own Kafka", "for a build of which no jars are recorded",
    ],
)  # fmt: skip
def test_an_entry_that_names_no_jars_stands_for_releases_as_far_as_can_be_told(run, judged, stands):
    assert can_stand_for(run, judged) is stands


def test_a_record_that_names_no_jars_is_read(folders):
    path = shipped_noise("3.9")
    path.parent.mkdir(parents=True)
    document = json.loads(to_json(record_of_runs("3.9", book(1))))
    del document["runs"][0]["jars_sha256"]
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    assert [run.jars_sha256 for run in learned_runs(path)] == [""]


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.setattr(noise_store, "data_root", lambda: tmp_path / "data")
    monkeypatch.setattr(noise_store, "user_data_root", lambda: tmp_path / "user")
    return tmp_path


def test_own_runs_are_added_to_what_is_shipped(folders):
    add_runs(shipped_noise("3.9"), "3.9", book(1, 2))
    add_runs(own_noise("3.9"), "3.9", book(3))
    assert add_runs(own_noise("3.9"), "3.9", book(2, 3, 4)) == 3
    assert {int(run.id, 16) for run in known_noise("3.9.1").runs} == {1, 2, 3, 4}
    assert known_noise("3.9.1", lambda run: run.profile == "production").runs == ()


def test_nothing_is_known_of_a_line_without_a_file(folders):
    assert known_noise("3.9.1") == StockNoise(SCHEMA, "3.9")


def test_the_same_runs_make_the_same_file(folders):
    add_runs(folders / "a" / "x.json.gz", "3.9", book(1, 2))
    add_runs(folders / "b" / "x.json.gz", "3.9", book(2))
    add_runs(folders / "b" / "x.json.gz", "3.9", book(1))
    assert (folders / "a" / "x.json.gz").read_bytes() == (folders / "b" / "x.json.gz").read_bytes()


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"{}"), gzip.compress(b'{"schema": 1}')[:-9], gzip.compress(b'{"schema": 9}')],
    ids=["empty", "not compressed", "another record", "cut off", "another schema"],
)
def test_a_damaged_file_is_named(folders, content):
    path = own_noise("3.9")
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(HarnessError, match=str(path)):
        learned_runs(path)


def test_a_file_that_unpacks_to_more_than_fits_is_refused(folders, monkeypatch):
    monkeypatch.setattr("harness.base.recordfile.MAX_BYTES", 1000)
    add_runs(own_noise("3.9"), "3.9", book(*range(50)))
    with pytest.raises(HarnessError, match="it holds more than"):
        noise_file(own_noise("3.9")).read()


def test_what_is_known_is_told_by_scenario_and_by_what_it_warns_of():
    info = ObservedRun("turn2", {Line("voter", "INFO", "a.B", "started"): 1, WARNED: 7})
    known = book(1, 2, count=0) | book(3, day="2026-11-20") | {stock_run(4): info}
    assert list(describe_noise(record_of_runs("3.9", known))) == [
        "turn2 (1 observer, 3 voter, fast): 4 runs of 3.9.1, jar abababababab, 2026-11-20 to 2026-11-23",
        "turn2, voter:",
        "    2 of 4 runs, at most    7 times  WARN  no connection",
    ]


@pytest.fixture(scope="session")
def shipped():
    """Return what is shipped of 3.9, as a record and run by run: it takes seconds to read."""
    record = noise_file(shipped_noise("3.9")).read()
    return record, runs_of_record(record)


@pytest.mark.parametrize("suite", ["bootstrap", "standard"])
def test_what_is_shipped_knows_enough_of_every_scenario_that_is_asked_of_a_jar_by_default(shipped, suite):
    runs = Counter(run.scenario for run in shipped[0].runs if run.released and run.profile == "fast")
    asked = {scenario.name: runs[scenario.name] for scenario in select(load_all(), (), suite)}
    assert {name: count for name, count in asked.items() if count < LEAST_STOCK_RUNS} == {}


def test_what_is_shipped_has_lines_of_every_run_and_is_as_todays_masks_would_have_it(shipped):
    record, runs = shipped
    assert all(observed.counts for observed in runs.values())
    assert json.loads(masked_again(to_json(record))) == json.loads(to_json(record_of_runs("3.9", runs)))


@pytest.mark.parametrize(
    "message",
    [
        "Kafka commitId: f745dfdcee2b9851",
        "[Partition __consumer_offsets-17 broker=1] ISR updated to 1,2  and version updated to 3",
        "[BrokerMetadataPublisher id=4] Publishing initial metadata at offset OffsetAndEpoch(offset=7, epoch=2) "
        "with metadata.version 3.9-IV0.",
    ],
)
def test_what_was_learned_by_older_masks_still_matches_the_lines_that_it_was_learned_from(shipped, message):
    known = {line.text for run in shipped[1].values() for line in run.counts}
    assert family(template_of(message)) in known


def test_lines_that_are_one_by_newer_masks_are_counted_together():
    lines = [("took <n>.ⁿs", "2"), ("took ⁿs", "3"), ("id <hex>", "1")]
    place = StockPlace("turn2", "voter", (RUN.id,), tuple(StockLine("INFO", "a.B", *each) for each in lines))
    (run,) = runs_of_record(StockNoise(SCHEMA, "3.9", (RUN,), (place,))).values()
    assert {line.text: number for line, number in run.counts.items()} == {"took ⁿs": 5, "id <n>": 1}
