"""runbook.sh on a cluster that the harness only started: every node is rolled, and one that stays away stops it."""

import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.files import sha256_of
from harness.base.waiting import wait_until
from harness.cluster.address import listed
from harness.cluster.cluster import Cluster
from harness.cluster.install import copied_to
from harness.cluster.node import NodeState
from harness.cluster.partitions import create_topics, partitions
from harness.cluster.protocol import Unreachable
from harness.cluster.topology import Topology
from harness.kafka.lock import read_lock
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.rollout import SCHEMA, Rehearsal, RolloutOutcome, RolloutVerdict, RollPlan, Turn
from harness.model.runs import Outcome, RunResult
from harness.model.security import Security
from harness.rollout.rehearsals import BACK, FORWARD, FORWARD_AND_BACK
from harness.rollout.runbook import runbook
from harness.rollout.runbook_shell import shell_script
from harness.rollout.sabotage import without_class
from harness.scenario.actions.create_user import create_user
from harness.scenario.loads.records import Records, RecordsClient
from harness.toolbox.lockfile import Purpose

pytestmark = [pytest.mark.live, pytest.mark.clusters]

KAFKA = "3.9.1"
SECURITY = Security("SASL_SSL", "SCRAM-SHA-512", clients=True)
INTERNAL = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3"}
REPLICAS = ((0, 1, 2), (1, 2, 3), (3, 0, 1))
NO_FLAG = Flag("", known=False)
# What an operator's functions do is asked of the test, which has the nodes.
SITE = """
asked() { {python} -S -E -c 'import sys, http.client
connection = http.client.HTTPConnection("127.0.0.1", {port}, timeout=100)
connection.request("GET", sys.argv[1])
answer = connection.getresponse()
sys.stdout.write(answer.read().decode())
sys.exit(answer.status != 200)' "$1"; }
stop_node() { asked "/stop/$1"; }
install_jar() { asked "/install/$1/$2"; }
start_node() { asked "/start/$1"; }
is_running() { asked "/running/$1"; }
running_jar() { asked "/jar/$1"; }
error_lines() { asked "/errors/$1"; }
longest_wait() { asked "/waited/$1"; }
"""


class Hands:
    """What an operator's functions do to nodes, and what they see of them and of a client."""

    def __init__(self, cluster, client, jars):
        self.cluster, self.client, self.jars, self.done = cluster, client, jars, []

    def do(self, what, *words):
        """Return what a function prints, None where it fails."""
        if what in ("stop", "install", "start"):
            self.done.append(" ".join((what, *words)))
        return getattr(self, what)(*words)

    def stop(self, node):
        return "" if self.cluster.nodes[int(node)].stop() else None

    def install(self, node, jar):
        target = self.cluster.nodes[int(node)]
        target.install = copied_to(self.jars[jar], target.folder / "libs")
        return ""

    def start(self, node):
        self.cluster.start([int(node)])
        return ""

    def running(self, node):
        target = self.cluster.nodes[int(node)]
        target.look_for_death()
        return "" if target.is_running else None

    def jar(self, node):
        folder = Path(f"/proc/{self.cluster.nodes[int(node)].pid}/fd")
        held = [each for each in folder.iterdir() if "kafka-raft-" in str(each.readlink())]
        return sha256_of(held[0])

    def errors(self, node):
        lines = [line.decode().rstrip() for line in self.cluster.nodes[int(node)].logged()]
        wrong = [at for at, line in enumerate(lines) if " ERROR " in line or " FATAL " in line]
        return "\n".join(line for at in wrong for line in (*lines[at : at + 2], "--"))

    def waited(self, seconds):

        return f"{self.client.pauses.longest_after(time.monotonic() - float(seconds)):.1f}"


@pytest.fixture(scope="module")
def tools(toolbox, kafka, node_parts, tmp_path_factory):
    """Return a folder with Kafka's scripts in bin/."""
    home = tmp_path_factory.mktemp("kafka")
    jars = [*toolbox.downloads.fetch_all(read_lock(KAFKA).of(Purpose.COMMANDS)), *kafka.jars]
    (home / "bin").mkdir()
    for script, main in node_parts.line.commands.items():
        path = home / "bin" / script
        java = f'"{node_parts.java}" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "{os.pathsep.join(map(str, jars))}"'
        path.write_text(f'#!/bin/sh\nexec {java} {main} "$@"\n')
        path.chmod(0o755)
    return home


@pytest.fixture(scope="module")
def rolled(node_parts, stock, tmp_path_factory):
    """Return a secured cluster of three controllers that are brokers and one broker, under load, with its hands."""
    folder, topology = tmp_path_factory.mktemp("cluster"), Topology(3, 1, security=SECURITY)
    torn = folder / "torn" / stock.jar.name
    without_class(stock.jar, torn)
    launch = node_parts.launch(INTERNAL)
    with Cluster(topology, folder / "nodes", launch, stock, node_parts.template, lambda _: None) as cluster:
        for node in cluster.nodes.values():
            node.install = copied_to(stock, node.folder / "libs")
        cluster.start(cluster.nodes)

        def up():
            cluster.look()
            return all(node.state is NodeState.READY for node in cluster.nodes.values())

        assert wait_until(up, 240)
        create_user().perform(SimpleNamespace(cluster=cluster))

        def created():
            with suppress(Unreachable):
                broker = next(iter(cluster.brokers.values()))
                return not create_topics(cluster.wire, broker, {"orders": REPLICAS}, {"min.insync.replicas": "2"})
            return False

        assert wait_until(created, 60)
        client = RecordsClient(Records("orders", "all", 20), len(REPLICAS), cluster.client_brokers)
        client.start()
        began = time.monotonic()
        assert wait_until(lambda: client.pauses.all_answered_since(began), 60)
        client.pauses.begin()
        broken = type(stock)("torn", torn, sha256_of(torn), "absent")
        yield Hands(cluster, client, {"base": stock, "new": stock, "torn": broken})
        client.stop()
        report = client.report(cluster.client_brokers)
        assert (report.acknowledged > 0, report.lost, report.unread) == (True, 0, "")


def verdict(base, new):
    """Return a rollout that passed, of which the script is made."""

    def build(jar):
        return Build("stock", KAFKA, str(jar.jar), jar.sha256, "release", NO_FLAG)

    turns = tuple(Turn(1, phase, 3, "broker", "replace", "", 1.0, 1.0, (), (), {}) for phase in (FORWARD, BACK))
    result = RunResult(FORWARD_AND_BACK, "roll", Role.ON, 1, Outcome.PASSED, "", "", (), 1.0)
    rehearsed = Rehearsal("?", result, 30.0, turns, (), {}, ())
    plan = RollPlan("3combined+1", (), (), 0.0, command_config="client.properties", security=SECURITY)
    arms = Arm("base", Role.BASE, build(base), ""), Arm("new", Role.ON, build(new), "")
    options = {"kafka-leader-election.sh": "--admin.config"}
    return RolloutVerdict(
        SCHEMA, KAFKA, plan, *arms, (rehearsed,), RolloutOutcome.PASSED, "", (), config_options=options
    )


@pytest.fixture
def run(rolled, tools, tmp_path):
    """Return a function that runs the script with some words, rolling to a jar."""

    class Asked(BaseHTTPRequestHandler):
        def do_GET(self):
            said = rolled.do(*self.path.strip("/").split("/"))
            self.send_response(200 if said is not None else 404)
            self.end_headers()
            self.wfile.write((said or "").encode())

        def log_message(self, *_): ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = SITE.replace("{python}", sys.executable).replace("{port}", str(server.server_port))
    (tmp_path / "site.sh").write_text(site)

    def rolls(new, *words):
        rolled.jars["new"], rolled.done = rolled.jars[new], []
        script = tmp_path / "runbook.sh"
        script.write_text(shell_script(runbook(verdict(rolled.jars["base"], rolled.jars[new]))))
        own = {
            "SITE": str(tmp_path / "site.sh"),
            "KAFKA": str(tools),
            "BROKERS": listed(rolled.cluster.client_brokers),
            "CONTROLLERS": listed(rolled.cluster.client_controllers),
            "COMMAND_CONFIG": str(rolled.cluster.client_file),
            "ASK": "no",
        }
        done = subprocess.run(
            ["sh", script, *words],
            env={"PATH": os.environ["PATH"]} | own,
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )
        print(done.stdout, done.stderr)
        return done.returncode, done.stdout + done.stderr

    yield rolls
    server.shutdown()
    server.server_close()


def leaders(cluster):
    broker = next(iter(cluster.brokers.values()))
    return {each.name: (each.leader, each.replicas[0]) for each in partitions(cluster.wire, broker)}


@pytest.mark.whole
def test_base_is_rolled_to_base_on_every_node_and_the_preferred_replicas_lead_again(run, rolled):
    code, said = run("base", "check")
    assert (code, rolled.done) == (0, []), said
    leader = rolled.cluster.quorum().leader
    code, said = run("base", "forward")
    assert code == 0, said
    stops = [int(each.split()[1]) for each in rolled.done if each.startswith("stop")]
    assert stops[0] == 3
    assert sorted(stops) == [0, 1, 2, 3]
    assert stops[-1] == leader, "nobody else was elected before its turn"
    assert "every partition is led by its preferred replica" in said
    assert all(leads == preferred for leads, preferred in leaders(rolled.cluster).values())


def test_it_stops_with_the_reason_where_a_node_does_not_come_back_and_its_way_back_heals(run, rolled):
    code, said = run("torn", "forward")
    assert code == 1
    assert rolled.done == ["stop 3", "install 3 new", "start 3"]
    assert "STOPPED: node 3 crashed after its start." in said
    assert "runbook.sh back 3\n" in said
    code, said = run("torn", "back", "3")
    assert code == 0, said
    assert "node 3 is down: nothing is checked before its turn" in said
    assert rolled.done == ["install 3 base", "start 3"]
    assert rolled.jar("3") == rolled.jars["base"].sha256
