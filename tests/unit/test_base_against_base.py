"""The table of base against base is what the kept rows say: a row for each Kafka, suite and number of busy programs."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("base_against_base")
    sys.path.remove(str(ROOT / "benchmarks"))
    for name in ("base_against_base", "pages"):
        del sys.modules[name]


def row(kafka="3.9.1", verdict="SHIP", busy=0, load=2.0, seconds=600):
    row = {"kafka": kafka, "suite": "standard", "busy_programs": busy, "load_at_end": load}
    return {**row, "wall_seconds": seconds, "verdict": verdict}


def cells(table):
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def test_the_page_has_the_table_of_the_rows_that_are_kept(benchmark):
    page = (ROOT / "docs/other-jars.md").read_text("utf-8")
    assert benchmark.with_block(page, "base against base", benchmark.table(benchmark.kept_rows())) == page


def test_each_kafka_has_its_row_and_what_ran_beside_it_another(benchmark):
    rows = [row("4.10.0"), row("4.2.1"), row(), row(busy=2), row(verdict="HOLD", load=5.5, seconds=700)]
    assert cells(benchmark.table(rows)) == [
        ["3.9.1", "standard", "what else the host does", "2 to 5.5", "650", "2", "1", "1", "0"],
        ["3.9.1", "standard", "2 busy programs", "2 to 2", "600", "1", "1", "0", "0"],
        ["4.2.1", "standard", "what else the host does", "2 to 2", "600", "1", "1", "0", "0"],
        ["4.10.0", "standard", "what else the host does", "2 to 2", "600", "1", "1", "0", "0"],
    ]


def test_a_version_is_verified_against_itself_as_whole_kafkas(benchmark, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(benchmark.subprocess, "run", lambda command, **_: asked.append(command) or Failed)
    with pytest.raises(benchmark.HarnessError, match=r"has no verdict: Kafka 4\.3 needs Java 17"):
        benchmark.verified(tmp_path, benchmark.Trial("4.3.1", "standard", 0))
    options = ["--base-kafka", "4.3.1", "--kafka", "4.3.1", "--suite", "standard", "--out", str(tmp_path)]
    assert asked[0][3:] == ["verify", "--fresh", *options]


class Failed:
    stderr = "Kafka 4.3 needs Java 17\n"
