"""What was counted of logs is kept as Parquet, partitioned, and stands in for logs that are gone."""

from dataclasses import replace

import polars as pl
import pyarrow.parquet as pq
import pytest

from harness.base.errors import HarnessError
from harness.logs.count_cache import COUNTED, SCHEMA, cached_counts, run_folder
from harness.logs.read.event_counts import WHOLE_LOG
from harness.logs.read.layout import KAFKA_DEFAULT
from harness.logs.read.pipeline import FileCounts
from harness.logs.results import write
from harness.model.log_totals import FileTotal
from harness.model.node_logs import NodeLogs, PhaseSpan
from harness.rundir.parts import LogsFolder


def node(arm, file, scenario="turn2"):
    return NodeLogs(scenario, arm, 1, 1, "voter", (file,), KAFKA_DEFAULT, (WHOLE_LOG,))


def counted(file, template="Leader of {}"):
    row = dict.fromkeys(COUNTED) | {
        "phase": "log",
        "level": "INFO",
        "logger": "a.B",
        "part": "event",
        "template": template,
        "count": 3,
        "line": 7,
        "excerpt": "[2026-11-21] INFO x",
        "statement": "a/B.java:7",
        "wording": "Leader of {}",
        "values": ["<n>", "\u202e<script>"],
    }
    return FileCounts(pl.DataFrame([row], schema=COUNTED), FileTotal(file, KAFKA_DEFAULT, 1, 20, 1, 1, 20), ())


def written(out, *nodes):
    files = {name: counted(name) for each in nodes for name in each.files}
    write(LogsFolder(out), run_folder(LogsFolder(out), "nightly 7"), nodes, files, (), ())
    return files


def earlier(out, nodes, *gone):
    return cached_counts(run_folder(LogsFolder(out), "another name"), nodes, gone)


def parts(out):
    return sorted(str(path.relative_to(out)) for path in out.rglob("*.parquet"))


def test_counts_lie_by_run_scenario_and_arm_and_say_their_schema(tmp_path):
    written(tmp_path, node("stock", "a.log"), node("on", "b.log"), node("stock", "c.log", "turn1"))
    assert parts(tmp_path) == [
        "counts/run=nightly 7/scenario=turn1/arm=stock/counts.parquet",
        "counts/run=nightly 7/scenario=turn2/arm=on/counts.parquet",
        "counts/run=nightly 7/scenario=turn2/arm=stock/counts.parquet",
    ]
    said = {pq.read_schema(tmp_path / part).metadata[b"harness.schema"] for part in parts(tmp_path)}
    assert said == {str(SCHEMA).encode()}
    whole = pl.read_parquet(tmp_path / "counts" / "**" / "*.parquet", hive_partitioning=True)
    assert whole.select("run", "scenario", "arm", "file").sort("file").rows() == [
        ("nightly 7", "turn2", "stock", "a.log"),
        ("nightly 7", "turn2", "on", "b.log"),
        ("nightly 7", "turn1", "stock", "c.log"),
    ]


def test_an_arm_of_any_name_has_a_folder_of_its_own_below_the_results_that_says_its_name(tmp_path):
    long = "s3a://bucket/" + "é" * 300
    arms = ["../../x", "s3a://b/ü #%[x]{y}*?", f"{long}/a", f"{long}/b", "世" * 80]
    written(tmp_path / "logs", *(node(arm, f"{number}.log") for number, arm in enumerate(arms)))
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    table = pl.read_parquet(tmp_path / "logs" / "counts" / "**" / "*.parquet", hive_partitioning=True)
    text = dict(table.select("file", "arm").iter_rows())
    assert len(set(text.values())) == len(arms)
    assert [text[f"{number}.log"] for number in (0, 1, 4)] == [arms[0], arms[1], arms[4]]
    assert text["2.log"].endswith("é" * 30 + "/a")


def test_what_was_counted_comes_back_as_it_was(tmp_path):
    nodes = [node("stock", "a.log"), node("on", "b.log")]
    files = written(tmp_path, *nodes)
    back = earlier(tmp_path, nodes, "b.log")
    assert list(back) == ["b.log"]
    assert back["b.log"].counts.counts.equals(files["b.log"].counts)
    assert back["b.log"].counts.total == files["b.log"].total
    assert back["b.log"].is_masked_alike


def test_a_run_directory_that_was_renamed_keeps_its_counts_in_one_place(tmp_path):
    nodes = [node("stock", "a.log")]
    written(tmp_path, *nodes)
    files = {"a.log": counted("a.log", "Follower of {}")}
    write(LogsFolder(tmp_path), run_folder(LogsFolder(tmp_path), "renamed"), nodes, files, (), ())
    assert parts(tmp_path) == ["counts/run=nightly 7/scenario=turn2/arm=stock/counts.parquet"]
    assert earlier(tmp_path, nodes, "a.log")["a.log"].counts.counts["template"].to_list() == ["Follower of {}"]


def test_counts_that_were_masked_by_other_rules_say_so(tmp_path, monkeypatch):
    nodes = [node("stock", "a.log")]
    monkeypatch.setattr("harness.logs.count_cache._MASKS", "of another day")
    written(tmp_path, *nodes)
    monkeypatch.undo()
    assert not earlier(tmp_path, nodes, "a.log")["a.log"].is_masked_alike


def test_counts_of_other_logs_than_the_runs_are_refused(tmp_path):
    """A cell that was run again has other phases: what was counted of its logs is not of these."""
    written(tmp_path, node("stock", "a.log"))
    again = replace(node("stock", "a.log"), phases=(PhaseSpan("start", 1.0, 2.0),))
    with pytest.raises(HarnessError, match=r"was not counted from the log a\.log of which logs\.json speaks"):
        earlier(tmp_path, [again], "a.log")


def test_a_log_without_events_comes_back_too(tmp_path):
    nodes = [node("stock", "a.log")]
    empty = FileCounts(COUNTED.to_frame(), FileTotal("a.log", KAFKA_DEFAULT), ())
    write(LogsFolder(tmp_path), run_folder(LogsFolder(tmp_path), "x"), nodes, {"a.log": empty}, (), ())
    assert earlier(tmp_path, nodes, "a.log")["a.log"].counts.total == empty.total


def test_a_folder_without_an_earlier_diff_has_nothing(tmp_path):
    assert earlier(tmp_path, [node("stock", "a.log")], "a.log") == {}


def test_counts_of_an_arm_that_is_no_longer_declared_go_and_those_of_other_runs_stay(tmp_path):
    written(tmp_path, node("stock", "a.log"), node("on", "b.log", "turn1"))
    other = tmp_path / "counts/run=other/scenario=turn2/arm=stock/counts.parquet"
    written(tmp_path, node("stock", "a.log"))
    other.parent.mkdir(parents=True)
    other.touch()
    written(tmp_path, node("stock", "a.log"))
    assert parts(tmp_path) == [
        "counts/run=nightly 7/scenario=turn2/arm=stock/counts.parquet",
        "counts/run=other/scenario=turn2/arm=stock/counts.parquet",
    ]
    assert [path.name for path in (tmp_path / "counts/run=nightly 7").iterdir()] == ["scenario=turn2"]


@pytest.mark.parametrize("content", [b"", b"PAR1 and then nothing", b"\0" * 4096, None])
def test_corrupt_counts_are_reported_with_their_file(tmp_path, content):
    nodes = [node("stock", "a.log"), node("on", "b.log")]
    written(tmp_path, *nodes)
    path = next(tmp_path.rglob("arm=stock/*.parquet"))
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(HarnessError, match=rf"{path} cannot be read as counts of logs: .+\.") as text:
        earlier(tmp_path, nodes, "a.log")
    assert "copy of the run directory" in text.value.hint
    assert list(earlier(tmp_path, nodes, "b.log")) == ["b.log"]  # what is damaged is not asked for


def test_parquet_of_another_kind_or_schema_is_refused(tmp_path):
    nodes = [node("stock", "a.log")]
    written(tmp_path, *nodes)
    (path,) = tmp_path.rglob("*.parquet")
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(HarnessError, match="has schema none, and this harness reads"):
        earlier(tmp_path, nodes, "a.log")
    pq.write_table(table.drop_columns(["values"]), path)
    with pytest.raises(HarnessError, match="cannot be read as counts of logs"):
        earlier(tmp_path, nodes, "a.log")


@pytest.mark.parametrize("at", ["arm=on", "arm=stock", "totals.json", "findings.json"])
def test_a_kill_while_results_are_put_in_their_places_loses_no_counts(tmp_path, monkeypatch, at):
    nodes = [node("stock", "a.log"), node("on", "b.log")]
    written(tmp_path, *nodes)
    real = type(tmp_path).replace

    def killed(self, target):
        if at in str(target):
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(type(tmp_path), "replace", killed)
    files = {name: counted(name, "Follower of {}") for name in ("a.log", "b.log")}
    with pytest.raises(KeyboardInterrupt):
        write(LogsFolder(tmp_path), run_folder(LogsFolder(tmp_path), "renamed"), nodes, files, (), ())
    back = earlier(tmp_path, nodes, "a.log", "b.log")
    said = {name: each.counts.counts["template"].item() for name, each in back.items()}
    was, now = "Leader of {}", "Follower of {}"
    assert said == {"b.log": was if at == "arm=on" else now, "a.log": was if at.startswith("arm=") else now}
