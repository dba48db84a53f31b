"""On real lines whose statements are known, templates are the statements: measured, and compared with Drain3."""

import importlib.util
import sys
from pathlib import Path

import pytest

from harness.logs.read.event_counts import WHOLE_LOG, Reading
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout


@pytest.fixture(scope="module")
def benchmark():
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "templates.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_templates", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_the_sample_is_large_and_of_every_kind_of_node(benchmark):
    known = benchmark.sample()
    assert len(known.labels) >= 2000
    assert len(set(known.labels)) >= 150
    assert {"0", "1", "2", "3"} == set(known.nodes)


def test_templates_are_the_statements_that_wrote_the_lines(benchmark):
    known = benchmark.sample()
    labels, texts = benchmark.answers(known)
    ours = benchmark.scores(labels, texts, *benchmark.by_statement(known.events))
    drain = benchmark.scores(labels, texts, *benchmark.mined(known.events))
    assert ours.ga >= 0.99
    assert ours.fta >= 0.95
    assert ours.ga > drain.ga
    assert ours.fta > drain.fta


@pytest.mark.parametrize(
    ("labels", "groups", "expected"),
    [
        (["a", "a", "b"], [1, 1, 2], (1.0, 1.0)),
        (["a", "a", "b"], [1, 2, 3], (1 / 3, 2 * 1 / (3 + 2))),
        (["a", "a", "b"], [1, 1, 1], (0.0, 0.0)),
    ],
)
def test_a_group_counts_only_if_it_is_exactly_a_true_one(benchmark, labels, groups, expected):
    found = benchmark.scores(labels, labels, groups, labels)
    assert (found.ga, found.fga) == pytest.approx(expected)


def test_values_are_compared_token_by_token(benchmark):
    assert benchmark.comparable("[Raft id={}] Node {} {} took {}ms") == "Node {} took {}"


def test_every_event_of_the_sample_is_read(benchmark):
    known = benchmark.sample()
    reading = Reading(compile_layout(KAFKA_DEFAULT), (WHOLE_LOG,))
    assert known.events["logger"].ne("").all()
    assert known.events.select(reading.layout.at(known.events["text"])).to_series().is_not_null().all()
