"""What a node logged, with its times: since the phase's beginning, and whether it goes on to the end of the run."""

import polars as pl
import pytest

from harness.logs.log_diff import counts_of
from harness.logs.read.event_counts import COUNTS, WHOLE_LOG
from harness.logs.read.pipeline import FileCounts
from harness.model.log_totals import FileTotal
from harness.model.node_logs import NodeLogs, PhaseSpan

PHASES = (PhaseSpan("start", 100.0, 140.0), PhaseSpan("stop", 140.0, 160.0))


def counted(phase, first, last, phases=PHASES):
    row = {
        "phase": phase, "level": "INFO", "logger": "a.B", "part": "event", "template": "Node <n> (x) left", "count": 2,
        "line": 1, "excerpt": "…", "first_at": int(first * 1000), "last_at": int(last * 1000),
    }  # fmt: skip
    table = pl.DataFrame([row], schema=COUNTS).with_columns(
        statement=pl.lit("a/B.java:3"), wording=pl.lit("Node {} {} left"), values=pl.lit(["<n>", "(x)"])
    )
    total = FileTotal("f.log", "", first_at=100.0, last_at=200.0)
    node = NodeLogs("turn2", "stock", 1, 3, "voter", ("f.log",), "", phases, roles={"stop": "leader"})
    (count,) = counts_of([node], {"f.log": FileCounts(table, total, ())})
    return count


def test_a_count_knows_its_node_its_family_and_what_the_statement_wrote():
    count = counted("stop", 141.5, 150)
    assert (count.node, count.family) == (3, "Node <n> (…) left")
    assert (count.wording, count.values) == ("Node {} {} left", ("<n>", "(x)"))


@pytest.mark.parametrize(("phase", "role"), [("start", ""), ("stop", "leader"), ("", "")])
def test_a_count_says_what_its_node_was_in_the_phase(phase, role):
    assert counted(phase, 141.5, 150).role == role


@pytest.mark.parametrize(("phase", "after"), [("start", 41.5), ("stop", 1.5), ("", None)])
def test_a_first_line_is_timed_from_the_beginning_of_its_phase(phase, after):
    assert counted(phase, 141.5, 150).after == after


@pytest.mark.parametrize(
    ("phase", "first", "last", "before", "still"),
    [
        ("stop", 141, 159, True, True),
        ("stop", 141, 153.9, True, False),
        ("stop", 155, 155, False, True),
        ("start", 101, 102, True, False),
        ("", 161, 162, False, False),
    ],
    ids=["to the end", "it ended", "only then", "long ago", "when the nodes were stopped"],
)
def test_the_last_stretch_is_a_tenth_of_the_run(phase, first, last, before, still):
    count = counted(phase, first, last)
    assert (count.before_end, count.at_end) == (before, still)


@pytest.mark.parametrize(("last", "still"), [(159.0, False), (159.8, True)])
def test_the_last_stretch_is_no_more_than_a_third_of_the_last_phase(last, still):
    short = (PhaseSpan("start", 100.0, 158.5), PhaseSpan("stop", 158.5, 160.0))
    assert counted("stop", 158.6, last, short).at_end is still


@pytest.mark.parametrize(("last", "still"), [(189.0, False), (191.0, True)])
def test_logs_from_anywhere_end_with_their_file_and_have_no_time_of_a_fault(last, still):
    count = counted("log", 101, last, (WHOLE_LOG,))
    assert (count.after, count.before_end, count.at_end) == (None, True, still)
