"""The table of base against base is what the kept rows say: a row for each Kafka, suite, day and company."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import sample_run

from harness.model.arms import Role
from harness.model.request import Request
from harness.model.runs import Outcome, RunResult
from harness.rundir.directory import RunDirectory
from harness.stages.judge import judge_run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("base_against_base")
    sys.path.remove(str(ROOT / "benchmarks"))
    for name in ("base_against_base", "pages"):
        del sys.modules[name]


def row(kafka="3.9.1", verdict="SHIP", busy=0, load=2.0, seconds=600, held_back=None, day="2026-11-30"):
    row = {"on": f"{day}T12:00+00:00", "kafka": kafka, "suite": "standard", "busy_programs": busy, "load_at_end": load}
    mean, most = held_back or (None, None)
    measured = {"held_back_mean_percent": mean, "held_back_most_percent": most} if held_back else {}
    return {**row, **measured, "wall_seconds": seconds, "verdict": verdict}


def run(**measures):
    return RunResult("turn1", "stock", Role.BASE, 1, Outcome.PASSED, measures=measures)


def cells(table):
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def test_the_page_has_the_table_of_the_rows_that_are_kept(benchmark):
    page = (ROOT / "docs/other-jars.md").read_text("utf-8")
    assert benchmark.with_block(page, "base against base", benchmark.table(benchmark.kept_rows())) == page


def test_each_kafka_has_its_row_and_what_ran_beside_it_another(benchmark):
    rows = [row("4.10.0"), row("4.2.1"), row(), row(busy=2), row(verdict="HOLD", load=5.5, seconds=700)]
    rows.append(row(day="2026-11-24", verdict="HOLD"))
    assert cells(benchmark.table(rows)) == [
        ["3.9.1", "standard", "2026-11-24", "what else the host does", "2 to 2", "", "600", "1", "0", "1", "0"],
        ["3.9.1", "standard", "2026-11-30", "what else the host does", "2 to 5.5", "", "650", "2", "1", "1", "0"],
        ["3.9.1", "standard", "2026-11-30", "2 busy programs", "2 to 2", "", "600", "1", "1", "0", "0"],
        ["4.2.1", "standard", "2026-11-30", "what else the host does", "2 to 2", "", "600", "1", "1", "0", "0"],
        ["4.10.0", "standard", "2026-11-30", "what else the host does", "2 to 2", "", "600", "1", "1", "0", "0"],
    ]


def test_a_row_tells_for_how_much_of_its_runs_the_host_held_nodes_back_mean_and_most(benchmark):
    runs = [run(host_held_back_percent=10), run(host_held_back_percent=13), run(host_held_back_percent=8), run()]
    assert benchmark.held_back(runs) == {"held_back_mean_percent": 10.3, "held_back_most_percent": 13}


def test_where_no_run_tells_whether_nodes_were_held_back_neither_does_the_row(benchmark):
    assert benchmark.held_back([run(), run()]) == {}


@pytest.mark.parametrize(
    ("rows", "cell"),
    [
        ([row(held_back=(10.4, 13)), row(held_back=(20.4, 28))], "15 %, 28 %"),
        ([row(held_back=(10.4, 13)), row(), row(held_back=(20.4, 28))], "15 %, 28 % (of 2)"),
        ([row(), row()], ""),
    ],
)
def test_the_table_has_the_mean_and_the_most_of_the_rows_that_tell_and_how_many_they_are(benchmark, rows, cell):
    (line,) = cells(benchmark.table(rows))
    assert line[5] == cell


def test_a_version_is_verified_against_itself_as_whole_kafkas(benchmark, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(benchmark.subprocess, "run", lambda command, **_: asked.append(command) or Failed)
    with pytest.raises(benchmark.HarnessError, match=r"has no verdict: Kafka 4\.3 needs Java 17"):
        benchmark.verified(tmp_path, benchmark.Trial("4.3.1", "standard", 0))
    options = ["--base-kafka", "4.3.1", "--kafka", "4.3.1", "--suite", "standard", "--fresh", "--out", str(tmp_path)]
    assert asked[0][3:] == ["verify", *options]


def test_a_verification_that_was_cut_short_is_gone_on_with(benchmark, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(benchmark.subprocess, "run", lambda command, **_: asked.append(command) or Failed)
    RunDirectory(tmp_path).request.write(Request())
    with pytest.raises(benchmark.HarnessError, match="has no verdict"):
        benchmark.verified(tmp_path, benchmark.Trial("4.3.1", "standard", 0))
    assert asked[0][3:] == ["verify", "--resume", str(tmp_path)]


def test_the_row_of_a_verification_has_what_its_own_runs_tell(benchmark, monkeypatch, tmp_path):
    run_dir = sample_run.write_sample(tmp_path)
    directory = RunDirectory(run_dir)
    for each, share in zip(directory.runs(), range(1, 10), strict=True):
        result = each.result.read()
        each.result.write(replace(result, measures={**result.measures, "host_held_back_percent": share}))
    judge_run(directory)
    monkeypatch.setattr(benchmark.subprocess, "run", lambda *_, **__: Committed)
    row = benchmark.verified(run_dir, benchmark.Trial("3.9.1", "bootstrap", 0))
    told = [row[name] for name in ("commit", "held_back_mean_percent", "held_back_most_percent")]
    assert told == ["1234abcd", 5.0, 9]


class Committed:
    stdout = "1234abcd\n"


class Failed:
    stderr = "Kafka 4.3 needs Java 17\n"
