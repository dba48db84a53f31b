"""Real clusters on loopback: formatting, life and death of nodes, probes, oracles."""

import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from harness.base.waiting import wait_until
from harness.cluster import probes
from harness.cluster.address import Address
from harness.cluster.cluster import Cluster
from harness.cluster.config import NodeConfig
from harness.cluster.formatting import (
    Identity,
    format_from_template,
    format_with_storage_tool,
    new_uuid,
)
from harness.cluster.node import NodeState
from harness.cluster.protocol import Unreachable, newest_request, understood
from harness.cluster.registering import register_endpoint
from harness.cluster.topology import Topology
from harness.cluster.watch import Watcher
from harness.model.incidents import IncidentKind
from harness.model.runs import RunKey
from harness.rundir.directory import RunDirectory
from harness.scenario.bounds import FOLLOW_WINDOW_SECONDS
from harness.scenario.conditions.follows_leader import follows
from harness.scenario.monitors.host_not_starved import HostNotStarved

pytestmark = [pytest.mark.live, pytest.mark.clusters]

UP_SECONDS = 90
OBSERVER = 3
THREE_AND_ONE = Topology(3, 1)


@pytest.fixture
def start(node_parts, stock, tmp_path):
    """Return a function that starts a cluster; all end with the test."""
    clusters = []

    def make(name="c", topology=THREE_AND_ONE, settings=None):
        launch = node_parts.launch(settings or {})
        cluster = Cluster(topology, tmp_path / name, launch, stock, node_parts.template, lambda _: None)
        clusters.append(cluster)
        cluster.start(cluster.nodes)
        return cluster

    yield make
    for cluster in clusters:
        cluster.close()


def is_up(cluster):
    cluster.look()
    if any(node.state is not NodeState.READY for node in cluster.nodes.values()):
        return False
    return all(known_brokers(cluster, node) == set(cluster.nodes) for node in cluster.nodes.values())


def known_brokers(cluster, node):
    try:
        return set(probes.metadata(cluster.wire, node.config.broker).brokers)
    except Unreachable:
        return set()


def comes_up(cluster):
    return wait_until(lambda: is_up(cluster), UP_SECONDS)


def watched(cluster, seconds):
    """Return the looks of a watcher over some seconds."""
    watcher = Watcher(cluster, lambda *_: None, pytest.fail)
    watcher.start()
    began = time.monotonic()
    time.sleep(seconds)
    watcher.stop()
    return watcher.recent(began)


def snapshot_of(directory):
    return (directory / "__cluster_metadata-0" / "00000000000000000000-0000000000.checkpoint").read_bytes()


def without_times(snapshot):
    """Blank what differs between two runs of the tool itself: checksums, time stamps of batches, and of the head."""
    from kio.records.readers import read_batch

    records, offset = [], 0
    while offset < len(snapshot):
        batch, size = read_batch(snapshot, offset)
        offset += size
        records += [(r.offset, r.key, None if r.key == b"\0\0\0\3" else r.value) for r in batch.records]
    return records


def test_a_voter_formatted_from_the_template_is_what_storage_tool_makes(node_parts, kafka, tmp_path):
    jars, cluster = (*node_parts.class_path, kafka.raft_jar), new_uuid()
    voters = [Identity(n, new_uuid(), {"CONTROLLER": address(20001 + n)}) for n in range(3)]
    config = NodeConfig(0, address(20000), address(20001), {v.node: v.controller for v in voters})
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    format_with_storage_tool(
        node_parts.java, jars, node_parts.line.main_classes.storage, theirs, config, cluster, voters
    )
    theirs_id = meta(theirs)["directory.id"]
    identities = [replace(v, directory=uuid_of(theirs_id)) if v.node == 0 else v for v in voters]
    format_from_template(node_parts.template, ours, 0, uuid_of(theirs_id), cluster, identities)
    assert files(ours) == files(theirs)
    assert meta(ours) == meta(theirs)
    assert without_times(snapshot_of(ours)) == without_times(snapshot_of(theirs))
    assert len(snapshot_of(ours)) == len(snapshot_of(theirs))


def test_an_observer_formatted_from_the_template_is_what_storage_tool_makes(node_parts, kafka, tmp_path):
    jars, cluster = (*node_parts.class_path, kafka.raft_jar), new_uuid()
    config = NodeConfig(3, address(20000), None, {0: address(20001)})
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    format_with_storage_tool(node_parts.java, jars, node_parts.line.main_classes.storage, theirs, config, cluster, [])
    format_from_template(node_parts.template, ours, 3, uuid_of(meta(theirs)["directory.id"]), cluster, [])
    assert files(ours) == files(theirs)
    assert meta(ours) == meta(theirs)


def address(port):
    return Address("127.0.0.1", port)


def uuid_of(text):
    import base64
    import uuid

    return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "=="))


def files(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def meta(directory):
    lines = (directory / "meta.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_two_clusters_come_up_side_by_side_and_know_only_their_own_nodes(start, node_parts):
    one, two = start("one"), start("two")
    assert comes_up(one)
    assert comes_up(two)
    addresses = [{n.config.broker for n in c.nodes.values()} for c in (one, two)]
    assert not addresses[0] & addresses[1]
    for cluster in (one, two):
        brokers = probes.metadata(cluster.wire, cluster.nodes[OBSERVER].config.broker).brokers
        assert brokers == {node.id: node.config.broker for node in cluster.nodes.values()}
    voter = one.nodes[0].config
    known = understood(voter.broker) | understood(voter.controller)
    versions = {
        name: newest_request(name, node_parts.line.requests, known).__name__ for name in node_parts.line.requests
    }
    assert versions["describe_quorum"] == "kio.schema.describe_quorum.v2.request"


def test_a_live_node_proves_the_jar_it_holds_open_and_its_effective_configuration(start, kafka):
    import hashlib

    cluster = start()
    assert comes_up(cluster)
    for node in cluster.nodes.values():
        proof = node.prove("controller.quorum.fetch.timeout.ms")
        assert proof.sha256 == hashlib.sha256(kafka.raft_jar.read_bytes()).hexdigest()
        assert proof.flag == "2000"
        assert node.prove("no.such.flag").flag == "absent"


def test_a_voter_moves_and_its_old_port_stays_dead_and_the_voter_set_learns_the_new_one(start):
    cluster = start()
    assert comes_up(cluster)
    follower = next(n for n in cluster.voters if n.id != cluster.quorum().leader)
    old = follower.config
    assert cluster.restart(follower.id, new_addresses=True)
    assert register_endpoint(cluster, follower.id, within=30) == ""
    assert cluster.quorum().endpoints[follower.id] == follower.config.controller != old.controller
    for left in (old.broker, old.controller):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((left.host, left.port), timeout=1)
    assert comes_up(cluster)
    names = cluster.names()
    assert names[str(old.controller)] == "<voter's left controller>"
    assert names[str(follower.config.controller)] == "<voter's controller>"
    assert names["broker 3 "] == "broker <an observer> "
    assert sorted(name for text, name in names.items() if text.startswith("127.0.0.1")) == sorted(
        ["<observer's broker>", "<voter's left broker>", "<voter's left controller>"]
        + ["<voter's broker>", "<voter's controller>"] * 3
    )


def test_the_oracle_sees_an_observer_that_follows_and_one_that_does_not(start):
    cluster = start()
    assert comes_up(cluster)
    assert follows(watched(cluster, FOLLOW_WINDOW_SECONDS), OBSERVER).ok
    cluster.nodes[OBSERVER].kill()
    looks = watched(cluster, FOLLOW_WINDOW_SECONDS)
    assert looks[-1].quorum.observers.keys() == {OBSERVER}, "a dead observer stays listed, which is why we do not ask"
    assert not follows(looks, OBSERVER).ok


def test_a_node_that_is_killed_from_outside_is_noticed_as_dead(start):
    cluster = start()
    assert comes_up(cluster)
    psutil.Process(cluster.nodes[1].pid).kill()
    assert wait_until(lambda: cluster.look() or cluster.nodes[1].state is NodeState.DIED, 10)


def test_a_node_that_the_harness_stops_or_kills_is_not_taken_for_dead(start):
    cluster = start()
    assert comes_up(cluster)
    watcher = Watcher(cluster, lambda *_: None, pytest.fail)
    watcher.start()
    assert cluster.nodes[2].stop()
    cluster.nodes[1].kill()
    watcher.stop()
    cluster.look()
    assert (cluster.nodes[1].state, cluster.nodes[2].state) == (NodeState.KILLED, NodeState.STOPPED)
    assert all(cluster.nodes[n].cpu_seconds > 0 for n in (1, 2))


def test_a_node_that_died_before_it_was_told_to_stop_is_dead_and_not_stopped(start):
    cluster = start(topology=Topology(1, 0))
    psutil.Process(cluster.nodes[0].pid).kill()
    time.sleep(0.2)
    cluster.nodes[0].stop()
    assert (cluster.nodes[0].state, cluster.nodes[0].exit_code) == (NodeState.DIED, -9)


def test_a_node_that_the_host_keeps_from_running_is_noticed_as_starved(start, tmp_path):
    cluster = start(topology=Topology(1, 0))
    assert wait_until(lambda: cluster.look() or cluster.nodes[0].state is NodeState.READY, UP_SECONDS)
    incidents = []
    folder = RunDirectory(tmp_path).run(RunKey("none", "stock", 1))
    record = SimpleNamespace(write=lambda _: 1, report=lambda incident, _: incidents.append(incident), folder=folder)
    monitor = HostNotStarved(record, cluster)
    monitor.start()
    time.sleep(1)
    process = psutil.Process(cluster.nodes[0].pid)
    process.suspend()
    time.sleep(2)
    process.resume()
    assert wait_until(lambda: bool(incidents), 5)
    monitor.stop()
    assert {incident.kind for incident in incidents} == {IncidentKind.HOST_STALLED}
    assert "node 0" in incidents[0].reason


HARNESS = """
import sys, time
from pathlib import Path
from harness.model.request import Request
from harness.cluster.cluster import Cluster
from harness.cluster.install import Install
from harness.cluster.topology import Topology
from harness.kafka.distribution import distribution_of
from harness.stages.node_parts import prepare_node_parts
from harness.toolbox.toolbox import local_toolbox
toolbox = local_toolbox()
kafka = distribution_of(None, "3.9.1", toolbox)
node_parts = prepare_node_parts(Request(), kafka, toolbox, lambda _: None)
stock = Install("stock", kafka.raft_jar, "", "absent")
cluster = Cluster(Topology(3, 1), Path(sys.argv[1]), node_parts.launch({}), stock, node_parts.template, lambda _: None)
cluster.start(cluster.nodes)
print(*(node.pid for node in cluster.nodes.values()), flush=True)
time.sleep(600)
"""


def test_every_node_dies_with_a_harness_that_is_killed(node_parts, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(tmp_path / "c")], stdout=subprocess.PIPE, text=True
    ) as harness:
        pids = [int(pid) for pid in harness.stdout.readline().split()]
        assert len(pids) == 4
        time.sleep(1)
        assert all(psutil.pid_exists(pid) for pid in pids)
        harness.kill()
        assert wait_until(lambda: not any(map(alive, pids)), 10)


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_nothing_of_a_cluster_is_left_when_it_is_closed(start):
    cluster = start()
    pids = [node.pid for node in cluster.nodes.values()]
    cluster.close()
    assert not any(map(alive, pids))
    assert Path(cluster.nodes[0].folder / "server.properties").exists()
