"""What was counted of logs is kept as Parquet, partitioned, and stands in for logs that are gone."""

from dataclasses import replace

import polars as pl
import pyarrow.parquet as pq
import pytest

from harness.errors import HarnessError
from harness.logs.events import WHOLE_LOG
from harness.logs.kept import COUNTED, SCHEMA
from harness.logs.layout import KAFKA_DEFAULT
from harness.logs.pipeline import FileCounts, FileTotal
from harness.logs.results import earlier, write
from harness.model import NodeLogs


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
    write(out, nodes, files, (), ())
    return files


def parts(out):
    return sorted(str(path.relative_to(out)) for path in out.rglob("*.parquet"))


def test_counts_lie_by_run_scenario_and_arm_and_say_their_schema(tmp_path):
    out = tmp_path / "nightly 7" / "logs"
    written(out, node("stock", "a.log"), node("on", "b.log"), node("stock", "c.log", "turn1"))
    assert parts(out) == [
        "counts/run=nightly%207/scenario=turn1/arm=stock/counts.parquet",
        "counts/run=nightly%207/scenario=turn2/arm=on/counts.parquet",
        "counts/run=nightly%207/scenario=turn2/arm=stock/counts.parquet",
    ]
    assert {pq.read_schema(out / part).metadata[b"harness.schema"] for part in parts(out)} == {str(SCHEMA).encode()}
    whole = pl.read_parquet(out / "counts" / "**" / "*.parquet", hive_partitioning=True)
    assert whole.select("run", "scenario", "arm", "file").sort("file").rows() == [
        ("nightly 7", "turn2", "stock", "a.log"),
        ("nightly 7", "turn2", "on", "b.log"),
        ("nightly 7", "turn1", "stock", "c.log"),
    ]


def test_an_arm_of_any_name_has_a_folder_of_its_own_below_the_results(tmp_path):
    arms = ["../../x", "s3a://bucket/" + "long/" * 100 + "a", "s3a://bucket/" + "long/" * 100 + "b", "…" * 90]
    written(tmp_path / "logs", *(node(arm, f"{number}.log") for number, arm in enumerate(arms)))
    assert len({part.split("/")[3] for part in parts(tmp_path / "logs")}) == len(arms)
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


def test_what_was_counted_comes_back_as_it_was(tmp_path):
    files = written(tmp_path, node("stock", "a.log"), node("on", "b.log"))
    back = earlier(tmp_path, ["b.log", "never.log"])
    assert list(back) == ["b.log"]
    assert back["b.log"].counts.equals(files["b.log"].counts)
    assert back["b.log"].total == files["b.log"].total


def test_a_log_without_events_comes_back_too(tmp_path):
    empty = FileCounts(COUNTED.to_frame(), FileTotal("a.log", KAFKA_DEFAULT), ())
    write(tmp_path, [node("stock", "a.log")], {"a.log": empty}, (), ())
    assert earlier(tmp_path, ["a.log"])["a.log"].total == empty.total


def test_a_folder_without_an_earlier_diff_has_nothing(tmp_path):
    assert earlier(tmp_path, ["a.log"]) == {}


def test_counts_of_an_arm_that_is_no_longer_there_go(tmp_path):
    written(tmp_path, node("stock", "a.log"), node("on", "b.log", "turn1"))
    written(tmp_path, node("stock", "a.log"))
    assert len(parts(tmp_path)) == 1
    assert [path.name for path in (tmp_path / "counts").glob("*/*")] == ["scenario=turn2"]


@pytest.mark.parametrize("content", [b"", b"PAR1 and then nothing", b"\0" * 4096])
def test_corrupt_counts_are_told_with_their_file(tmp_path, content):
    written(tmp_path, node("stock", "a.log"))
    (path,) = tmp_path.rglob("*.parquet")
    path.write_bytes(content)
    with pytest.raises(HarnessError, match=rf"{path} cannot be read as counts of logs: .+\.") as told:
        earlier(tmp_path, ["a.log"])
    assert "run `harness diff` again" in told.value.hint


def test_a_cut_off_parquet_file_is_told_with_its_name(tmp_path):
    written(tmp_path, node("stock", "a.log"))
    (path,) = tmp_path.rglob("*.parquet")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(HarnessError, match="cannot be read as counts of logs"):
        earlier(tmp_path, ["a.log"])


def test_parquet_of_another_kind_or_schema_is_refused(tmp_path):
    written(tmp_path, node("stock", "a.log"))
    (path,) = tmp_path.rglob("*.parquet")
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(HarnessError, match="has schema none, and this harness reads"):
        earlier(tmp_path, ["a.log"])
    pq.write_table(table.drop_columns(["values"]), path)
    with pytest.raises(HarnessError, match="cannot be read as counts of logs"):
        earlier(tmp_path, ["a.log"])


def test_counts_that_are_not_of_the_totals_beside_them_are_refused(tmp_path):
    written(tmp_path, node("stock", "a.log"))
    (path,) = tmp_path.rglob("*.parquet")
    twice = path.parents[1] / "arm=other"
    twice.mkdir()
    (twice / path.name).write_bytes(path.read_bytes())
    with pytest.raises(HarnessError, match="are not of one diff"):
        earlier(tmp_path, ["a.log"])


def test_a_kill_while_results_are_put_in_their_places_loses_no_counts(tmp_path, monkeypatch):
    nodes = [node("stock", "a.log"), node("on", "b.log")]
    written(tmp_path, *nodes)
    real = type(tmp_path).replace

    def killed(self, target):
        if "arm=stock" in str(target):
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(type(tmp_path), "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, nodes, {name: replace(counted(name)) for name in ("a.log", "b.log")}, (), ())
    assert earlier(tmp_path, ["a.log", "b.log"]).keys() == {"a.log", "b.log"}
