"""Statements that another version has in other words, or in another class, are the same line and no warning more."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.observed_run import Line, ObservedRun
from harness.logs.compare.renamed import (
    in_like_words_of_base,
    in_words_of_base,
    renamed_sentences,
    runs_in_words_of_base,
    under_loggers_of_base,
)
from harness.logs.compare.template_families import family
from harness.logs.read.rewordings import Rewording, rewordings
from harness.logs.read.statements import Library, Statement
from harness.model.findings import FindingKind

RAFT, MOVED = "org/apache/kafka/raft/KafkaRaftClient.java", "org/apache/kafka/raft/internals/KafkaRaftClient.java"
LOGGER = "org.apache.kafka.raft.KafkaRaftClient"
WAS = Statement(RAFT, 10, "WARN", ("Could not reach node ", " within ", " ms"), "KafkaRaftClient")
NOW = Statement(RAFT, 12, "WARN", ("Unable to reach node ", " within ", " ms."), "KafkaRaftClient")
OTHER = Statement(RAFT, 99, "INFO", ("Completed transition to ", ""), "KafkaRaftClient")


def paired(was, now):
    return rewordings(Library((OTHER, *was)), Library((OTHER, *now)))


def moved_to(file, line=10):
    return Statement(file, line, WAS.level, WAS.parts, WAS.owner)


def test_like_words_with_as_many_values_in_one_class_are_another_wording():
    assert paired([WAS], [NOW]) == {NOW.place: Rewording(WAS, NOW)}


def test_the_same_words_in_another_class_have_moved():
    found = paired([WAS], [moved_to(MOVED)])
    assert [each.is_moved for each in found.values()] == [True]


@pytest.mark.parametrize(
    "other",
    [
        Statement(RAFT, 12, "ERROR", NOW.parts, "KafkaRaftClient"),
        Statement(RAFT, 12, "WARN", NOW.parts, "KafkaRaftClient$Builder"),
        Statement("org/apache/kafka/raft/Voters.java", 12, "WARN", NOW.parts, "Voters"),
        Statement(RAFT, 12, "WARN", ("Unable to reach node ", ""), "KafkaRaftClient"),
        Statement(RAFT, 12, "WARN", ("The disk of ", " is full: ", " bytes"), "KafkaRaftClient"),
    ],
    ids=["another level", "another owner", "another class", "fewer values", "other words"],
)
def test_what_is_not_alike_is_new(other):
    assert paired([WAS], [other]) == {}


def test_what_both_have_is_neither():
    assert rewordings(Library((WAS, OTHER)), Library((WAS, NOW, OTHER))) == {}


def test_words_that_came_to_two_classes_are_not_guessed_at():
    assert paired([WAS], [moved_to(MOVED), moved_to("a/B.java")]).keys() <= {MOVED + ":10"}


def test_each_statement_is_taken_once_the_most_alike_first():
    nearer = Statement(RAFT, 13, "WARN", ("Could not reach node ", " within ", " ms!"), "KafkaRaftClient")
    assert paired([WAS], [NOW, nearer]) == {nearer.place: Rewording(WAS, nearer)}


def count(arm, statement, template, values, logger=LOGGER, level="WARN"):
    where = Where(arm, "turn1", "voter", "all")
    return Count(
        where, level, logger, template, 3, f"{arm}.log", 1, template, statement.place, family(template),
        statement.text, values,
    )  # fmt: skip


OF_BASE = count("stock", WAS, "[RaftManager id=<n>] Could not reach node <n> within <n> ms", ("<n>", "<n>"))
OF_NEWER = count("kafka", NOW, "[RaftManager id=<n>] Unable to reach node <n> within <n> ms.", ("<n>", "<n>"))
LOGGED = [OF_BASE, OF_NEWER]
SECONDS = {OF_BASE.where: 10.0, OF_NEWER.where: 10.0}


def test_a_reworded_line_is_the_same_line_and_without_that_it_is_one_new_and_one_gone():
    kinds = {each.kind for each in contrast("stock", "kafka", [OF_BASE, OF_NEWER], SECONDS).findings}
    assert kinds == {FindingKind.NEW, FindingKind.VANISHED}
    renamed = paired([WAS], [NOW])
    counts = [OF_BASE, in_words_of_base(OF_NEWER, renamed)]
    assert contrast("stock", "kafka", counts, SECONDS).findings == ()
    assert renamed_sentences("stock", "kafka", renamed, LOGGED, counts) == (
        "kafka logs “Unable to reach node {} within {} ms.” where stock logs “Could not reach node {} within {} ms”.",
    )


def test_a_line_of_a_class_that_moved_is_the_same_line():
    now = moved_to(MOVED)
    newer = count("kafka", now, OF_BASE.template, OF_BASE.values, "org.apache.kafka.raft.internals.KafkaRaftClient")
    renamed = paired([WAS], [now])
    counts = [OF_BASE, in_words_of_base(newer, renamed)]
    assert contrast("stock", "kafka", counts, SECONDS).findings == ()
    assert renamed_sentences("stock", "kafka", renamed, [OF_BASE, newer], counts) == (
        "One kind of line comes from another class on kafka than on stock, in the same words.",
    )


def item(arm, logger, text):
    return Count(Where(arm, "turn1", "voter", "all"), "INFO", logger, text, 3, f"{arm}.log", 1, text)


def test_a_text_that_has_one_logger_on_each_side_is_the_same_line_whoever_logs_it():
    key = "KafkaConfig: log.retention.hours = <n>"
    logged = [item("stock", "kafka.server.KafkaConfig", key), item("kafka", "o.a.k.common.config.AbstractConfig", key)]
    counts = under_loggers_of_base(logged, "stock", ["kafka"])
    assert {each.logger for each in counts} == {"kafka.server.KafkaConfig"}
    (sentence,) = renamed_sentences("stock", "kafka", {}, logged, counts)
    assert sentence.startswith("One kind of line comes from another class on kafka")


def test_among_several_loggers_of_a_text_classes_of_one_name_are_one():
    was, now = ("kafka.log.UnifiedLog$", "kafka.server.Reaper"), ("o.a.k.log.UnifiedLog", "o.a.k.server.Reaper")
    logged = [*(item("stock", each, "Starting") for each in was), *(item("kafka", each, "Starting") for each in now)]
    assert [each.logger for each in under_loggers_of_base(logged, "stock", ["kafka"])][2:] == [*was]
    other = [*logged[:2], item("kafka", "o.a.k.Another", "Starting"), item("kafka", "o.a.k.Third", "Starting")]
    assert under_loggers_of_base(other, "stock", ["kafka"]) == other


def test_a_logger_that_both_use_for_a_text_stays():
    logged = [item("stock", "a.A", "Starting"), item("kafka", "a.A", "Starting"), item("kafka", "b.B", "Starting")]
    assert under_loggers_of_base(logged, "stock", ["kafka"]) == logged


def test_a_logger_that_is_not_named_after_its_class_stays():
    assert Rewording(WAS, moved_to(MOVED)).logger("state.change.logger") == "state.change.logger"
    assert Rewording(WAS, moved_to(MOVED)).logger("org.apache.kafka.raft.internals.KafkaRaftClient$X") == f"{LOGGER}$X"


def test_a_reworded_line_that_comes_more_often_still_differs():
    renamed = paired([WAS], [NOW])
    more = in_words_of_base(OF_NEWER, renamed)
    floods = replace(more, count=400)
    assert [each.kind for each in contrast("stock", "kafka", [OF_BASE, floods], SECONDS).findings] == [FindingKind.RATE]


ACTIVATED = "[QuorumController id=<n>] Performing controller activation."
EMPTY = f"{ACTIVATED} The metadata log appears to be empty. Appending <n> bootstrap records."
QUORUM = "org.apache.kafka.controller.QuorumController"


def unplaced(arm, text, logger=QUORUM, level="WARN", number=1):
    """Return a line that was put together by a builder: no statement of the sources is known of it."""
    where = Where(arm, "turn1", "voter", "all")
    return Count(where, level, logger, text, number, f"{arm}.log", 1, text, family=text)


def like_words(*counts):
    return [(each.logger, each.key) for each in in_like_words_of_base(counts, "stock", ["kafka"])]


def test_what_no_statement_is_known_of_is_the_same_in_like_words_the_most_alike_first():
    was = [f"{ACTIVATED} Loaded ZK migration state of NONE.", f"{EMPTY} Setting the ZK migration state to NONE."]
    found = like_words(
        *(unplaced("stock", text) for text in was), unplaced("kafka", ACTIVATED), unplaced("kafka", EMPTY)
    )
    assert found[2:] == [(QUORUM, text) for text in was]


def test_like_words_under_the_logger_of_a_class_that_moved_are_the_same():
    found = like_words(
        unplaced("stock", f"{EMPTY} At once.", "kafka.controller.QuorumController"), unplaced("kafka", EMPTY)
    )
    assert found[1] == ("kafka.controller.QuorumController", f"{EMPTY} At once.")


@pytest.mark.parametrize(
    "now",
    [
        unplaced("kafka", EMPTY, level="ERROR"),
        unplaced("kafka", EMPTY, "a.Other"),
        unplaced("kafka", "[QuorumController id=<n>] The disk is full: <n> bytes are left."),
        replace(unplaced("kafka", EMPTY), statement="a/B.java:1"),
        replace(unplaced("kafka", EMPTY), family=""),
    ],
    ids=["another level", "another class", "other words", "a statement is known", "an item of a list"],
)
def test_what_is_not_alike_or_is_known_stays(now):
    assert like_words(unplaced("stock", f"{EMPTY} At once."), now)[1] == (now.logger, now.key)


def test_what_base_logs_too_is_not_taken_for_another_line():
    counts = [unplaced("stock", EMPTY), unplaced("stock", f"{EMPTY} At once."), unplaced("kafka", EMPTY)]
    assert like_words(*counts) == [(each.logger, each.key) for each in counts]


def test_what_is_known_of_the_candidates_own_kafka_is_read_in_bases_words_too():
    logged = [unplaced("stock", f"{EMPTY} At once."), unplaced("kafka", EMPTY)]
    counts = in_like_words_of_base(logged, "stock", ["kafka"])
    other = Line("voter", "WARN", QUORUM, "as it is")
    own = [ObservedRun("turn1", {Line("voter", "WARN", QUORUM, EMPTY): 7, other: 2})]
    (run,) = runs_in_words_of_base(own, zip(logged, counts, strict=True))
    assert run == ObservedRun("turn1", {Line("voter", "WARN", QUORUM, f"{EMPTY} At once."): 7, other: 2})


def test_like_words_are_told_and_a_flood_of_them_is_one():
    logged = [unplaced("stock", f"{EMPTY} At once.", number=3), unplaced("kafka", EMPTY, number=400)]
    counts = in_like_words_of_base(logged, "stock", ["kafka"])
    assert [each.kind for each in contrast("stock", "kafka", counts, SECONDS).findings] == [FindingKind.RATE]
    (sentence,) = renamed_sentences("stock", "kafka", {}, logged, counts)
    assert sentence == f"kafka logs “{EMPTY}” where stock logs “{EMPTY} At once.”."


words = st.text("abc {}[]<>", max_size=8)


@given(
    st.lists(st.text("abcd ", min_size=1, max_size=20), max_size=6), st.lists(st.text("abcd ", max_size=20), max_size=6)
)
def test_each_text_is_another_in_like_words_once_and_base_stays_as_it_is(was, now):
    counts = [*(unplaced("stock", text) for text in was), *(unplaced("kafka", text) for text in now)]
    found = in_like_words_of_base(counts, "stock", ["kafka"])
    assert found[: len(was)] == counts[: len(was)]
    renamed = {(one.key, other.key) for one, other in zip(counts, found, strict=True) if one.key != other.key}
    assert len({old for _, old in renamed}) == len({new for new, _ in renamed}) == len(renamed)
    assert not {new for new, _ in renamed} & {*was}


@given(st.lists(st.tuples(words, words), min_size=1, max_size=4), st.lists(words, max_size=4), words)
def test_a_template_that_does_not_end_with_the_words_of_its_statement_stays_as_it_is(parts, values, template):
    was, now = zip(*parts, strict=True)
    rewording = Rewording(Statement(RAFT, 1, "INFO", was, "A"), Statement(RAFT, 2, "INFO", now, "A"))
    found = rewording.template(template, values)
    assert found == template or (len(values) == len(parts) - 1 and found.endswith(was[-1]))
    if len(values) == len(parts) - 1 and was != now:
        written = "".join(part + value for part, value in zip(now, (*values, ""), strict=True))
        before = "".join(part + value for part, value in zip(was, (*values, ""), strict=True))
        assert rewording.template(template + written, values) == template + before
        thrown = "\njava.io.IOException: No space left on device"
        assert not written or rewording.template(f"x{written}{thrown}", values) == f"x{before}{thrown}"
