"""Faults as verbs: who is cut from whom, what is journaled, and what cannot be done."""

import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.cluster.node import NodeState
from harness.cluster.probes import Quorum
from harness.cluster.runtime import namespace_runtime
from harness.cluster.runtime.link_probes import LinkMeasure
from harness.cluster.runtime.links import Quality
from harness.cluster.runtime.loopback_runtime import OnLoopback
from harness.cluster.runtime.namespace_runtime import InNamespaces
from harness.cluster.runtime.network import CLIENTS
from harness.cluster.topology import Topology
from harness.model.events import ENDED, FaultChanged
from harness.scenario import holding
from harness.scenario.actions import fail_fsync as fail_fsync_module
from harness.scenario.actions import fill_disk as fill_disk_module
from harness.scenario.actions import lose_unflushed as lose_unflushed_module
from harness.scenario.actions import set_clock as set_clock_module
from harness.scenario.actions.begin_to_stop import begin_to_stop
from harness.scenario.actions.change_host import change_host
from harness.scenario.actions.cut import cut, heal
from harness.scenario.actions.degrade import degrade, mend
from harness.scenario.actions.fill_disk import empty_disk, fill_disk, small_disk
from harness.scenario.actions.hold import hold, release
from harness.scenario.actions.hold_followers import hold_followers
from harness.scenario.actions.kill import kill
from harness.scenario.actions.lose_unflushed import lose_unflushed
from harness.scenario.actions.restart import restart
from harness.scenario.actions.set_clock import SetClock, set_clock
from harness.scenario.actions.start import start, start_all, start_voters
from harness.scenario.actions.start_without_names import start_without_names
from harness.scenario.actions.stop import stop
from harness.scenario.actions.wipe import wipe
from harness.scenario.comebacks import Comebacks
from harness.scenario.conditions.has_ended import has_ended
from harness.scenario.conditions.runs import runs
from harness.scenario.link_proof import tries_for
from harness.scenario.monitors.process_faults import ProcessFaults
from harness.scenario.parties import all_but, described, pairs_between, the_clients
from harness.scenario.plan import kraft, scenario
from harness.scenario.refs import fixed
from harness.scenario.registry import load_all
from harness.scenario.steps import Do
from harness.scenario.world import ActionFailed, World

LEADER, FOLLOWER = fixed(0, "the leader"), fixed(1, "a follower")
ONE_WAY = [("node 0", "node 1"), ("node 0", "node 2")]
HOSTS = st.lists(st.sampled_from("abcd"), unique=True, min_size=1)


class CutNetwork:
    """A network that does as it is told."""

    def __init__(self):
        self.cuts, self.refused = set(), False

    def cut(self, pairs, *, refuse):
        self.cuts |= set(pairs)
        self.refused = refuse
        return 0.0001

    def heal(self, pairs):
        self.cuts -= set(pairs)
        return 0.002


def world_of(pids=(1, 1, 1)):
    written, excused = [], set()
    nodes = {number: SimpleNamespace(id=number, pid=pid) for number, pid in enumerate(pids)}
    network = CutNetwork()
    world = SimpleNamespace(cluster=SimpleNamespace(nodes=nodes), network=lambda: network, write=written.append)
    of_processes = ProcessFaults(SimpleNamespace(write=written.append), None)
    host = Host(excused)
    world.monitor = lambda kind: of_processes if kind is ProcessFaults else host
    return world, network, written, excused


class Host:
    """What excuses nodes that are kept from running."""

    def __init__(self, excused):
        self._excused, self.allow, self.disallow = excused, excused.add, excused.discard

    @property
    def held(self):
        return frozenset(self._excused)


def test_a_leader_is_cut_from_every_other_node_in_both_directions():
    world, network, _, _ = world_of()
    cut(LEADER, all_but(LEADER)).perform(world)
    assert network.cuts == {*ONE_WAY, *((b, a) for a, b in ONE_WAY)}
    assert not network.refused


@pytest.mark.parametrize(("way", "pair"), [("out", ("node 0", CLIENTS)), ("in", (CLIENTS, "node 0"))])
def test_one_direction_alone_is_cut_and_packets_may_be_refused(way, pair):
    world, network, _, _ = world_of()
    cut(LEADER, the_clients(), way=way, refuse=True).perform(world)
    assert (network.cuts, network.refused) == ({pair}, True)


def test_a_cut_is_journaled_with_its_beginning_its_proof_and_its_end():
    world, _, written, _ = world_of()
    made = cut(LEADER, (FOLLOWER, the_clients()))
    made.perform(world)
    heal().perform(world)
    links, healed = written[0].links, written[2].links
    assert len(links) == 4, "both ways between the leader, a follower and the clients"
    assert sorted(healed) == sorted(links)
    assert written == [
        FaultChanged("cut", made.description, "begun", links=links),
        FaultChanged("cut", made.description, "proved", 0.0001, "no datagram of 4 came through"),
        FaultChanged("cut", "heal every cut", "ended", 0.002, "4 of 4 datagrams came through", links=healed),
    ]
    assert made.description == "cut the leader from a follower and the clients (packets are dropped)"


def test_only_the_cut_between_two_sides_is_healed_when_they_are_named():
    world, network, _, _ = world_of()
    cut(LEADER, all_but(LEADER), way="out").perform(world)
    heal(FOLLOWER, LEADER).perform(world)
    assert network.cuts == {("node 0", "node 2")}


def test_what_is_not_cut_cannot_be_healed():
    world, network, *_ = world_of()
    cut(LEADER, FOLLOWER).perform(world)
    with pytest.raises(ActionFailed, match="nothing is cut there"):
        heal(FOLLOWER, fixed(2, "another")).perform(world)
    assert len(network.cuts) == 2


def test_a_side_that_is_missing_and_a_way_that_is_none_are_mistakes_of_the_plan():
    with pytest.raises(ValueError, match="name both sides"):
        heal(LEADER)
    with pytest.raises(ValueError, match="'sideways' is no way"):
        cut(LEADER, FOLLOWER, way="sideways")


def test_a_host_cannot_be_cut_from_itself():
    with pytest.raises(ActionFailed, match="no link between the leader and the leader"):
        cut(LEADER, LEADER).perform(world_of()[0])


@given(HOSTS, HOSTS)
def test_both_ways_are_those_out_and_those_in_and_no_host_sends_to_itself(one, other):
    out, back = pairs_between(one, other, "out"), pairs_between(one, other, "in")
    assert set(pairs_between(one, other, "both")) == {*out, *back}
    assert {(target, source) for source, target in out} == set(back)
    assert all(source != target for source, target in out)


def test_sides_are_described_in_words():
    assert described((LEADER, the_clients())) == "the leader and the clients"
    assert described(all_but(LEADER, FOLLOWER)) == "every node but the leader, a follower"


def bare_world(cluster):
    return World(cluster, None, {}, "", (), None, None, None)


def test_links_can_only_be_cut_in_a_network_of_the_runs_own():
    on_loopback = SimpleNamespace(runtime=OnLoopback())
    with pytest.raises(ActionFailed, match=r"kraft\(…, network=True\)"):
        World.network(bare_world(on_loopback))
    inside = SimpleNamespace(runtime=InNamespaces("the network"))
    assert World.network(bare_world(inside)) == "the network"


def test_a_cluster_with_a_network_needs_a_host_that_can_make_one():
    @scenario(kraft(controllers=1, observers=0, network=True), suite="s", budget="1m", needs=("run_queue_accounts",))
    def asks(plan, cluster):
        """Is it so?"""

    assert asks.needs == ("run_queue_accounts", "network_namespaces")


def test_a_held_node_stands_still_and_goes_on_when_it_is_released():
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        world, _, written, excused = world_of((process.pid,))
        try:
            hold(LEADER).perform(world)
            assert holding.stands_still(process.pid)
            assert excused == {0}
            release(LEADER).perform(world)
            assert not holding.stands_still(process.pid)
        finally:
            process.kill()
    assert [each.status for each in written] == ["begun", "proved", "ended"]
    assert excused == set()


@pytest.mark.parametrize("state", ENDED)
def test_a_hold_ends_with_the_process_whichever_way_that_ends(state):
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        world, _, written, _ = world_of((process.pid,))
        hold(LEADER).perform(world)
        process.kill()
    for now in ("stopping", state, "starting", state):
        world.monitor(ProcessFaults).on_node(SimpleNamespace(id=0, state=now), 1)
    assert [(each.fault, each.status) for each in written] == [("hold", each) for each in ("begun", "proved", "ended")]
    assert written[-1].proof == "the process has ended"


def test_a_hold_that_was_released_does_not_end_a_second_time_with_the_process():
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        world, _, written, _ = world_of((process.pid,))
        hold(LEADER).perform(world)
        release(LEADER).perform(world)
        process.kill()
    world.monitor(ProcessFaults).on_node(SimpleNamespace(id=0, state="died"), 1)
    assert [each.status for each in written].count("ended") == 1


@pytest.mark.parametrize(("failures", "why"), [(0, ""), (1, ""), (2, "no answer")])
def test_a_network_is_tried_once_more_and_is_not_where_both_fail(monkeypatch, failures, why):
    left = [HarnessError("no answer.")] * failures

    def try_it():
        if left:
            raise left.pop()

    monkeypatch.setattr(namespace_runtime, "may_unshare", lambda: True)
    monkeypatch.setattr(namespace_runtime, "_try_it", try_it)
    assert namespace_runtime.why_not() == why


def test_a_node_that_does_not_run_cannot_be_held():
    with pytest.raises(ActionFailed, match="node 0 does not run"):
        hold(LEADER).perform(world_of((0,))[0])


class Processes:
    """A cluster whose nodes are told what becomes of them; one of `states` each."""

    def __init__(self, *states):
        self.done = []
        self.nodes = {
            number: SimpleNamespace(
                id=number,
                state=state,
                pid=0,
                data_dir=Path("/nowhere"),
                is_running=state in (NodeState.STARTING, NodeState.READY),
                is_alive=state in (NodeState.STARTING, NodeState.READY, NodeState.STOPPING),
                stop=lambda: self.done.append("stop") or True,
                kill=lambda: self.done.append("kill"),
            )
            for number, state in enumerate(states)
        }
        self.voters = list(self.nodes.values())
        self.topology = Topology(len(states) - 1, 1)

    def restart(self, _node, **_):
        self.done.append("restart")

    def change_host(self, _node):
        self.done.append("change host")

    def wipe(self, _node, **_):
        self.done.append("wipe")

    def start(self, _nodes, _voters=None):
        self.done.append("start")

    def start_without_names(self, _node):
        self.done.append("start without names")

    def perform(self, action):
        world = SimpleNamespace(
            cluster=self,
            comebacks=Comebacks(),
            quorum=lambda: Quorum(leader=0),
            network=lambda: None,
            write=lambda _: 1,
        )
        action.perform(world)
        world.comebacks.start_after(0, lambda _: None)
        world.comebacks.wait(0)


ENDINGS = (kill, stop, begin_to_stop)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("state", [NodeState.STOPPED, NodeState.KILLED, NodeState.DIED])
def test_a_node_that_does_not_run_cannot_be_ended(ending, state):
    cluster = Processes(state)
    with pytest.raises(ActionFailed, match="node 0 does not run"):
        cluster.perform(ending(LEADER))
    assert not cluster.done


@pytest.mark.parametrize("state", [NodeState.STARTING, NodeState.READY])
def test_a_node_that_runs_can_be_ended_whether_it_serves_or_not(state):
    for ending in ENDINGS:
        cluster = Processes(state)
        cluster.perform(ending(LEADER))
        assert cluster.done in (["kill"], ["stop"])


def test_a_node_that_is_about_to_stop_can_be_killed():
    cluster = Processes(NodeState.STOPPING)
    cluster.perform(kill(LEADER))
    assert cluster.done == ["kill"]


@pytest.mark.parametrize("starting", [start, start_without_names])
@pytest.mark.parametrize("state", [NodeState.STARTING, NodeState.READY, NodeState.STOPPING])
def test_a_node_that_has_a_process_gets_no_second_one(starting, state):
    cluster = Processes(state)
    with pytest.raises(ActionFailed, match="node 0 runs already"):
        cluster.perform(starting(LEADER))
    assert not cluster.done


@pytest.mark.parametrize("starting", [start_all, start_voters])
@pytest.mark.parametrize("state", [NodeState.STARTING, NodeState.READY, NodeState.STOPPING])
def test_where_one_of_many_has_a_process_none_is_started(starting, state):
    cluster = Processes(NodeState.STOPPED, state, NodeState.STOPPED)
    with pytest.raises(ActionFailed, match="node 1 runs already"):
        cluster.perform(starting())
    assert not cluster.done


@pytest.mark.parametrize("starting", [start_all, start_voters])
def test_nodes_that_are_down_are_started_at_once(starting):
    cluster = Processes(NodeState.STOPPED, NodeState.KILLED, NodeState.DIED)
    cluster.perform(starting())
    assert cluster.done == ["start"]


@pytest.mark.parametrize("restarting", [restart, change_host, lambda node: set_clock(node, "+0s")])
@pytest.mark.parametrize("state", [NodeState.STOPPED, NodeState.KILLED, NodeState.DIED, NodeState.STOPPING])
def test_a_node_that_is_down_or_about_to_be_is_not_restarted(restarting, state):
    cluster = Processes(state)
    with pytest.raises(ActionFailed, match="node 0 does not run"):
        cluster.perform(restarting(LEADER))
    assert not cluster.done


@pytest.mark.parametrize("editing", [wipe, lose_unflushed, lambda node: small_disk(node, "8m")])
@pytest.mark.parametrize("state", [NodeState.STARTING, NodeState.READY, NodeState.STOPPING])
def test_the_disk_of_a_live_process_is_left_alone_be_it_one_that_is_stopping(editing, state, monkeypatch):
    monkeypatch.setattr(lose_unflushed_module, "put_back", lambda _: pytest.fail("its files were cut"))
    monkeypatch.setattr(fill_disk_module, "move_to_memory", lambda *_: pytest.fail("its files were moved"))
    cluster = Processes(state)
    with pytest.raises(ActionFailed, match="node 0 runs: "):
        cluster.perform(editing(LEADER))
    assert not cluster.done


def test_a_majority_that_does_not_run_cannot_be_held():
    with pytest.raises(ActionFailed, match="nobody could be held"):
        Processes(NodeState.READY, NodeState.KILLED, NodeState.KILLED).perform(hold_followers())


@pytest.mark.parametrize(("state", "does"), [(NodeState.STARTING, True), (NodeState.DIED, False)])
def test_a_node_that_may_be_down_is_asked_whether_it_runs(state, does):
    assert runs(LEADER).sample(SimpleNamespace(cluster=Processes(state))).ok is does


def test_a_node_that_goes_on_in_spite_of_the_signal_is_noticed(monkeypatch):
    monkeypatch.setattr("os.kill", lambda *_: None)
    monkeypatch.setattr(holding, "_WITHIN_SECONDS", 0.01)
    with pytest.raises(ActionFailed, match="goes on in spite of SIGSTOP"):
        hold(LEADER).perform(world_of((1,))[0])


class BadLinks:
    """Links whose quality a probe sees as the test says."""

    def __init__(self, measure, rate=0.0, sound=None):
        self.bad, self._measure, self._rate, self._sound = {}, measure, rate, sound or LinkMeasure(0.001, 0.0)

    def degrade(self, pairs, quality):
        self.bad |= dict.fromkeys(pairs, quality)

    def mend(self, pairs):
        for pair in pairs:
            self.bad.pop(pair)

    def round_trips(self, pairs, _tries):
        return {pair: self._measure if pair in self.bad else self._sound for pair in pairs}

    def rates(self, pairs, _burst):
        return {pair: self._rate if pair in self.bad else 90e6 for pair in pairs}


def test_a_bad_link_is_proved_by_what_a_round_trip_takes():
    world, _, written, _ = world_of()
    links = BadLinks(LinkMeasure(0.2051, 0.1), 2.9e6)
    world.links = lambda: links
    degrade(LEADER, FOLLOWER, delay="100ms", loss=0.1, bandwidth="3mbit").perform(world)
    assert set(links.bad.values()) == {Quality(0.1, 0.1, 3e6)}
    assert written[0].text == "make the link between the leader and a follower bad (100 ms, 10 % lost, 3 Mbit/s)"
    assert written[1].proof == "from node 0 to node 1 and back: 205.1 ms in the median, 10 % of 66 lost, 2.90 Mbit/s"
    mend().perform(world)
    assert (links.bad, written[2].status) == ({}, "ended")
    assert written[2].proof == "from node 0 to node 1 and back: 1.0 ms in the median, 0 % of 66 lost, 90.00 Mbit/s"
    with pytest.raises(ActionFailed, match="no link is bad there"):
        mend().perform(world)


@pytest.mark.parametrize(
    ("bad", "sound", "why"),
    [
        ({"delay": "50ms"}, LinkMeasure(0.101, 0.0), "still slow: a round trip took 101.0 ms"),
        ({"loss": 0.1}, LinkMeasure(0.001, 0.2), "still loses packets: 20 % of 66"),
        ({"delay": "50ms"}, LinkMeasure(float("inf"), 1.0), "nothing came back"),
    ],
)
def test_a_mend_that_does_nothing_is_noticed(bad, sound, why):
    world, _, written, _ = world_of()
    links = BadLinks(LinkMeasure(0.101, 0.2 if "loss" in bad else 0.0), sound=sound)
    world.links = lambda: links
    degrade(LEADER, FOLLOWER, **bad).perform(world)
    with pytest.raises(HarnessError, match=f"from node 0 to node 1 was not made good: .*{why}"):
        mend(LEADER, FOLLOWER).perform(world)
    assert written[-1].status == "proved", "it has not ended"


def test_a_narrow_link_that_stays_narrow_is_noticed(monkeypatch):
    world, *_ = world_of()
    links = BadLinks(LinkMeasure(0.001, 0.0), 2.9e6)
    world.links = lambda: links
    degrade(LEADER, FOLLOWER, bandwidth="3mbit").perform(world)
    monkeypatch.setattr(links, "rates", lambda pairs, _: dict.fromkeys(pairs, 2.9e6))
    with pytest.raises(HarnessError, match=r"not made good: it let 2.90 Mbit/s through"):
        mend().perform(world)


def test_a_link_that_is_cut_as_well_is_made_good_without_a_probe_that_could_not_come_through():
    world, network, written, _ = world_of()
    links = BadLinks(LinkMeasure(0.101, 0.0), sound=LinkMeasure(float("inf"), 1.0))
    world.links = lambda: links
    degrade(LEADER, FOLLOWER, delay="50ms").perform(world)
    network.cuts = {("node 1", "node 0")}
    mend().perform(world)
    assert (links.bad, written[-1].status, written[-1].proof) == ({}, "ended", "")


@pytest.mark.parametrize(
    ("measure", "rate", "bad", "why"),
    [
        (LinkMeasure(0.001, 0.0), 0, {"delay": "100ms"}, "still good: a round trip"),
        (LinkMeasure(0.001, 0.0), 0, {"loss": 0.5}, "still good: none of 50"),
        (LinkMeasure(0.001, 0.0), 0, {"loss": 0.01}, "still good: none of 688"),
        (LinkMeasure(0.001, 0.0), 90e6, {"bandwidth": "500kbit"}, "still good: it let 90.00 Mbit/s through"),
        (LinkMeasure(float("inf"), 1.0), 0, {"delay": "100ms"}, "nothing came back"),
        (LinkMeasure(1.5, 0.0), 0, {"delay": "100ms"}, "too slow"),
        (LinkMeasure(0.001, 0.6), 0, {"loss": 0.01}, "too bad: 60 % of 688"),
        (LinkMeasure(0.001, 0.0), 1e4, {"bandwidth": "500kbit"}, "too narrow"),
    ],
)
def test_a_link_that_is_better_or_worse_than_it_was_made_is_noticed(measure, rate, bad, why):
    world, *_ = world_of()
    world.links = lambda: BadLinks(measure, rate)
    with pytest.raises(ActionFailed, match=why):
        degrade(LEADER, FOLLOWER, **bad).perform(world)


def test_every_link_is_measured_that_was_made_bad():
    world, _, written, _ = world_of()
    world.links = lambda: BadLinks(LinkMeasure(0.2, 0.0))
    degrade(LEADER, all_but(LEADER), delay="100ms").perform(world)
    assert [said.partition(" and back")[0] for said in written[-1].proof.split("; ")] == [
        "from node 0 to node 1",
        "from node 0 to node 2",
    ]


@given(st.floats(0.005, 0.9))
def test_a_loss_gets_as_many_probes_as_it_takes_to_be_seen(loss):
    assert (1 - loss) ** (2 * tries_for(Quality(loss=loss)).count) < 1.01e-6


@pytest.mark.parametrize(
    "bad", [{"bandwidth": "3 miles"}, {"bandwidth": "0mbit"}, {"loss": 1.0}, {"loss": 0.001}, {"delay": "x"}, {}]
)
def test_a_quality_that_is_none_is_a_mistake_of_the_plan(bad):
    with pytest.raises(ValueError):  # noqa: PT011 - each says what is wrong in its own words
        degrade(LEADER, FOLLOWER, **bad)


class Clock:
    """A node whose log shows another time after a restart, whatever its environment says; silent where it has none."""

    def __init__(self, folder, off, before=0.0):
        self.id, self.pid, self.environment, self.log_file, self._off = 0, 77, {}, folder / "node.log", off
        self.is_running = True
        self.log_file.write_text("")
        self._say(before)

    def _say(self, off):
        stamp = datetime.fromtimestamp(time.time() + off, UTC).strftime("%Y-%m-%d %H:%M:%S")
        with self.log_file.open("a") as log:
            log.write(f"[{stamp},123] INFO started (kafka)\n  with a second line\n")

    def restart(self, *_, **__):
        if self._off is not None:
            self._say(self._off)


def clocked(node):
    world, _, written, _ = world_of()
    world.cluster = SimpleNamespace(nodes={0: node}, restart=node.restart)
    return world, written


def test_a_clock_is_set_by_a_restart_and_proved_by_the_nodes_own_log(tmp_path, monkeypatch):
    monkeypatch.setattr(set_clock_module, "library", lambda: Path("/lib/faketime.so"))
    node = Clock(tmp_path, -300)
    world, written = clocked(node)
    set_clock(LEADER, "-5m").perform(world)
    assert node.environment["FAKETIME"] == "-300s"
    assert (written[-1].status, written[-1].text) == ("proved", "restart the leader with its clock 300 s behind")
    node = Clock(tmp_path, 0)
    world, written = clocked(node)
    set_clock(LEADER, "+0s").perform(world)
    assert (node.environment, written[-1].status) == ({}, "ended")


def test_a_clock_that_stayed_right_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(set_clock_module, "library", lambda: Path("/lib/faketime.so"))
    monkeypatch.setattr(set_clock_module, "_LOGS_WITHIN_SECONDS", 0.05)
    with pytest.raises(ActionFailed, match=r"does not show that its clock is \+300 s off"):
        set_clock(LEADER, "+5m").perform(clocked(Clock(tmp_path, 0))[0])


def test_what_a_node_logged_before_its_restart_is_no_proof_of_its_clock(tmp_path, monkeypatch):
    monkeypatch.setattr(set_clock_module, "library", lambda: Path("/lib/faketime.so"))
    monkeypatch.setattr(set_clock_module, "_LOGS_WITHIN_SECONDS", 0.05)
    with pytest.raises(ActionFailed, match="does not show"):
        set_clock(LEADER, "-5m").perform(clocked(Clock(tmp_path, None, before=-300))[0])


def test_a_shift_that_a_late_line_would_show_as_well_is_a_mistake_of_the_plan():
    with pytest.raises(ValueError, match="write 30 s or more"):
        set_clock(LEADER, "-9s")


def test_fsync_that_failed_for_another_strace_is_no_proof(tmp_path, monkeypatch):
    (tmp_path / "failing-fsync.txt").write_text("7 fsync(3) = -1 EIO (INJECTED)\n")
    monkeypatch.setattr(fail_fsync_module.shutil, "which", lambda _: "/bin/false")
    world, *_ = world_of()
    world.cluster.nodes[0] = SimpleNamespace(id=0, pid=1, folder=tmp_path)
    with pytest.raises(ActionFailed, match="was made to fail, or to wait: strace ended"):
        fail_fsync_module.fail_fsync(LEADER).perform(world)


@pytest.mark.parametrize(
    ("verb", "file", "asked", "line"),
    [
        (fail_fsync_module.fail_fsync, "failing-fsync.txt", "error=EIO", "-1 EIO (Input/output error) (INJECTED)"),
        (fail_fsync_module.slow_fsync, "slow-fsync.txt", "delay_enter=50000", "0 (DELAYED)"),
    ],
)
def test_an_fsync_fails_or_waits_until_its_process_has_ended_and_strace_belongs_to_the_run(
    tmp_path, monkeypatch, verb, file, asked, line
):
    said, seen = tmp_path / "nodes" / "0" / file, []

    def inject(_strace, pid, into, environment, what):
        into.write_text(f"7 fsync(3) = {line}\n")
        seen.append((pid, into, environment["HARNESS_RUN"], what))
        return SimpleNamespace(poll=lambda: None)

    said.parent.mkdir(parents=True)
    monkeypatch.setattr(fail_fsync_module.shutil, "which", lambda _: "/usr/bin/strace")
    monkeypatch.setattr(fail_fsync_module, "inject_into", inject)
    world, _, written, _ = world_of()
    monitor = ProcessFaults(SimpleNamespace(write=written.append), None)
    world.monitor = lambda _: monitor
    world.cluster.nodes[0] = SimpleNamespace(id=0, pid=7, folder=said.parent)
    verb(LEADER).perform(world)
    assert seen == [(7, said, str(tmp_path / "nodes"), asked)]
    assert [(each.status, each.node) for each in written] == [("begun", 0), ("proved", 0)]
    for node, state in ((1, "died"), (0, "ready"), (0, "stopping"), (0, "died"), (0, "killed")):
        monitor.on_node(SimpleNamespace(id=node, state=state), 1)
    assert [each.status for each in written] == ["begun", "proved", "ended"]


def test_a_node_that_stands_still_in_spite_of_the_signal_to_go_on_is_noticed(monkeypatch):
    monkeypatch.setattr("os.kill", lambda *_: None)
    monkeypatch.setattr(holding, "stands_still", lambda _: True)
    monkeypatch.setattr(holding, "_WITHIN_SECONDS", 0.01)
    world, _, written, excused = world_of((1,))
    excused.add(0)
    with pytest.raises(ActionFailed, match="stands still in spite of SIGCONT"):
        release(LEADER).perform(world)
    assert not written


def test_who_was_not_held_ends_no_fault(monkeypatch):
    monkeypatch.setattr("os.kill", lambda *_: None)
    world, _, written, _ = world_of((1,))
    release(LEADER).perform(world)
    assert not written


def test_a_shift_without_a_sign_is_a_mistake_of_the_plan():
    with pytest.raises(ValueError, match="no shift of a clock"):
        set_clock(LEADER, "5m")


def test_a_disk_is_made_small_only_in_mounts_of_the_runs_own_and_while_its_node_is_down(tmp_path):
    nodes = {0: SimpleNamespace(id=0, is_alive=True, data_dir=tmp_path)}
    with pytest.raises(ActionFailed, match="nodes share the network of this host"):
        small_disk(LEADER, "8m").perform(bare_world(SimpleNamespace(nodes=nodes, runtime=OnLoopback())))
    world, *_ = world_of()
    world.cluster = SimpleNamespace(nodes=nodes)
    with pytest.raises(ActionFailed, match="node 0 runs: stop it first"):
        small_disk(LEADER, "8m").perform(world)


def test_a_disk_that_others_use_as_well_is_never_filled(tmp_path):
    world, *_ = world_of()
    world.cluster = SimpleNamespace(nodes={0: SimpleNamespace(id=0, data_dir=tmp_path)})
    with pytest.raises(ActionFailed, match="small_disk goes before"):
        fill_disk(LEADER).perform(world)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A world with a node whose data lie on a small disk, of which the test says how much room there is."""
    monkeypatch.setattr(Path, "is_mount", lambda path: path == tmp_path)
    rooms = []
    monkeypatch.setattr(fill_disk_module, "room", lambda _: rooms.pop(0))
    world, _, written, _ = world_of()
    world.cluster.nodes[0] = SimpleNamespace(id=0, data_dir=tmp_path, is_alive=False)
    return SimpleNamespace(world=world, written=written, rooms=rooms, ballast=tmp_path / ".harness-ballast")


def test_the_end_of_a_full_disk_is_proved_by_the_room_that_there_is_again(small):
    small.ballast.write_bytes(bytes(9))
    small.rooms += [0, 4096]
    empty_disk(LEADER).perform(small.world)
    assert [(each.status, each.proof) for each in small.written] == [
        ("ended", "4096 bytes are free, 4096 more than before")
    ]
    assert not small.ballast.exists()


def test_a_disk_that_stays_full_is_noticed(small):
    small.ballast.write_bytes(bytes(9))
    small.rooms += [0, 0]
    with pytest.raises(HarnessError, match="no more room on the disk of node 0"):
        empty_disk(LEADER).perform(small.world)
    assert not small.written


def test_a_disk_that_was_not_filled_is_not_emptied(small):
    with pytest.raises(ActionFailed, match="fill_disk goes before"):
        empty_disk(LEADER).perform(small.world)


def test_a_disk_that_others_use_as_well_is_never_emptied(small, monkeypatch):
    small.ballast.write_bytes(bytes(9))
    monkeypatch.setattr(Path, "is_mount", lambda _: False)
    with pytest.raises(ActionFailed, match="was not filled"):
        empty_disk(LEADER).perform(small.world)
    assert small.ballast.exists()


def test_a_small_disk_is_not_wiped(small):
    with pytest.raises(ActionFailed, match="node 0 has a small disk, which is not wiped: write wipe before small_disk"):
        wipe(LEADER).perform(small.world)


def test_room_on_a_disk_has_a_unit():
    with pytest.raises(ValueError, match="'8 GB' is no room"):
        small_disk(LEADER, "8 GB")


@pytest.mark.parametrize(
    ("state", "has_gone"),
    [(NodeState.DIED, True), (NodeState.KILLED, False), (NodeState.STOPPED, False), (NodeState.READY, False)],
)
def test_a_node_that_was_ended_has_not_ended_by_itself(state, has_gone):
    nodes = {0: SimpleNamespace(state=state, exit_code=1)}
    found = has_ended(LEADER).sample(SimpleNamespace(cluster=SimpleNamespace(nodes=nodes)))
    assert (found.ok, found.detail) == (has_gone, {"state": str(state), "exit": 1})


@pytest.mark.parametrize(
    ("name", "need", "fault"),
    [
        ("full-disk", "network_namespaces", "fill_disk"),
        ("failing-fsync", "failing_calls", "fail_fsync"),
        ("wrong-clock", "fake_clock", "set_clock"),
    ],
)
def test_every_fault_of_a_host_is_done_to_a_kafka_node_that_may_die_and_is_undone(name, need, fault):
    known = load_all()[name]
    done = [step.action for step in known.plan().steps if isinstance(step, Do)]
    kinds = [type(each).__name__ for each in done]
    assert need in known.needs
    faults = [at for at, kind in enumerate(kinds) if kind == fault.title().replace("_", "")]
    assert faults
    if fault == "set_clock":
        assert [each.shift for each in done if isinstance(each, SetClock)] == [300, -300, 0, 0]
    else:
        assert all(kinds[at - 1] == "AllowDeath" for at in faults)
        assert "Start" in kinds[faults[-1] :]
