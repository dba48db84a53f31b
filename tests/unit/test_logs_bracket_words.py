"""Errors that differ only in brackets are different errors; numbers, addresses, ids and lists there are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.logs.compare.bracket_words import bracket_words
from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.observing import observe
from harness.logs.compare.template_families import family
from harness.logs.read.masks import template_of
from harness.model.findings import FindingKind

SECONDS = {Where(arm, "logs", "node", "log"): 10.0 for arm in ("a", "b")}


def logged(arm: str, message: str, level: str = "ERROR", number: int = 1) -> Count:
    template = template_of(message)
    where = Where(arm, "logs", "node", "log")
    return Count(where, level, "a.B", template, number, f"{arm}.log", 7, message, family=family(template))


def words(message: str, level: str = "WARN") -> list[str]:
    return [word for *_, word in bracket_words([logged("a", message, level)])]


@pytest.mark.parametrize(
    ("message", "base", "candidate"),
    [
        (
            "Error\nCaused by: java.io.FileNotFoundException: /d/a/x.log ({})",
            "No such file or directory",
            "Too many open files",
        ),
        ("Append failed [{}]", "NOT_LEADER_OR_FOLLOWER", "CORRUPT_MESSAGE"),
        ("Request failed (error={}, node=3)", "NONE", "UNKNOWN_SERVER_ERROR"),
        ("Fetch of Partition(topic=a, error={}) failed", "OFFSET_OUT_OF_RANGE", "X"),
    ],
)
def test_errors_of_other_reasons_in_brackets_differ(message, base, candidate):
    counts = [logged("a", message.format(base)), logged("b", message.format(candidate))]
    (finding,) = contrast("a", "b", counts, SECONDS).findings
    assert (finding.kind, finding.level) == (FindingKind.VALUE, "ERROR")
    assert finding.detail == f"base: {base}; candidate: {candidate}"


@pytest.mark.parametrize(
    "message",
    [
        "Connection to node 3 (kafka-3/10.0.0.1:9092 (id: 3 rack: null)) could not be established",
        "Removed fetcher for partitions Set(orders-0, payments-12)",
        "Lost [orders, payments] of (Zk9TwPbURzWQ3kSmBo3rKQ)",
        "Disconnected (id=3, address=/10.0.0.1:9092, epoch=17)",
        "Not there: Leader(localId=1, votes={1, 2}) at [HOST-7.example]",
    ],
)
def test_values_in_brackets_are_no_reasons(message):
    assert words(message) == []


def test_what_does_not_warn_is_not_asked():
    assert words("Transition to (NOT_LEADER)", "INFO") == []


numbers = st.integers(0, 10**9)


@given(numbers, numbers, st.sampled_from(["lost (epoch={}, error=NONE)", "lost [{}] (of node {} that is gone)"]))
def test_the_same_reason_with_other_numbers_is_no_difference(one, other, message):
    counts = [logged(arm, message.format(each, each)) for arm, each in (("a", one), ("b", other))]
    assert contrast("a", "b", counts, SECONDS).findings == ()


def test_noise_is_not_learned_of_these_words():
    (run,) = observe([logged("a", "Append failed [NOT_LEADER_OR_FOLLOWER]")]).values()
    assert [line.text for line in run.counts] == ["Append failed […]"]
