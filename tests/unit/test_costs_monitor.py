"""The monitor of costs: what it samples of live processes, and what it asks nodes for at the end."""

import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.waiting import wait_until
from harness.cluster.host_accounts import RaftThreads, descriptors_of, threads_of
from harness.cluster.node import NodeState
from harness.cluster.probes import Quorum
from harness.cluster.watch import Look
from harness.model.events import NodeSampled
from harness.model.incidents import IncidentKind
from harness.rundir.parts import RunFolder
from harness.scenario import processor_shares
from harness.scenario.monitors import costs
from harness.scenario.monitors.costs import Costs
from harness.scenario.node_lives import Life, Moment, Period
from harness.scenario.processor_shares import Sample


class Record:
    """What the monitor writes down."""

    def __init__(self, tmp_path):
        self.events, self.incidents, self.folder = [], [], RunFolder(tmp_path, "runs/turn1/stock/1")

    def write(self, event):
        self.events.append(event)
        return len(self.events)

    def report(self, incident, line=0):
        self.incidents.append(incident)


class SomeNode:
    """A node whose process is this one, or of a second node the one that started it."""

    was_started = True

    def __init__(self, folder, id=1, *, is_voter=True):
        self.id, self.is_voter, self.state = id, is_voter, NodeState.READY
        self.pid = os.getpid() if id == 1 else os.getppid()
        self.log_file, self.figures_file = folder / f"{id}.log", folder / f"{id}.txt"
        self.output_file = folder / f"{id}.out"
        self.log_file.write_text("")


def cluster_of(*nodes):
    runtime = SimpleNamespace(was_split=False)
    return SimpleNamespace(
        nodes={node.id: node for node in nodes}, running=list(nodes), is_closed=False, runtime=runtime
    )


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    for name, seconds in (("WARM_AFTER_SECONDS", 0.0), ("_SAMPLE_EVERY_SECONDS", 0.02), ("_COLLECTION_SECONDS", 0.3)):
        monkeypatch.setattr(costs, name, seconds)
    monkeypatch.setattr(costs, "_JOURNAL_EVERY_SECONDS", 0.1)
    monkeypatch.setattr(RaftThreads, "seconds", lambda *_: 0.9 * time.monotonic())
    monkeypatch.setattr(costs, "processor_seconds", lambda *_: time.monotonic())


def watched(record, cluster, until):
    monitor = Costs(record, cluster)
    for node in cluster.nodes.values():
        monitor.on_node(node, 1)
    monitor.start()
    assert wait_until(lambda: until(monitor), 20)
    monitor.stop()
    monitor.after()
    return monitor


def test_a_process_that_spins_shows_in_the_journal_with_its_role(tmp_path):
    record, node = Record(tmp_path), SomeNode(tmp_path, is_voter=False)
    watched(record, cluster_of(node), lambda _: len(record.events) > 1)
    sample = record.events[0]
    assert isinstance(sample, NodeSampled)
    assert (sample.node, sample.role) == (1, "observer")
    assert sample.cpu_percent == pytest.approx(100, abs=15)
    assert sample.raft_percent / sample.cpu_percent == pytest.approx(0.9, abs=0.05)
    assert sample.threads >= 2
    assert sample.descriptors > 2


def test_a_node_that_is_ready_again_is_not_warm_by_what_it_was_before(tmp_path, monkeypatch):
    """Its state changes a moment before the monitor is told."""
    monkeypatch.setattr(costs, "WARM_AFTER_SECONDS", 2.0)
    node = SomeNode(tmp_path)
    monitor = Costs(Record(tmp_path), cluster_of(node))
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() - 60)
    for state in (NodeState.STARTING, NodeState.READY):
        node.state = state
        monitor.on_node(node, 1)
    monkeypatch.undo()
    monkeypatch.setattr(costs, "WARM_AFTER_SECONDS", 2.0)
    monitor._sample(node)
    assert len(monitor._lives[node.pid].samples) == 1
    for state in (NodeState.STOPPING, NodeState.STOPPED):
        node.state = state
        monitor.on_node(node, 1)
    for state in (NodeState.STARTING, NodeState.READY):
        node.state = state
        monitor._sample(node)
    assert (len(monitor._lives[node.pid].samples), dict(monitor._starting)) == (1, {})


def test_what_is_busiest_is_known_of_each_phase(tmp_path, monkeypatch):
    monkeypatch.setattr(processor_shares, "WINDOW_SECONDS", 0.3)
    record, node = Record(tmp_path), SomeNode(tmp_path, is_voter=False)
    monitor = Costs(record, cluster_of(node))
    monitor.on_node(node, 1)
    monitor.begin_phase("start")
    monitor.start()
    assert wait_until(lambda: len(record.events) > 5, 20)  # one in 0.1 s
    monitor.stop()
    monitor.begin_phase("when all is over")
    monitor.after()
    assert monitor.measures_by_phase()["start"]["observer_raft_busiest_percent"] == pytest.approx(90, abs=15)
    assert [*monitor.measures_by_phase()] == ["start"]


def test_whoever_led_last_is_the_leader(tmp_path):
    record, nodes = Record(tmp_path), [SomeNode(tmp_path, 1), SomeNode(tmp_path, 2)]
    cluster = cluster_of(*nodes)

    def led(monitor):
        monitor.on_look(Look(0.0, Quorum(2, 5), {}), 0)
        monitor.on_look(Look(0.1, Quorum(), {}), 0)  # an election, or voters that did not answer
        return {(event.node, event.role) for event in record.events} >= {(1, "voter"), (2, "leader")}

    watched(record, cluster, led)


def test_a_node_that_is_not_up_is_not_sampled(tmp_path):
    record, node = Record(tmp_path), SomeNode(tmp_path)
    node.state = NodeState.STARTING
    monitor = Costs(record, cluster_of(node))
    monitor.start()
    time.sleep(0.2)
    monitor.stop()
    monitor.after()
    assert (record.events, record.incidents, dict(monitor.measures())) == ([], [], {"voter_printed_lines": 0})


def test_what_a_node_prints_beside_its_log_counts_by_the_one_of_its_kind_that_prints_most(tmp_path):
    nodes = [SomeNode(tmp_path, 1), SomeNode(tmp_path, 2), SomeNode(tmp_path, 3, is_voter=False)]
    nodes[0].output_file.write_text("java.lang.Exception: no\n\tat x.Y.z(Y.java)\n")
    nodes[1].output_file.write_text("here\n" * 9)
    monitor = Costs(Record(tmp_path), cluster_of(*nodes))
    monitor.after()
    assert monitor.measures() == {"voter_printed_lines": 9, "observer_printed_lines": 0}


def test_a_node_that_does_not_come_up_in_its_time_is_sampled_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(costs, "STARTS_WITHIN_SECONDS", 0.2)
    monkeypatch.setattr(processor_shares, "WINDOW_SECONDS", 0.3)
    record, node = Record(tmp_path), SomeNode(tmp_path, is_voter=False)
    node.state = NodeState.STARTING
    monitor = Costs(record, cluster_of(node))
    monitor.begin_phase("it starts, and nobody leads")
    monitor.on_node(node, 1)
    began = time.monotonic()
    monitor.start()
    assert wait_until(lambda: len(monitor._starting[node.pid]) > 20, 20)
    monitor.stop()
    monitor.after()
    assert monitor._starting[node.pid][0].at >= began + 0.2
    assert monitor.measures()["starting_observer_raft_busiest_percent"] == pytest.approx(90, abs=15)
    assert "observer_raft_busiest_percent" not in monitor.measures()
    (phase,) = monitor.measures_by_phase().values()
    assert phase["starting_observer_raft_busiest_percent"] == pytest.approx(90, abs=15)


def test_in_a_window_without_a_leader_whoever_led_is_a_voter_as_others_are(tmp_path):
    record, node = Record(tmp_path), SomeNode(tmp_path)
    monitor = Costs(record, cluster_of(node))
    monitor.on_look(Look(0.0, Quorum(1, 5), {}), 0)
    monitor.on_look(Look(0.7, Quorum(), {}), 0)
    monitor.begin_window("idle, and its leader did not answer in time")
    roles = [monitor._role(node)]
    monitor.on_look(Look(2.7, Quorum(), {}), 0)
    monitor.begin_window("leaderless")
    roles.append(monitor._role(node))
    monitor.end_window("leaderless")
    roles.append(monitor._role(node))
    monitor.on_look(Look(2.9, Quorum(1, 6), {}), 0)
    monitor.begin_window("idle")
    assert [*roles, monitor._role(node)] == ["leader", "voter", "leader", "leader"]


def test_threads_and_descriptors_are_the_most_that_were_seen(tmp_path):
    record = Record(tmp_path)
    monitor = watched(record, cluster_of(SomeNode(tmp_path)), lambda _: len(record.events) > 1)
    assert monitor.measures()["voter_threads"] == max(event.threads for event in record.events)
    assert monitor.measures()["voter_descriptors"] == max(event.descriptors for event in record.events)


def test_what_a_node_logs_once_it_is_warm_is_counted(tmp_path):
    record, node = Record(tmp_path), SomeNode(tmp_path)
    node.log_file.write_text("[2026-11-22 10:00:00,000] INFO of the start (x)\n" * 50)

    def logs(_monitor):
        with node.log_file.open("a") as stream:
            stream.write("[2026-11-22 10:00:00,000] WARN a flood (x)\n")
        return len(record.events) > 1

    monitor = watched(record, cluster_of(node), logs)
    assert monitor.measures()["voter_warn_lines_per_second"] > 0
    assert monitor.measures()["voter_info_lines_per_second"] == 0


def test_every_heap_is_collected_at_the_end_and_at_both_ends_of_a_window(tmp_path):
    """The node answers as the reporter does: the request goes, and a line says what is left."""
    record, node = Record(tmp_path), SomeNode(tmp_path)
    node.figures_file.write_text("")
    sizes, over = iter([100, 108, 120]), threading.Event()

    def answer():
        asked = node.figures_file.with_name("1.txt.collect")
        while not over.wait(0.005):
            if asked.exists():
                asked.unlink()
                with node.figures_file.open("a") as stream:
                    stream.write(f"{time.time() * 1000:.0f} live={next(sizes) * 2**20} current-state=follower\n")

    (thread := threading.Thread(target=answer)).start()
    monitor = Costs(record, cluster_of(node))
    monitor.on_node(node, 1)
    monitor.start()
    monitor.begin_window("idle")
    time.sleep(0.6)
    monitor.end_window("idle")
    monitor.stop()
    over.set()
    thread.join()
    monitor.after()
    assert monitor.measures()["voter_heap_megabytes"] == 120
    assert monitor.measures()["idle_voter_heap_growth_megabytes"] == 8
    assert monitor.measures()["idle_voter_cpu_percent"] == pytest.approx(100, abs=15)


def test_what_happens_in_a_measured_window_counts_for_the_window_alone(tmp_path):
    record, node = Record(tmp_path), SomeNode(tmp_path)

    def logs(level, times):
        with node.log_file.open("a") as stream:
            stream.write(f"[2026-11-22 10:00:00,000] {level} a line (x)\n" * times)

    monitor = Costs(record, cluster_of(node))
    monitor.on_node(node, 1)
    monitor.start()
    assert wait_until(lambda: bool(record.events), 20)
    logs("INFO", 100)
    monitor.begin_window("idle")
    logs("WARN", 100)
    time.sleep(0.3)
    monitor.end_window("idle")
    logs("ERROR", 100)
    monitor.stop()
    monitor.after()
    found = monitor.measures()
    assert found["voter_info_lines_per_second"] > 0 < found["voter_error_lines_per_second"]
    assert found["voter_warn_lines_per_second"] == 0
    assert found["idle_voter_warn_lines_per_second"] > 0
    assert found["idle_voter_info_lines_per_second"] == found["idle_voter_error_lines_per_second"] == 0


def test_where_the_network_was_split_neither_logs_nor_whole_processes_are_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(processor_shares, "WINDOW_SECONDS", 0.1)
    record, node = Record(tmp_path), SomeNode(tmp_path)
    cluster = cluster_of(node)
    cluster.runtime.was_split = True

    def until(monitor):
        if not monitor._phases:
            monitor.begin_phase("start")
        return len(record.events) > 5

    monitor = watched(record, cluster, until)
    assert "voter_threads" in monitor.measures()
    assert "voter_raft_busiest_percent" in monitor.measures()
    told = [*monitor.measures(), *monitor.measures_by_phase()["start"]]
    assert not [name for name in told if "lines_per_second" in name or "kilobytes" in name or "cpu" in name]
    assert list(monitor.measures_by_phase()["start"]) == ["voter_raft_busiest_percent"]


def test_what_a_node_writes_in_a_measured_window_is_counted(tmp_path, monkeypatch):
    written = iter([3_000_000, 3_500_000])
    monkeypatch.setattr("harness.scenario.monitors.costs.written_bytes", lambda _pid: next(written))
    record, node = Record(tmp_path), SomeNode(tmp_path)
    monitor = Costs(record, cluster_of(node))
    monitor.begin_window("idle")
    monitor.end_window("idle")
    monitor.after()
    ((_, window),) = monitor._windows
    seconds = window.end.monotonic - window.start.monotonic
    assert monitor.measures()["idle_voter_written_kilobytes_per_second"] == pytest.approx(500 / seconds)


def life_of(samples, *, start, end):
    life = Life(1, "voter", Path("x"), Moment(start, 1000 + start), [Sample(at, "voter", at, at) for at in samples])
    life.end = Moment(end, 1000 + end)
    return life


def test_a_life_is_cut_at_the_windows_within_it():
    window = Period(Moment(4.0, 1004.0), Moment(6.0, 1006.0))
    before, after = life_of(range(10), start=0.0, end=9.0).without([window])
    assert (before.start.monotonic, before.end.monotonic) == (0.0, 4.0)
    assert (after.start.monotonic, after.end.monotonic) == (6.0, 9.0)


def test_windows_before_or_after_a_life_cut_nothing():
    windows = [Period(Moment(at, at), Moment(at + 1, at + 1)) for at in (0.0, 20.0)]
    (whole,) = life_of(range(10), start=5.0, end=9.0).without(windows)
    assert (whole.start.monotonic, whole.end.monotonic) == (5.0, 9.0)


@pytest.mark.parametrize(
    ("start", "end", "left"),
    [(5.0, 9.0, [(6.0, 9.0)]), (2.0, 5.0, [(2.0, 4.0)]), (4.5, 5.5, []), (4.0, 6.0, [])],
    ids=["begins in it", "ends in it", "is within it", "is it"],
)
def test_nothing_of_a_window_counts_as_the_plan_where_a_life_begins_or_ends_in_it(start, end, left):
    window = Period(Moment(4.0, 1004.0), Moment(6.0, 1006.0))
    found = life_of(range(10), start=start, end=end).without([window])
    assert [(each.start.monotonic, each.end.monotonic) for each in found] == left


@given(
    life=st.lists(st.integers(0, 30), min_size=2, max_size=2, unique=True).map(sorted),
    edges=st.lists(st.integers(0, 30), max_size=6, unique=True).map(sorted).filter(lambda edges: len(edges) % 2 == 0),
)
def test_what_is_left_of_a_life_is_every_second_of_it_that_is_in_no_window(life, edges):
    windows = list(zip(edges[::2], edges[1::2], strict=True))
    periods = [Period(Moment(start, start), Moment(end, end)) for start, end in windows]
    left = life_of([], start=life[0], end=life[1]).without(periods)
    seconds = [second for each in left for second in range(int(each.start.monotonic), int(each.end.monotonic))]
    outside = [second for second in range(*life) if not any(start <= second < end for start, end in windows)]
    assert seconds == outside


def test_a_node_that_does_not_answer_delays_the_end_by_no_more_than_is_waited_for(tmp_path):
    node = SomeNode(tmp_path)
    node.figures_file.write_text("")
    monitor = Costs(Record(tmp_path), cluster_of(node))
    monitor.start()
    began = time.monotonic()
    monitor.stop()
    assert time.monotonic() - began < 5


def test_a_watch_that_fails_is_the_harnesss_fault(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("no such thing")

    monkeypatch.setattr(RaftThreads, "seconds", fail)
    record = Record(tmp_path)
    monitor = Costs(record, cluster_of(node := SomeNode(tmp_path)))
    monitor.on_node(node, 1)
    monitor.start()
    assert wait_until(lambda: bool(record.incidents), 5)
    monitor.stop()
    assert record.incidents[0].kind is IncidentKind.HARNESS_FAILED


def test_the_raft_thread_is_found_by_its_name_and_remembered(tmp_path):
    for number, name in ((7, "java"), (9, "kafka-1-raft-io"), (11, "kafka-11-raft-i")):
        (task := tmp_path / "7" / "task" / str(number)).mkdir(parents=True)
        (task / "comm").write_text(f"{name}\n")
        (task / "schedstat").write_text(f"{number}000000000 5 6\n")
    threads = RaftThreads()
    assert threads.task(7, 1, tmp_path) == tmp_path / "7" / "task" / "9"
    (tmp_path / "7" / "task" / "9" / "comm").write_text("else\n")
    assert threads.task(7, 1, tmp_path) is not None
    assert RaftThreads().task(7, 1, tmp_path) is None


def test_a_process_that_has_ended_has_neither_threads_nor_descriptors(tmp_path):
    assert (threads_of(7, tmp_path), descriptors_of(7, tmp_path)) == (0, 0)
    assert threads_of(os.getpid()) >= 1
