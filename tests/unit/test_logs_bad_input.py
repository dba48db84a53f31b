"""Logs that cannot be compared, clocks set back, full disks: each is told in a sentence that names the file."""

import errno
import os
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.logs.cautions import cautions
from harness.logs.compare import clocks
from harness.logs.count_cache import COUNTED
from harness.logs.folders import Folder, nothing_fits, refuse_common, renamed_lines, runs_of
from harness.logs.log_diff import CountedLogs, node_logs
from harness.logs.read.blocks import LogFile, whole
from harness.logs.read.event_counts import COUNTS, WHOLE_LOG, Reading
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.library import versions_of
from harness.logs.read.local_files import files_of, log_files
from harness.logs.read.pipeline import FileCounts, join
from harness.logs.read.places import Among, here_if_file, is_address
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
    with pytest.raises(HarnessError, match="has no files"):
        log_files(tmp_path)
    (tmp_path / "server.log").touch()
    with pytest.raises(HarnessError, match=r"server\.log and all other logs in .* are empty"):
        log_files(tmp_path)
    (tmp_path / "controller.log").write_text("x")
    assert len(log_files(tmp_path)) == 2


def test_a_log_may_be_given_itself_whatever_its_name_and_what_is_not_there_is_said_to_be_missing(tmp_path):
    log = tmp_path / "broker"
    log.write_text("x")
    assert log_files(log) == (str(log),)
    with pytest.raises(HarnessError, match=f"There is no {tmp_path}/nowhere"):
        log_files(tmp_path / "nowhere")


def test_the_output_of_a_node_is_a_log_too_and_where_nothing_is_named_so_every_file_is(tmp_path):
    (tmp_path / "kafka-0.txt").write_text("x")
    (tmp_path / "kafka-1.txt").write_text("x")
    assert log_files(tmp_path) == (f"{tmp_path}/kafka-0.txt", f"{tmp_path}/kafka-1.txt")
    (tmp_path / "kafkaServer.out").write_text("x")
    (tmp_path / "server.log.1").write_text("x")
    assert log_files(tmp_path) == (f"{tmp_path}/kafkaServer.out", f"{tmp_path}/server.log.1")


def test_what_lies_beside_logs_and_is_not_named_so_is_told(tmp_path):
    logs_at(tmp_path, "zookeeper.log", "kafka-0.txt", "deep/kafka-1.txt", ".hidden")
    (tmp_path / "empty.txt").touch()
    assert files_of(tmp_path) == Among(
        (f"{tmp_path}/zookeeper.log",), (f"{tmp_path}/deep/kafka-1.txt", f"{tmp_path}/kafka-0.txt")
    )


def test_a_folder_that_is_linked_to_is_looked_into_once_and_a_circle_ends(tmp_path):
    logs_at(tmp_path, "logs/a.log", "elsewhere/b.log", "elsewhere/deep/c.log")
    (tmp_path / "logs/linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "logs/again").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/deep/circle").symlink_to(tmp_path / "logs")
    assert [Path(log).name for log in log_files(tmp_path / "logs")] == ["a.log", "b.log", "c.log"]


def test_a_folder_that_may_not_be_looked_into_is_refused_and_never_passed_over(tmp_path, monkeypatch):
    logs_at(tmp_path, "logs/a.log", "logs/secret/b.log")
    listed = os.scandir

    def scandir(path):
        if Path(path).name == "secret":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(HarnessError, match=r"secret cannot be looked into: Permission denied\."):
        log_files(tmp_path / "logs")


def test_a_pipe_is_no_log(tmp_path):
    logs_at(tmp_path, "a.log")
    os.mkfifo(tmp_path / "pipe.log")
    assert log_files(tmp_path) == (f"{tmp_path}/a.log",)


def logs_at(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


@pytest.mark.parametrize(
    ("first", "repeats", "runs"),
    [
        (
            ["before/node-1/server.log", "before/node-2/server.log"],
            ["more/a/server.log", "more/b/server.log"],
            ["more"],
        ),
        (["before/server.log"], ["more/server.log", "more/server.log.1"], ["more"]),
        (["before/server.log"], ["more/a/server.log", "more/b/server.log"], ["more/a", "more/b"]),
        (["before/node-1/server.log"], ["more/a/node-1/x.log", "more/b/node-1/x.log"], ["more/a", "more/b"]),
        (["before"], ["more/a.log", "more/b.log"], ["more/a.log", "more/b.log"]),
        (["before"], ["more"], ["more"]),
        (["before/server.log"], ["more/a.tar.gz", "more/b.tar.gz"], ["more/a.tar.gz", "more/b.tar.gz"]),
        (["before/n1.tgz", "before/n2.tgz"], ["more/n1.tgz", "more/n2.tgz"], ["more"]),
    ],
    ids=[
        *("one run of two nodes", "one run of one", "runs of one node", "runs of nodes", "a log each", "one log"),
        *("an archive each", "one run of an archive a node"),
    ],
)
def test_what_lies_as_deep_as_the_first_folders_logs_is_one_further_run_and_not_one_for_each_node(
    tmp_path, first, repeats, runs
):
    logs_at(tmp_path, *first, *repeats)
    side, said = str(tmp_path / "before"), []
    found = runs_of(None, side, str(tmp_path / "more"), said.append)
    assert [(each.arm, each.repeat) for each in found] == [(side, number) for number in range(1, len(runs) + 2)]
    assert [each.files for each in found[1:]] == [log_files(tmp_path / run) for run in runs]
    many = "one further run" if len(runs) == 1 else f"2 further runs ({', '.join(Path(run).name for run in runs)})"
    assert said == [f"{tmp_path}/more holds {many} of what wrote {side}"]


def counted(name: str, text: str, pattern: str = KAFKA_DEFAULT) -> FileCounts:
    """Return what is counted of a log of a layout, without Spark."""
    reading = Reading(compile_layout(pattern), (WHOLE_LOG,))
    return join(name, whole(pa.scalar(text.encode(), pa.large_binary()), LogFile(name, reading)), reading)


EVENT = "[2026-11-21 14:28:58,949] INFO {} (a.B)\n"
OTHER = "14:28:58.949 [main] ERROR a.B - it broke"


def test_lines_of_another_layout_are_told_with_the_first_of_them_and_what_to_do():
    (said,) = cautions({"x.log": counted("x.log", f"{EVENT.format('one')}{OTHER}\n{EVENT.format('two')}")})
    assert said == (
        "x.log: 1 line looks like an event of another layout than '[%d] %p %m (%c)%n', and counts as none: "
        f"{OTHER!r}. If most are such, give their --layout."
    )


def test_a_line_of_another_layout_is_no_part_of_the_event_before_it_nor_is_what_stands_below_it():
    text = f"{EVENT.format('one')}{OTHER}\n\tat c.D.e(D.java:1)\n{EVENT.format('one')}"
    (row,) = counted("x.log", text).counts.iter_rows(named=True)
    assert (row["template"], row["count"]) == ("one", 2)


@pytest.mark.parametrize(
    "quoting",
    [
        "java.sql.BatchUpdateException: Batch entry '2026-11-25 10:00:00' was aborted: ERROR: duplicate key",
        "\tat 10:00:00 ERROR",
        "Caused by: a.B: at 10:00:00 state ERROR",
        "org.apache.kafka.common.KafkaException: no ERROR since 10:00:00",
    ],
)
def test_an_exception_that_quotes_a_time_and_a_level_ends_no_event(quoting):
    text = f"{EVENT.format('one')}{quoting}\nCaused by: java.lang.IllegalStateException: x\n{EVENT.format('two')}"
    file = counted("x.log", text)
    assert "IllegalStateException" in file.counts["template"][0]
    assert file.total.foreign_lines == 0


@pytest.mark.parametrize(("level", "partly"), [("ERROR", True), ("WARN", True), ("INFO", False)])
def test_a_log_with_a_warning_in_another_layout_is_read_in_part(level, partly):
    other = OTHER.replace("ERROR", level)
    total = counted("x.log", f"{EVENT.format('one')}{other}\n{EVENT.format('two')}").total
    assert (total.foreign_lines, total.foreign_warnings, total.is_partly_read) == (1, int(partly), partly)


def test_many_lines_of_other_programs_are_told():
    of_kafka, other = "Nov 21 14:28:58 h kafka[7]: " + EVENT.format("one"), "Nov 21 14:28:58 h systemd[1]: Stopped.\n"
    (said,) = cautions({"x.log": counted("x.log", of_kafka + other, f"journald | {KAFKA_DEFAULT}")})
    assert said == (
        "x.log: 1 of its 2 lines are of other programs or processes than the events that they stand among, and count "
        "as nothing."
    )
    assert cautions({"x.log": counted("x.log", of_kafka * 20 + other, f"journald | {KAFKA_DEFAULT}")}) == []


def test_many_lines_before_the_first_event_are_told_with_the_first_of_them_and_what_to_do():
    (said,) = cautions({"x.log": counted("x.log", "\nstarting\n" * 200 + EVENT.format("one"))})
    assert said == (
        "x.log: its first 400 lines, from 'starting' on, are no events and count as nothing; if they are, give their "
        "--layout instead of '[%d] %p %m (%c)%n'."
    )
    assert cautions({"x.log": counted("x.log", "starting\n" * 20 + EVENT.format("one"))}) == []


def test_each_log_is_traced_by_the_version_that_it_or_a_log_beside_it_names():
    version = "[2026-11-21 14:28:58,949] INFO Kafka version: {} (org.apache.kafka.common.utils.AppInfoParser)\n"
    files = {
        "a/n1/server.log": counted("", version.format("3.9.1")),
        "a/n1/controller.log": counted("", EVENT.format("one")),
        "a/n2/server.log": counted("", version.format("4.1.2")),
        "a/n3/state-change.log": counted("", EVENT.format("one")),
    }
    assert list(versions_of({name: file.counts for name, file in files.items()}).values()) == [
        "3.9.1",
        "3.9.1",
        "4.1.2",
        "3.9.1",
    ]


@pytest.mark.parametrize(("now", "are_two"), [("4.1.2", True), ("3.9.1", False), ("", False)])
def test_logs_of_two_versions_are_compared_in_the_words_of_the_first(now, are_two):
    version = "[2026-11-21 14:28:58,949] INFO Kafka version: {} (org.apache.kafka.common.utils.AppInfoParser)\n"
    files = {"a/server.log": counted("", version.format("3.9.1")), "b/server.log": counted("", version.format(now))}
    nodes = [NodeLogs("logs", file[0], 1, 0, "node", (file,), KAFKA_DEFAULT, (WHOLE_LOG,)) for file in files]
    said = []
    renamed = renamed_lines(CountedLogs(nodes, files, Path(), ()), "a", "b", said.append)
    assert (list(renamed), len(said)) == (["b"] * are_two, int(are_two))
    assert len(renamed.get("b", {})) > 100 * are_two - 1


def test_a_folder_of_which_nothing_can_be_opened_is_told_with_the_reason():
    error = nothing_fits(Folder("a", 1, ("a/x.zip",)), KAFKA_DEFAULT, {}, {"a/x.zip": "it holds no files"})
    assert error.message == "a/x.zip was not read: it holds no files."


def test_a_link_that_leads_nowhere_is_not_passed_over(tmp_path):
    (tmp_path / "server.log").symlink_to(tmp_path / "gone")
    assert log_files(tmp_path) == (str(tmp_path / "server.log"),)


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


def test_a_log_with_several_names_counts_once_under_its_own(tmp_path):
    logs_at(tmp_path, "logs/server.log", "logs/other.log", "elsewhere/gone.log")
    (tmp_path / "logs/current.log").symlink_to("server.log")
    (tmp_path / "logs/zero.log").hardlink_to(tmp_path / "logs/server.log")
    (tmp_path / "logs/linked.log").symlink_to(tmp_path / "elsewhere/gone.log")
    names = [Path(log).name for log in log_files(tmp_path / "logs")]
    assert names == ["linked.log", "other.log", "server.log"]


def test_what_a_jvm_says_before_the_first_event_is_told_where_it_sounds_like_trouble():
    warned = "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x7f01, 5) failed"
    heads = {
        "a": f"{warned}\nPicked up JAVA_TOOL_OPTIONS: -X\n",
        "b": f"{warned.replace('01', '02')}\n",
        "c": "starting\n",
    }
    files = {name: counted(name, f"{head}{EVENT.format('one')}") for name, head in heads.items()}
    assert cautions(files) == [f"a and b: before the first event, and counted as none: {warned!r}."]


def test_a_log_of_both_sides_is_refused_since_nothing_could_be_new(tmp_path):
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("x")
    (tmp_path / "again.log").symlink_to(tmp_path / "a.log")
    before = Folder("before", 1, (str(tmp_path / "a.log"),))
    refuse_common(
        [before, Folder("before", 2, (str(tmp_path / "a.log"),)), Folder("after", 1, (str(tmp_path / "b.log"),))]
    )
    with pytest.raises(HarnessError, match=r"again\.log is a log of before and of after"):
        refuse_common([before, Folder("after", 1, (str(tmp_path / "again.log"),))])
