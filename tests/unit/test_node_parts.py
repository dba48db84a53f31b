"""A Kafka of which no node starts is told by its place and by what it lacks."""

from types import SimpleNamespace

import pytest
from whole_kafka import whole_kafka

from harness.base.errors import HarnessError
from harness.cluster.formatting import NoStartError
from harness.kafka.completeness import lacking_others
from harness.kafka.distribution import unpacked_distribution
from harness.model.request import Request
from harness.stages import node_parts


@pytest.mark.parametrize("release", ["3.9.1", "3.9.99"])
def test_the_kafka_is_named_with_why_it_does_not_start_and_what_it_lacks(tmp_path, monkeypatch, release):
    def fail(*_):
        raise NoStartError("a node ends while it starts: java.lang.ClassNotFoundException: x.Y.")

    monkeypatch.setattr(node_parts, "make_node_parts", fail)
    monkeypatch.setattr(node_parts, "host_compiler", lambda *_: None)
    java = SimpleNamespace(java=tmp_path / "java", release=21)
    toolbox = SimpleNamespace(node_java=lambda: java, cache=tmp_path / "cache")
    kafka = unpacked_distribution(whole_kafka(tmp_path / "mine", release))
    with pytest.raises(HarnessError, match=rf"{tmp_path}/mine does not start: a node ends .*: java.*x\.Y\.") as told:
        node_parts.prepare_node_parts(Request(), kafka, toolbox, print)
    lacks = lacking_others(kafka)
    assert all(name in told.value.hint for name in lacks)
    assert bool(lacks) is ("add it" in told.value.hint) is (release == "3.9.1")
