"""Logs that cannot be compared, clocks set back, full disks: each is told in a sentence that names the file."""

import errno
from pathlib import Path

import polars as pl
import pytest

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.logs.compare import clocks
from harness.logs.count_cache import COUNTED
from harness.logs.folders import log_files
from harness.logs.log_diff import node_logs
from harness.logs.read.event_counts import COUNTS, WHOLE_LOG
from harness.logs.read.layout import KAFKA_DEFAULT
from harness.logs.read.pipeline import FileCounts
from harness.logs.read.places import here_if_file, is_address
from harness.logs.results import write
from harness.model.log_totals import FileTotal
from harness.model.node_logs import NodeLogs
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import LogsFolder


def events(*rows: tuple[int, float, int]) -> pl.DataFrame:
    """Return counts of events: the line and the time of the first of each, and how many."""
    fields = [{"part": "event", "line": line, "first_at": int(at * 1000), "count": count} for line, at, count in rows]
    return pl.DataFrame([dict.fromkeys(COUNTS, None) | each for each in fields], schema=COUNTS)


def test_a_clock_that_was_set_back_is_reported_with_the_line_and_by_how_much():
    counts = events((1, 1000, 1), (5, 4600, 1), (9, 1003, 1), (12, 1010, 1))
    assert clocks.set_back(counts) == (9, 3597.0)
    assert clocks.set_back_sentences([("b/server.log", counts)]) == [
        "b/server.log: its clock is set back by 3597 s before line 9; its times mean little."
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [(1, 1000, 1), (2, 1001, 1), (3, 999, 1)],  # threads
        [(1, 1000, 1), (2, 90000, 1)],  # a quiet night
        [(1, 9000, 3), (2, 1000, 1)],  # of what is logged often only the first place is known, not its time
    ],
)
def test_a_clock_that_goes_on_is_not_told(rows):
    assert clocks.set_back(events(*rows)) is None


def nodes(tmp_path, *named: tuple[int, str]) -> Path:
    run = tmp_path / "runs" / "turn2" / "stock" / "1"
    run.mkdir(parents=True)
    logs = [
        NodeLogs("turn2", "stock", 1, number, "voter", (file,), KAFKA_DEFAULT, (WHOLE_LOG,)) for number, file in named
    ]
    (run / "logs.json").write_text(to_json(tuple(logs)))
    return tmp_path


@pytest.mark.parametrize(
    ("named", "twice"),
    [([(1, "a.log"), (1, "b.log")], "node 1"), ([(1, "a.log"), (2, "a.log")], "the log a.log")],
)
def test_two_nodes_of_one_name_or_with_one_log_are_refused_with_the_file_that_says_so(tmp_path, named, twice):
    with pytest.raises(HarnessError, match=rf"stock/1/logs\.json names {twice} 2 times"):
        node_logs(RunDirectory(nodes(tmp_path, *named)))


@pytest.mark.parametrize("place", ["s3a://bucket/before", "hdfs://10.0.0.1:8020/logs", "abfss://a@b/logs"])
def test_an_address_is_distinguished_from_a_path(place):
    assert is_address(place)
    assert not is_address(f"./{place}")
    assert not is_address("C:/logs")
    assert not is_address("a:b/server.log")
    assert here_if_file(place) == place


def test_a_file_address_is_a_path_of_this_machine():
    assert here_if_file("file:///var/log/a%20b") == "/var/log/a b"
    assert not is_address(here_if_file("file:/var/log"))


def test_a_folder_without_logs_and_one_with_empty_logs_only_are_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"has no files named \*\.log\*"):
        log_files(tmp_path)
    (tmp_path / "server.log").touch()
    with pytest.raises(HarnessError, match=r"server\.log and all other logs in .* are empty"):
        log_files(tmp_path)
    (tmp_path / "controller.log").write_text("x")
    assert len(log_files(tmp_path)) == 2


def test_a_link_that_leads_nowhere_is_not_passed_over(tmp_path):
    (tmp_path / "server.log").symlink_to(tmp_path / "gone")
    assert log_files(tmp_path) == (tmp_path / "server.log",)


def test_a_full_disk_is_reported_and_leaves_the_results_of_before(tmp_path, monkeypatch):
    node = NodeLogs("turn2", "stock", 1, 1, "voter", ("a.log",), KAFKA_DEFAULT, (WHOLE_LOG,))
    files = {"a.log": FileCounts(COUNTED.to_frame(), FileTotal("a.log", KAFKA_DEFAULT), ())}
    write(LogsFolder(tmp_path), tmp_path / "counts" / "run=x", [node], files, ("before",), ())
    before = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert sorted(before) == ["counts.parquet", "findings.json", "totals.json"]

    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("harness.base.recordfile.write_text", full)
    with pytest.raises(HarnessError, match=r"could not be written: No space left on device\."):
        write(LogsFolder(tmp_path), tmp_path / "counts" / "run=x", [node], files, ("after",), ())
    assert before == {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
