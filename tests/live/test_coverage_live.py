"""JaCoCo's agent in real nodes: what a killed and a stopped one tell, and the changed lines that a scenario reaches."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.base.json import from_json
from harness.base.paths import data_root
from harness.base.waiting import wait_until
from harness.building.builders.ecj import ecj_of
from harness.building.configdef import prepare_probe
from harness.building.raft_builds import Bench, Toolchain, build_series
from harness.cluster.cluster import Cluster
from harness.cluster.node import NodeState
from harness.cluster.topology import Topology
from harness.coverage.agent import Agent, collecting
from harness.coverage.changes import code_of_methods, lines_of_series
from harness.coverage.jacoco import Jacoco, read_hits
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import load_series
from harness.model.arms import Kafka, Role
from harness.model.events import HostStalled
from harness.model.proof import Coverage
from harness.proof.bytecode import prepare_bytecode, read_each
from harness.proof.dropin.class_changes import CompiledBaseline, changed_methods, compared
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal
from harness.stages.coverage import coverage
from harness.toolbox.lockfile import Purpose

pytestmark = [pytest.mark.live, pytest.mark.clusters]

KAFKA = "3.9.1"
DATA = "reached.exec"
SERIES = load_series(data_root() / "patches" / KAFKA / "dynamic-bootstrap")
CLASSES = ("org/apache/kafka/raft/KafkaRaftClient", "org/apache/kafka/raft/QuorumConfig")
CLIENT = "raft/src/main/java/org/apache/kafka/raft/KafkaRaftClient.java"
CALL, UPDATE = "maybeUpdateBootstrapServers();", "requestManager.updateBootstrapServers(voterNodes);"


@pytest.fixture(scope="module")
def jacoco(toolbox):
    return Jacoco(toolbox.java(), toolbox.tool(Purpose.COVERAGE_READER))


@pytest.fixture
def node(node_parts, stock, toolbox, tmp_path):
    """Return the only node of a cluster of one on the release's jar, with the agent in it; its data go to tmp_path."""
    agent = Agent(toolbox.tool(Purpose.COVERAGE_AGENT), CLASSES)
    with (
        collecting(agent, node_parts.launch({}), tmp_path / DATA) as launch,
        Cluster(Topology(1, 0), tmp_path / "c", launch, stock, node_parts.template, lambda _: None) as cluster,
    ):
        cluster.start(cluster.nodes)
        assert wait_until(lambda: cluster.look() or cluster.nodes[0].state is NodeState.READY, 90)
        yield cluster.nodes[0]


def ran(jacoco, kafka, folder):
    """Return how many lines of the instrumented classes ran."""
    data = [folder / DATA] if (folder / DATA).is_file() else []
    hits = read_hits(jacoco, data, kafka.raft_jar, CLASSES).lines
    assert hits.keys() == {f"{name}.java" for name in CLASSES}
    return sum(sum(lines.values()) for lines in hits.values())


def test_a_node_tells_which_lines_it_ran_before_it_is_killed(node, jacoco, kafka, tmp_path):
    assert ran(jacoco, kafka, tmp_path) == 0
    node.kill()
    assert node.state is NodeState.KILLED
    assert ran(jacoco, kafka, tmp_path) > 300


def test_a_node_that_stops_in_order_tells_which_lines_it_ran(node, jacoco, kafka, tmp_path):
    assert node.stop()
    assert node.state is NodeState.STOPPED
    assert wait_until(lambda: ran(jacoco, kafka, tmp_path) > 300, 5)


def test_the_proof_of_the_arm_sees_the_jar_under_test_alone_beside_the_agents(node, kafka):
    proof = node.prove("controller.quorum.fetch.timeout.ms")
    assert (Path(proof.jar), proof.flag) == (kafka.raft_jar, "2000")


def test_data_of_another_jar_are_refused(node, jacoco, kafka, run_dir, tmp_path):
    node.kill()
    with pytest.raises(HarnessError, match="the nodes ran another jar"):
        read_hits(jacoco, [tmp_path / DATA], run_dir / "builds/patched/kafka-raft-3.9.1.jar", CLASSES)


@pytest.fixture(scope="module")
def run_dir(built, tmp_path_factory):
    return shutil.copytree(built, tmp_path_factory.mktemp("covered") / "run")


def covered(run_dir, role, toolbox, quiet):
    """Run the scenario on the arm of a role; return the lines by their text, as (scenarios, line)."""
    asked = RunDirectory(run_dir).declaration.read()
    arms = tuple(arm for arm in asked.arms if arm.role in (Role.BASE, role))
    RunDirectory(run_dir).declaration.write(replace(asked, arms=arms))
    try:
        coverage(run_dir, toolbox, quiet)
    finally:
        RunDirectory(run_dir).declaration.write(asked)
    found = from_json(Coverage, (run_dir / "proof/patched/coverage.json").read_bytes())
    assert found.gap == ""
    return found


def of_client(found, text):
    return [bool(line.scenarios) for line in found.lines if line.path == CLIENT and line.text == text]


def test_with_the_flag_on_the_refresh_is_reached_and_early_returns_are_listed_as_unreached(run_dir, toolbox, quiet):
    found = covered(run_dir, Role.ON, toolbox, quiet)
    assert of_client(found, UPDATE) == [True]
    assert of_client(found, "return;") == [False]
    assert of_client(found, CALL) == [True, True, False], "no snapshot is fetched in this scenario"
    assert {line.text for line in found.unreached} >= {"return;", "this("}
    assert {scenario for line in found.lines for scenario in line.scenarios} == {"new-mechanism"}
    journal = read_journal(run_dir / "coverage/runs/new-mechanism/patched-on/1/journal.jsonl")
    stalls = [entry.event for entry in journal if isinstance(entry.event, HostStalled)]
    assert not stalls, "the agent must not look like a starved host"


def test_with_the_flag_off_the_early_return_is_reached_and_nothing_behind_it(run_dir, toolbox, quiet):
    found = covered(run_dir, Role.OFF, toolbox, quiet)
    assert of_client(found, "return;") == [True]
    assert of_client(found, UPDATE) == [False]
    behind = [line for line in found.lines if line.path == CLIENT and 1761 <= line.line <= 1776]
    assert [line.text for line in behind if line.scenarios] in ([], ["}"])  # the closing brace is the return


def test_without_sources_the_lines_are_those_of_methods_whose_code_differs(toolbox, kafka, tmp_path):
    builder, sources = ecj_of(toolbox), toolbox.downloads.fetch(read_lock(KAFKA).one(Purpose.SOURCES))
    tools = Toolchain(builder, kafka, sources, 8)
    bench = Bench(
        RunDirectory(tmp_path), prepare_probe(builder, builder.runtime, kafka.jars, toolbox.cache), "", Kafka("3.9.1")
    )
    base = build_series(bench, tools, "base", MavenSources(KAFKA, sources), None)
    patched = build_series(bench, tools, "patched", MavenSources(KAFKA, sources), SERIES)
    old, new = read_each(prepare_bytecode(builder, toolbox), (tmp_path / base.jar, tmp_path / patched.jar))
    found = code_of_methods(
        tmp_path / patched.jar, changed_methods(compared(new, [CompiledBaseline("base", old)]))
    ).lines
    told = lines_of_series(tmp_path / "builds/patched/sources", SERIES)
    assert {f"raft/src/main/java/{path}" for path in found} == told.keys()
    body = set(range(1759, 1777)) & told[CLIENT]
    assert body & found[CLIENT.removeprefix("raft/src/main/java/")] == {
        line for line in body if line not in (1761, 1762, 1771, 1775)
    }, "all but blank lines and closing braces"
