"""Two folders whose layouts write loggers' names differently are compared by the same names."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.logs.compare.logger_names import full_names
from harness.logs.folders import under_full_names
from harness.logs.log_diff import CountedLogs
from harness.logs.read.event_counts import COUNTS, WHOLE_LOG
from harness.logs.read.layout import KAFKA_DEFAULT
from harness.logs.read.pipeline import FileCounts
from harness.model.log_totals import FileTotal
from harness.model.node_logs import NodeLogs

RAFT, OTHER, BROKER = "org.apache.kafka.raft.RaftManager", "kafka.server.RaftManager", "kafka.server.Broker"


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        (["RaftManager"], [RAFT], {"RaftManager": RAFT}),
        (["o.a.k.r.RaftManager", "o.a.k.raft.RaftManager"], [RAFT], "both"),
        (["RaftManager"], [RAFT, OTHER], {}),
        (["k.s.RaftManager", "a.b.c.D"], [RAFT, OTHER], {"k.s.RaftManager": OTHER}),
        (["RaftManager"], [RAFT, "RaftManager"], {}),
        ([RAFT], ["RaftManager"], {}),
        ([OTHER, "x.y.z.RaftManager"], [RAFT], {}),
        (["kafka.server.RaftManager", "org.apache.kafka.raft.Voter"], [f"org.apache.{OTHER}"], {}),  # it has moved
        (["raft.RaftManager", "server.Broker"], [RAFT], {"raft.RaftManager": RAFT}),
    ],
)
def test_a_name_is_short_for_the_one_that_it_is_the_end_of(ours, theirs, found):
    assert full_names(ours, theirs) == (dict.fromkeys(ours, RAFT) if found == "both" else found)


NAMES = st.sets(st.from_regex(r"([a-c]{1,2}\.){0,2}[A-B]", fullmatch=True), max_size=6)


@given(NAMES, NAMES)
def test_only_what_the_other_side_lacks_is_short_and_only_for_what_it_has(ours, theirs):
    found = full_names(ours, theirs)
    assert not found.keys() & theirs
    assert set(found.values()) <= theirs - ours
    assert not full_names(theirs, ours).keys() & set(found.values())


def counted(*loggers):
    rows = [("log", "INFO", logger, "event", "it began", 1, 0, "it began", 0, 0) for logger in loggers]
    return FileCounts(pl.DataFrame(rows, schema=COUNTS, orient="row"), FileTotal("f.log", KAFKA_DEFAULT), ())


def test_both_sides_are_compared_under_the_full_names_and_the_page_says_so():
    nodes = [
        NodeLogs("logs", arm, 1, 1, "node", (f"{arm}.log",), KAFKA_DEFAULT, (WHOLE_LOG,)) for arm in ("ours", "theirs")
    ]
    files = {"ours.log": counted("o.a.k.raft.RaftManager", BROKER), "theirs.log": counted(RAFT, "k.s.Broker")}
    logs = under_full_names(CountedLogs(nodes, files, Path("x"), ["before"]), "ours", "theirs")
    assert [list(each.counts["logger"]) for each in logs.files.values()] == [[RAFT, BROKER], [RAFT, BROKER]]
    assert list(logs.left_out) == [
        "before",
        f"ours abbreviates the names of one logger: o.a.k.raft.RaftManager is taken for {RAFT}.",
        f"theirs abbreviates the names of one logger: k.s.Broker is taken for {BROKER}.",
    ]
