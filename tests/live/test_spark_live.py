"""Real Spark reads every byte of whatever it is given, exactly, and leaves nothing behind."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import psutil
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.base.processes.background import Background
from harness.logs.folders import Folder, read_files
from harness.logs.log_diff import compare, node_logs, pairs, read_nodes
from harness.logs.read.blocks import LINES, LogFile, partials
from harness.logs.read.event_counts import WHOLE_LOG, Reading
from harness.logs.read.gateway import ABSENT_MODULE, MODULE_OPTIONS
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.local_files import log_files
from harness.logs.read.pipeline import FileCounts, join, read
from harness.logs.read.places import first_lines, folders_in, logs_below
from harness.logs.read.spark import session
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.findings import Contrast, FindingKind
from harness.model.node_logs import NodeLogs, PhaseSpan
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import LogsFolder

pytestmark = pytest.mark.live
READING = Reading(compile_layout(KAFKA_DEFAULT), (WHOLE_LOG,))
KEY = ["phase", "level", "logger", "part", "template"]


@pytest.fixture(scope="module")
def spark(toolbox, tmp_path_factory):
    with session(tmp_path_factory.mktemp("spark"), toolbox) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _unsplit(request):
    """Give every test Spark's usual splits back."""
    yield
    if "spark" in request.fixturenames:
        request.getfixturevalue("spark").conf.unset("spark.sql.files.maxPartitionBytes")


def header(second: int, text: str, level: str = "INFO") -> str:
    return f"[2026-11-21 14:28:{second:02},949] {level} {text} (org.apache.kafka.raft.KafkaRaftClient)"


def diff_nodes(spark, root: Path, nodes, contrasts, out: Path):
    logs = LogsFolder(out)
    return compare(read_nodes(spark, root, nodes, logs), contrasts, logs)


def diff_files(spark, folders: list[Folder], out: Path) -> Contrast:
    logs = LogsFolder(out)
    (contrast,) = compare(read_files(spark, folders, logs), [(folders[0].arm, folders[1].arm)], logs)
    return contrast


def named(folder: Path) -> tuple[str, ...]:
    return tuple(map(str, log_files(folder)))


def test_the_jvm_gets_the_options_that_sparks_own_scripts_give(spark):
    given = spark._jvm.org.apache.spark.launcher.JavaModuleOptions.defaultModuleOptions().split()
    assert [option for option in given if option != ABSENT_MODULE] == list(MODULE_OPTIONS)


def in_one_piece(lines: list[bytes]) -> FileCounts:
    """Read lines without Spark, without cutting the file."""
    rows = [(7, 0, line) for line in lines]
    batch = pl.DataFrame(rows, schema=LINES, orient="row")
    return join("f", pl.concat(partials([batch], {7: LogFile("f", READING)})), READING)


def equal(one: FileCounts, other: FileCounts) -> bool:
    return one.counts.sort(KEY).equals(other.counts.sort(KEY))


line = st.one_of(
    st.builds(header, st.integers(0, 59), st.sampled_from(["Node 1 disconnected.", "Leader é 世界", "x\ty", "[20"])),
    st.sampled_from(["", "\tat a.B.c(B.java:1)", "Caused by: x", "[2026-11-21 14:28", "é" * 40, "\r"]),
).map(str.encode)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(line, min_size=1, max_size=25), st.integers(200, 900), st.booleans())
def test_a_file_read_in_splits_of_any_size_gives_what_it_gives_in_one_piece(
    spark, tmp_path, monkeypatch, lines, split, newline
):
    monkeypatch.setattr("harness.logs.read.pipeline.WHOLE", 0)
    lines = [header(0, "begin").encode(), *lines, b"end"]
    (tmp_path / "server.log").write_bytes(b"\n".join(lines) + (b"\n" if newline else b""))
    spark.conf.set("spark.sql.files.maxPartitionBytes", split)
    found = read(spark, tmp_path, {"server.log": READING})["server.log"]
    assert equal(in_one_piece(lines), found)
    assert (len(lines), sum(map(len, lines)) + len(lines)) == (found.total.lines, found.total.bytes)


@pytest.mark.parametrize("whole", [0, 1 << 20])
def test_files_are_read_whatever_their_names(spark, tmp_path, monkeypatch, whole):
    monkeypatch.setattr("harness.logs.read.pipeline.WHOLE", whole)
    plain = ["a b.log", "%41.log", "a[b]{c}*?.log", ".hidden/x.log", "k=v/x.log", "é#;,.log", "back\\slash.log"]
    names = [*plain, "k=v/../up.log", "k=v/../k=v/x.log"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(header(0, name) + "\n")
    found = read(spark, tmp_path, dict.fromkeys(names, READING))
    assert [found[name].total.events for name in names] == [1] * len(names)


@pytest.mark.parametrize("whole", [0, 1 << 20])
def test_a_byte_order_mark_costs_no_event(spark, tmp_path, monkeypatch, whole):
    monkeypatch.setattr("harness.logs.read.pipeline.WHOLE", whole)
    (tmp_path / "x.log").write_bytes(b"\xef\xbb\xbf" + f"{header(0, 'x')}\n{header(1, 'y')}\n".encode())
    total = read(spark, tmp_path, {"x.log": READING})["x.log"].total
    assert (total.events, total.unparsed_lines) == (2, 0)


def test_a_name_that_spark_cannot_say_is_told(spark, tmp_path):
    (tmp_path / "server.log.10:00").write_text(header(0, "x") + "\n")
    with pytest.raises(HarnessError, match=r"Spark cannot name \S+/server\.log\.10:00: it has a colon"):
        read(spark, tmp_path, {"server.log.10:00": READING})


def test_paths_are_of_this_machine_whatever_file_system_spark_takes_for_its_own(spark, tmp_path):
    (tmp_path / "x.log").write_text(header(0, "x") + "\n")
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    before = settings.get("fs.defaultFS")
    settings.set("fs.defaultFS", "viewfs://elsewhere")
    try:
        assert first_lines(spark, [str(tmp_path / "x.log")], 1).lines[str(tmp_path / "x.log")] == [header(0, "x")]
        assert read(spark, tmp_path, {"x.log": READING})["x.log"].total.events == 1
    finally:
        settings.set("fs.defaultFS", before)


@pytest.mark.parametrize("name", ["_x.log", ".x.log"])
def test_a_file_that_spark_passes_over_is_refused_by_name(spark, tmp_path, name):
    (tmp_path / name).write_text(header(0, "x") + "\n")
    with pytest.raises(HarnessError, match=r"does not read \S+/[._]x\.log:"):
        read(spark, tmp_path, {name: READING})


def test_damaged_text_is_kept_and_every_byte_counted(spark, tmp_path):
    lines = [header(0, "one").encode(), b"\xff\xfe\x00 binary \x1b[31m", header(1, "tw\xc3").encode() + b"\xe9", b""]
    (tmp_path / "x.log").write_bytes(b"\r\n".join(lines))
    found = read(spark, tmp_path, {"x.log": READING})["x.log"]
    assert (found.total.events, found.total.lines) == (2, 3)
    assert found.counts["excerpt"][0].endswith("\n\ufffd\ufffd\x00 binary ")  # without colours


def test_an_enormous_line_is_cut_for_the_template_and_counted_whole(spark, tmp_path):
    with (tmp_path / "x.log").open("w") as file:
        file.write(header(0, "x") + "\n" + "y" * 50_000_000 + "\n" + header(1, "x") + "\n")
    found = read(spark, tmp_path, {"x.log": READING})["x.log"]
    assert (2, 3, (tmp_path / "x.log").stat().st_size) == (found.total.events, found.total.lines, found.total.bytes)


def test_compressed_and_empty_files_are_read_like_others(spark, tmp_path):
    lines = [header(0, "x"), "\ttrace", header(1, "x")]
    (tmp_path / "x.log.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (tmp_path / "empty.log").touch()
    found = read(spark, tmp_path, {"x.log.gz": READING, "empty.log": READING})
    assert (found["x.log.gz"].total.events, found["x.log.gz"].total.lines, found["empty.log"].total.lines) == (2, 3, 0)


def test_a_truncated_archive_is_refused_by_name(spark, tmp_path):
    (tmp_path / "x.log.gz").write_bytes(gzip.compress(os.urandom(100_000))[:-50_000])
    with pytest.raises(HarnessError, match=r"x\.log\.gz"):
        read(spark, tmp_path, {"x.log.gz": READING})


def test_a_file_of_another_layout_is_refused_with_its_first_lines(spark, tmp_path):
    (tmp_path / "odd.log").write_text("0.005 Using Serial\nnext\n")
    with pytest.raises(HarnessError, match=r"odd\.log .*1: .*Using Serial \| 2: next"):
        read(spark, tmp_path, {"odd.log": READING})


def test_a_missing_file_is_refused_by_name(spark, tmp_path):
    with pytest.raises(HarnessError, match=r"gone\.log"):
        read(spark, tmp_path, {"gone.log": READING})


def run_directory(root: Path) -> list[Arm]:
    """Lay out two runs of two nodes; the candidate floods, loses a line and raises a level."""
    texts = {
        "stock": [*["Connection to node 0 (/10.0.0.1:8101) failed"] * 4, "Leader", "only 1 here", "Follower"],
        "patched-on": [*["Connection to node 0 (/10.0.0.1:8101) failed"] * 40, "Candidate", "Follower"],
    }
    for arm, messages in texts.items():
        run = f"runs/turn2/{arm}/1"
        for node in (1, 2):
            log = root / run / f"nodes/{node}/server.log"
            log.parent.mkdir(parents=True)
            level = {"stock": "INFO", "patched-on": "WARN"}
            levels = [level[arm] if text == "Follower" else "INFO" for text in messages]
            pieces = [header(9, text, how) for text, how in zip(messages, levels, strict=True)]
            log.write_text("a banner\n" + "\n".join(pieces) + "\n")
        phase = PhaseSpan("stop", 1795271280.0, 1795271400.0)
        nodes = tuple(
            NodeLogs(
                "turn2",
                arm,
                1,
                node,
                "voter",
                (f"runs/turn2/{arm}/1/nodes/{node}/server.log",),
                KAFKA_DEFAULT,
                (phase,),
            )
            for node in (1, 2)
        )
        (root / run / "logs.json").write_text(to_json(nodes))
    build = Build("b", "3.9.1", "x.jar", "0" * 64, "given", Flag("k", False))
    return [Arm("stock", Role.BASE, build, "absent"), Arm("patched-on", Role.ON, build, "absent")]


def test_a_run_directory_gets_counts_totals_and_findings_that_point_at_their_lines(spark, tmp_path):
    arms = run_directory(tmp_path)
    out = tmp_path / "logs"
    out.mkdir()
    (contrast,) = diff_nodes(spark, tmp_path, node_logs(RunDirectory(tmp_path)), pairs(arms), out)
    assert {
        (FindingKind.LEVEL, "Follower", 2, 2),
        (FindingKind.RATE, "Connection to node <n> (…) failed", 8, 80),
        (FindingKind.VANISHED, "Leader", 2, 0),
        (FindingKind.VANISHED, "only <n> here", 2, 0),
        (FindingKind.NEW, "Candidate", 0, 2),
    } == {(f.kind, f.template, f.base_count, f.candidate_count) for f in contrast.findings}
    assert contrast.findings[0].phase == "stop"
    for place in (place for finding in contrast.findings for place in finding.evidence):
        assert place.excerpt == (tmp_path / place.path).read_text().splitlines()[place.line - 1]
    assert {"counts", "totals.json", "findings.json"} == {path.name for path in out.iterdir()}
    files = json.loads((out / "totals.json").read_text())["files"]
    assert [file["unparsed_lines"] for file in files] == [1, 1, 1, 1]


def test_logs_that_are_gone_are_compared_by_what_was_counted_of_them(spark, tmp_path):
    arms, out = run_directory(tmp_path), tmp_path / "logs"
    of_all = diff_nodes(spark, tmp_path, node_logs(RunDirectory(tmp_path)), pairs(arms), out)
    totals = json.loads((out / "totals.json").read_text())
    for number in (1, 2):
        (tmp_path / f"runs/turn2/stock/1/nodes/{number}/server.log").unlink()
    assert of_all == diff_nodes(spark, tmp_path, node_logs(RunDirectory(tmp_path)), pairs(arms), out)
    again = json.loads((out / "totals.json").read_text())
    assert totals["files"] == again["files"]
    (told,) = again["left_out"]
    assert told.startswith("2 logs are gone, runs/turn2/stock/1/nodes/1/server.log first: what an earlier diff")


def test_logs_that_are_gone_and_were_never_counted_are_told(spark, tmp_path):
    arms, out = run_directory(tmp_path), tmp_path / "logs"
    (tmp_path / "runs/turn2/stock/1/nodes/2/server.log").unlink()
    with pytest.raises(HarnessError, match=r"nodes/2/server\.log cannot be read: No such file"):
        diff_nodes(spark, tmp_path, node_logs(RunDirectory(tmp_path)), pairs(arms), out)


def test_counts_of_many_run_directories_are_one_table_for_spark(spark, tmp_path):
    for name in ("monday", "tuesday"):
        arms, out = run_directory(tmp_path / name), tmp_path / name / "logs"
        diff_nodes(spark, tmp_path / name, node_logs(RunDirectory(tmp_path / name)), pairs(arms), out)
        shutil.copytree(out / "counts", tmp_path / "table", dirs_exist_ok=True)
    table = spark.read.parquet(str(tmp_path / "table"))
    rows = table.filter("arm = 'stock'").groupBy("run").sum("count").sort("run").collect()
    assert [tuple(row) for row in rows] == [("monday", 14), ("tuesday", 14)]


def test_two_folders_from_anywhere_are_compared_and_what_fits_no_layout_is_told(spark, tmp_path):
    for name, text in (("a", "Leader"), ("b", "Follower")):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "server.log.1").write_text(f"2026-11-21 14:28:58,949 INFO  [main] a.B: {text}\n")
        (tmp_path / name / "gc.log").write_text("[0.005s][info][gc] Using Serial\n")
    folders = [tmp_path / "a", tmp_path / "b"]
    found = diff_files(spark, [Folder(str(f), 1, named(f)) for f in folders], tmp_path)
    assert [(f.template, f.kind) for f in found.findings][::-1] == [("Leader", "vanished"), ("Follower", "new")]
    totals = LogsFolder(tmp_path).totals.read()
    why = "no line of its beginning has a time of day, and its first line is '[0.005s][info][gc] Using Serial'"
    hint = "if it holds events, give their --layout"
    assert [f"{folder / 'gc.log'} was not read: {why}; {hint}." for folder in folders] == [*totals.left_out]
    assert totals.unread == ()


def test_a_log_that_fits_no_layout_is_told_and_stands_among_what_was_not_read(spark, tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "controller.log").write_text(f"{header(1, 'Leader')}\n")
        (tmp_path / name / "server.log").write_text(f"14:28:58 INFO {name} (a.B)\n")
    found = diff_files(spark, [Folder(name, 1, named(tmp_path / name)) for name in "ab"], tmp_path / "out")
    assert found.findings == ()
    assert LogsFolder(tmp_path / "out").totals.read().lacking == "2 logs were not read"


def test_packed_logs_are_unpacked_or_left_out_by_name_and_stop_nothing(spark, tmp_path):
    for name, text in (("a", "Leader"), ("b", "Follower")):
        (tmp_path / name).mkdir()
        lines = "".join(f"{header(second, text)}\n" for second in range(9)).encode()
        (tmp_path / name / "server.log").write_bytes(lines)
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(lines)
        (tmp_path / name / "server.log.1.zst").write_bytes(sink.getvalue().to_pybytes())
        (tmp_path / name / "torn.log.zst").write_bytes(sink.getvalue().to_pybytes()[:30])
        (tmp_path / name / "other.log.gz").write_bytes(b"no archive")
    folders = [Folder(name, 1, named(tmp_path / name)) for name in "ab"]
    found = diff_files(spark, folders, tmp_path / "out")
    assert [(f.template, f.base_count, f.candidate_count) for f in found.findings] == [
        ("Follower", 0, 18),
        ("Leader", 18, 0),
    ]
    left_out = json.loads((tmp_path / "out" / "totals.json").read_text())["left_out"]
    assert sorted(Path(each.partition(" was not read: ")[0]).name for each in left_out) == [
        *["other.log.gz"] * 2,
        *["torn.log.zst"] * 2,
    ]
    assert not list((tmp_path / "out").glob(".partial*"))


def test_what_lies_at_addresses_is_found_and_read_as_folders_here_are(spark, tmp_path):
    """Hadoop's view file system stands for all that is no path of this machine: the harness sees addresses alone."""
    for name, text in (("a", "Leader"), ("b", "Follower")):
        (tmp_path / "logs" / name / "deep er").mkdir(parents=True)
        lines = "".join(f"2026-11-21 14:28:58,949 INFO  [main] a.B: {text} {number}\n" for number in range(9))
        (tmp_path / "logs" / name / "deep er" / "a%20b.log").write_text(lines)
        (tmp_path / "logs" / name / "x.log.gz").write_bytes(gzip.compress(lines.encode()))
        (tmp_path / "logs" / name / "_hidden.log").write_text("x\n")
    link = "fs.viewfs.mounttable.nightly.link./logs"
    spark.sparkContext._jsc.hadoopConfiguration().set(link, (tmp_path / "logs").as_uri())
    address = "viewfs://nightly/logs"
    assert folders_in(spark, address) == [f"{address}/a", f"{address}/b"]
    there = [Folder(name, 1, logs_below(spark, f"{address}/{name}").logs) for name in "ab"]
    here = [Folder(name, 1, named(tmp_path / "logs" / name)) for name in "ab"]
    found = [diff_files(spark, folders, tmp_path / "out").findings for folders in (there, here)]
    assert [[(f.kind, f.template, f.base_count, f.candidate_count) for f in each] for each in found] == [
        [("new", "Follower <n>", 0, 18), ("vanished", "Leader <n>", 18, 0)]
    ] * 2
    assert found[0][0].evidence[0].path == f"{address}/b/deep er/a%20b.log"


def test_an_address_that_spark_has_no_connector_for_is_told_with_what_to_do(spark):
    with pytest.raises(HarnessError, match=r"could not read s3a://bucket/logs: .*S3AFileSystem not found") as told:
        logs_below(spark, "s3a://bucket/logs")
    assert "--packages" in told.value.hint


def test_further_runs_of_the_first_folders_build_tell_what_is_noise(spark, tmp_path):
    folders = []
    for number in range(12):
        path = tmp_path / f"run{number}"
        path.mkdir()
        words = ["Leader", *(["Election"] if number % 3 else []), *(["Updated"] if number == 1 else [])]
        (path / "server.log").write_text("".join(f"2026-11-21 14:28:58,949 INFO  [main] a.B: {w}\n" for w in words))
        arm, repeat = ("b", 1) if number == 1 else ("a", max(number, 1))
        folders.append(Folder(arm, repeat, named(path)))
    found = diff_files(spark, folders, tmp_path / "out")
    assert [(f.template, f.significance.name, f.base_runs[:3], f.candidate_runs) for f in found.findings] == [
        ("Updated", "BEYOND", (0, 0, 0), (1,)),
    ]


def test_a_line_of_a_hundred_megabytes_among_hostile_ones_is_read_and_cut(spark, tmp_path):
    for name, words in (
        ("a", ["plain"]),
        ("b", ["plain", "<script>x</script> \x1b]0; \x1b[31m\u202e", "x" * 100_000_000]),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.log").write_text("".join(f"{header(1, word)}\n" for word in words))
    folders = [Folder(str(tmp_path / name), 1, named(tmp_path / name)) for name in "ab"]
    found = diff_files(spark, folders, tmp_path / "out").findings
    assert [(f.kind, len(f.template) < 3_000) for f in found] == [(FindingKind.NEW, True)] * 2
    assert any("\\x1b]<n>; \\u202e" in f.template for f in found)
    totals = json.loads((tmp_path / "out" / "totals.json").read_text())["files"]
    assert sum(total["bytes"] for total in totals) == sum(path.stat().st_size for path in tmp_path.glob("*/server.log"))


def test_a_jvm_of_spark_that_dies_is_told_in_a_sentence_and_leaves_nothing(tmp_path):
    script = """
import sys
from pathlib import Path
from harness.base.errors import HarnessError
from harness.logs.read.places import first_lines, first_lines
from harness.logs.read.spark import session
from harness.toolbox.toolbox import local_toolbox
from pyspark import SparkContext
root = Path(sys.argv[1])
(root / "server.log").write_text("a line\\n")
try:
    with session(root, local_toolbox()) as spark:
        SparkContext._gateway.proc.kill()
        SparkContext._gateway.proc.wait()
        first_lines(spark, [str(root / "server.log")], 3)
except HarnessError as error:
    print(error.message)
print([path.name for path in root.iterdir()])
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == [
        "Spark's JVM ended while it was at work, most likely for want of memory.",
        "['server.log']",
    ]


def test_a_session_that_was_begun_in_another_thread_gives_way_until_it_compares_logs_as_any_other(tmp_path):
    script = """
import os, sys
from pathlib import Path
from rich.console import Console
from harness.base.progress import Reporter
from harness.base.waiting import wait_until
from harness.logs.read.places import first_lines
from harness.model.request import Request
from harness.rundir.directory import RunDirectory
from harness.stages.spark_beside import spark_beside
from harness.toolbox.toolbox import local_toolbox
from pyspark import SparkContext
root = Path(sys.argv[1])
(root / "server.log").write_text("a line\\n")
directory = RunDirectory(root)
directory.request.write(Request())
with spark_beside(directory, local_toolbox(), Reporter(Console(quiet=True))) as beside:
    beside.begin()
    assert wait_until(beside._begun.done, 120)
    jvm = SparkContext._gateway.proc
    print(os.sched_getscheduler(jvm.pid) == os.SCHED_IDLE, os.environ.get("PYSPARK_GATEWAY_PORT"))
    with beside.session() as spark:
        print(SparkContext._gateway.proc is jvm, os.sched_getscheduler(jvm.pid) == os.SCHED_OTHER)
        print(first_lines(spark, [str(root / "server.log")], 3).lines[str(root / "server.log")])
        print(spark.range(1000).selectExpr("sum(id)").collect()[0][0])
    print(jvm.poll() is not None)
print(sorted(path.name for path in root.iterdir()), list((root / "logs").iterdir()))
"""
    if not Background.may_be_lifted():
        pytest.skip("this user may not lift what gives way (CAP_SYS_NICE)")
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.stdout.splitlines() == [
        "True None",
        "True True",
        "['a line']",
        "499500",
        "True",
        "['logs', 'request.json', 'server.log'] []",
    ], done.stderr


# Two small folders are compared in a process of its own: what does it need, say and leave behind?
SCRIPT = """
import sys
from pathlib import Path
from harness.logs.folders import diff_folders
from harness.rundir.parts import LogsFolder
from harness.toolbox.toolbox import local_toolbox
def progress(stage):
    print(stage, flush=True)
root = Path(sys.argv[1])
found = diff_folders(str(root / "a"), str(root / "b"), LogsFolder(root / "out"), None, local_toolbox(), progress)
print([finding.template for finding in found.findings])
"""


@pytest.fixture
def process(tmp_path):
    """Start the comparison in a process of its own, with no Java on its path."""
    bare = tmp_path / "bin"
    bare.mkdir()
    for tool in (
        "sh",
        "bash",
        "env",
        "dirname",
        "basename",
        "cat",
        "ps",
        "nice",
        "sleep",
        "mktemp",
        "rm",
        "mv",
        "uname",
    ):
        if found := shutil.which(tool):
            (bare / tool).symlink_to(found)
    for name, text in (("a", "Leader"), ("b", "Follower")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.log").write_text(header(0, text) + "\n")
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | {"PATH": str(bare)}
    command = [sys.executable, "-W", "error", "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        yield started
        started.kill()


def of_session(folder: Path) -> list[str]:
    """Return the processes that have the folder on their command line."""
    processes = psutil.process_iter(["cmdline", "status"])
    return [str(p.info["cmdline"]) for p in processes if str(folder / "out") in str(p.info["cmdline"])]


def test_without_java_on_the_path_a_diff_is_quiet_and_leaves_nothing_behind(process, tmp_path):
    out, err = process.communicate(timeout=120)
    assert err == ""
    assert out.splitlines()[-1] == "['Follower', 'Leader']"
    assert {"counts", "totals.json", "findings.json"} == {path.name for path in (tmp_path / "out").iterdir()}
    assert of_session(tmp_path) == []


def test_spark_dies_with_a_killed_harness(process, tmp_path):
    while "Recognising" not in process.stdout.readline():
        assert process.poll() is None
    assert of_session(tmp_path)
    process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while of_session(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.1)
