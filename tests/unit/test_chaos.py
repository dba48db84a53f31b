"""Chaos: what a seed stands for, scenarios that are made from their names, and failing ones made smaller."""

from itertools import pairwise
from threading import Event, Thread
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.scenario.actions import let_pass
from harness.scenario.actions.begin_to_stop import (
    AwaitStart,
    BeginToStop,
    StartStopped,
    await_start,
    begin_to_stop,
    start_stopped,
)
from harness.scenario.actions.cut import Cut, Heal
from harness.scenario.actions.degrade import Degrade, Mend
from harness.scenario.actions.hold import Hold, Release
from harness.scenario.actions.kill import Kill
from harness.scenario.actions.let_pass import AwaitTime, LetPass, await_time
from harness.scenario.actions.start import Start
from harness.scenario.chaos.plans import TOPOLOGY, chaos_scenario, disruptions_of, part_of
from harness.scenario.chaos.schedule import _OF_PROCESSES, LASTS_SECONDS, Disturbance, schedule, turns
from harness.scenario.chaos.shrinking import fewest
from harness.scenario.comebacks import Comebacks
from harness.scenario.refs import fixed
from harness.scenario.registry import load_all, select
from harness.scenario.steps import Do, Expect
from harness.scenario.world import ActionFailed

KNOWN = load_all()
SEEDS = st.integers(0, 10**6)
BEGINNINGS = (Kill, BeginToStop, Hold, Cut, Degrade)


@given(SEEDS)
def test_a_seed_stands_for_the_same_faults_for_ever_and_for_some(seed):
    found = schedule(seed, TOPOLOGY.node_ids)
    assert found == schedule(seed, TOPOLOGY.node_ids)
    assert len(found) >= 4
    assert [each.number for each in found] == [*range(1, len(found) + 1)]


def test_seed_17_is_what_it_was_when_it_was_first_drawn():
    said = [(str(each.kind), each.node, each.begins, each.ends) for each in schedule(17, TOPOLOGY.node_ids)]
    assert said == [
        ("isolate", 1, 0.6, 5.2),
        ("stop", 0, 3.7, 8.3),
        ("no clients", 2, 5.8, 10.4),
        ("stop", 2, 11.0, 17.4),
        ("isolate", 1, 14.1, 18.8),
    ]


@given(SEEDS)
def test_of_faults_of_processes_and_of_links_one_goes_on_at_a_time(seed):
    for of_processes in (True, False):
        lane = [each for each in schedule(seed, TOPOLOGY.node_ids) if (each.kind in _OF_PROCESSES) is of_processes]
        assert all(one.ends < other.begins for one, other in pairwise(lane))


def test_every_kind_of_fault_comes_up_and_hits_every_node():
    drawn = [each for seed in range(60) for each in schedule(seed, TOPOLOGY.node_ids)]
    assert {each.kind for each in drawn} == {*Disturbance}
    assert {each.node for each in drawn} == {*TOPOLOGY.node_ids}


@given(SEEDS)
def test_what_begins_ends_and_every_node_runs_at_the_end(seed):
    down, cut, actions = set(), 0, actions_of(f"chaos-{seed}")
    for action in actions:
        match action:
            case Kill(nodes=(node,)) | BeginToStop(node=node) | Hold(node=node):
                assert node.description not in down
                down.add(node.description)
            case Start(node=node) | StartStopped(node=node) | Release(node=node):
                down.remove(node.description)
            case Cut() | Degrade():
                cut += 1
            case Heal() | Mend():
                cut -= 1
        assert cut in (0, 1)
    assert not down
    assert not cut


def actions_of(name):
    return [step.action for step in chaos_scenario(name).plan().steps if isinstance(step, Do)]


@given(SEEDS)
def test_turns_are_in_the_order_of_time(seed):
    found = turns(schedule(seed, TOPOLOGY.node_ids))
    assert [turn.at for turn in found] == sorted(turn.at for turn in found)


def test_a_part_of_a_schedule_has_those_faults_at_the_times_that_they_had():
    whole, part = disruptions_of("chaos-17"), disruptions_of("chaos-17-only-2-5")
    assert part == (whole[1], whole[4])
    assert part_of("chaos-17-only-1-2-5", [5, 2]) == "chaos-17-only-2-5"
    begun = [each for each in actions_of("chaos-17-only-2-5") if isinstance(each, BEGINNINGS)]
    assert [type(each) for each in begun] == [BeginToStop, Cut]


def test_a_schedule_without_its_faults_has_a_name_and_the_load_runs_as_long():
    name = part_of("chaos-17-only-2-5", [])
    assert name == "chaos-17-only-none"
    assert disruptions_of(name) == ()
    assert KNOWN[name].question.startswith("Does a cluster stay whole without any fault")
    assert not [each for each in actions_of(name) if isinstance(each, (*BEGINNINGS, AwaitTime))]
    assert [each.seconds for each in actions_of(name) if isinstance(each, LetPass)] == [LASTS_SECONDS]
    asked = [[step.named for step in KNOWN[of].plan().steps if isinstance(step, Expect)] for of in (name, "chaos-17")]
    assert asked[0] == asked[1]


@given(SEEDS, st.data())
def test_each_fault_of_a_part_begins_and_ends_when_it_does_in_the_whole(seed, data):
    numbers = [each.number for each in schedule(seed, TOPOLOGY.node_ids)]
    part = data.draw(st.lists(st.sampled_from(numbers), min_size=1, unique=True).map(sorted))
    whole, times = times_of(f"chaos-{seed}"), times_of(part_of(f"chaos-{seed}", part))
    assert times
    assert set(times) <= set(whole)


def seeds_of_lost_packets(name):
    return [act.quality.seed for act in actions_of(name) if isinstance(act, Degrade) and act.quality.loss]


def test_every_lossy_fault_of_every_seed_loses_packets_of_its_own_and_a_part_of_a_schedule_the_same():
    found = [seed for number in range(30) for seed in seeds_of_lost_packets(f"chaos-{number}")]
    assert len(found) > 9
    assert len(found) == len({*found})
    name = next(f"chaos-{number}" for number in range(30) if seeds_of_lost_packets(f"chaos-{number}"))
    lossy = [each.number for each in disruptions_of(name) if each.kind is Disturbance.LOSSY]
    assert seeds_of_lost_packets(part_of(name, lossy)) == seeds_of_lost_packets(name)


def times_of(name):
    """Return what is done when, by the clock of the phase."""
    actions = iter(actions_of(name))
    return [(each.seconds, next(actions).description) for each in actions if isinstance(each, AwaitTime)]


def test_a_turn_waits_for_its_time_and_not_for_what_was_done_before(monkeypatch):
    now, slept = [107.0], []
    monkeypatch.setattr(let_pass.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(let_pass, "wait_until", lambda _over, seconds, _every: slept.append(seconds))
    notes = []
    world = SimpleNamespace(phase_began=100.0, is_over=lambda: False, note=notes.append)
    await_time("9s").perform(world)
    await_time("7s").perform(world)
    await_time("5.5s").perform(world)
    assert slept == [2.0, 0.0, 0.0]
    assert notes == ["1.5 s late: what was done before took longer"]


class Slow:
    """A cluster whose node 0 stops when it is told to have `ended`; what was started and noted."""

    def __init__(self, stop=None):
        self.ended, self.started, self.notes, self.over = Event(), [], [], Event()
        self.was_waited_for = False
        self.nodes = {0: SimpleNamespace(id=0, is_running=True, stop=stop or self.stop)}
        self.comebacks, self.cluster, self.is_over = Comebacks(), self, self.over.is_set
        self.node = fixed(0, "node 0")

    def stop(self):
        self.was_waited_for = not self.ended.wait(5)
        return False

    def start(self, nodes):
        self.started += nodes

    def note(self, *told):
        self.notes.append(told)

    def do(self, *verbs):
        for verb in verbs:
            verb(self.node).perform(self)


def test_a_node_that_is_slow_to_stop_delays_nothing_and_is_started_as_soon_as_it_has_ended():
    slow = Slow()
    slow.do(begin_to_stop, start_stopped)  # neither waits
    assert (slow.started, slow.notes) == ([], [])
    slow.ended.set()
    slow.do(await_start)
    assert slow.started == [0]
    assert slow.notes == [("did not stop on SIGTERM and was killed", 0)]


def test_a_node_that_has_ended_is_not_started_before_its_time():
    slow = Slow()
    slow.ended.set()
    slow.do(begin_to_stop)
    with pytest.raises(ActionFailed, match="is not to be started: start_stopped goes before"):
        slow.do(await_start)
    assert not slow.started
    slow.do(start_stopped, await_start)
    assert slow.started == [0]


def test_what_was_not_stopped_cannot_be_started_and_nothing_is_started_twice():
    slow = Slow()
    slow.ended.set()
    slow.do(begin_to_stop, start_stopped, await_start)
    with pytest.raises(ActionFailed, match="was not asked to stop: begin_to_stop goes before"):
        slow.do(start_stopped)
    with pytest.raises(ActionFailed, match="is not to be started"):
        slow.do(await_start)
    assert slow.started == [0]


def test_what_goes_wrong_while_a_node_stops_or_starts_is_told_where_it_is_waited_for(monkeypatch):
    def fail(*_):
        raise HarnessError("Node 0 does not end.")

    slow = Slow(stop=fail)
    slow.do(begin_to_stop, start_stopped)
    with pytest.raises(ActionFailed, match=r"node 0 was not started: Node 0 does not end\."):
        slow.do(await_start)
    slow = Slow()
    slow.ended.set()
    monkeypatch.setattr(slow, "start", fail)
    slow.do(begin_to_stop, start_stopped)
    with pytest.raises(ActionFailed, match="node 0 was not started"):
        slow.do(await_start)


@pytest.mark.parametrize("end", ["call_off", "cancel"])
def test_once_the_run_is_over_nothing_is_started_any_more(end):
    slow = Slow()
    slow.do(begin_to_stop, start_stopped)
    slow.comebacks.call_off() if end == "call_off" else slow.over.set()
    slow.ended.set()
    slow.do(await_start)
    assert (slow.started, slow.notes, slow.was_waited_for) == ([], [], False)


def test_the_end_of_a_run_waits_for_a_start_that_has_begun_so_that_it_finds_the_node(monkeypatch):
    slow, begun, go_on, over = Slow(), Event(), Event(), Event()
    monkeypatch.setattr(slow, "start", lambda nodes: (begun.set(), go_on.wait(5), slow.started.extend(nodes)))
    slow.ended.set()
    slow.do(begin_to_stop, start_stopped)
    assert begun.wait(5)
    ends = Event()
    end = Thread(target=lambda: (ends.set(), slow.comebacks.call_off(), over.set()))
    end.start()
    assert ends.wait(5)
    assert not over.wait(0.05)
    go_on.set()
    assert over.wait(5)
    assert slow.started == [0]
    end.join()


@given(SEEDS)
def test_a_node_that_stops_is_waited_for_by_its_own_next_fault_and_before_the_calm(seed):
    late = set()
    for action in actions_of(f"chaos-{seed}"):
        match action:
            case StartStopped(node=node):
                late.add(node.description)
            case AwaitStart(node=node):
                late.remove(node.description)
            case Kill(nodes=(node,)) | BeginToStop(node=node) | Hold(node=node):
                assert node.description not in late
    assert not late


def test_heals_and_faults_of_others_come_between_the_start_of_a_node_and_the_wait_for_it():
    done = [each.description for each in actions_of("chaos-17")]
    begin = done.index("have node 0 started once it has stopped")
    assert begin + 1 < done.index("wait until node 0 has stopped and was started")
    assert done[-2:] == [f"wait until node {node} has stopped and was started" for node in (0, 2)]


@pytest.mark.parametrize(
    "name",
    [
        "chaos",
        "chaos-",
        "chaos-017",
        "chaos-17-only",
        "chaos-17-only-",
        "chaos-17-only-99",
        "chaos-17-only-5-2",
        "chaos-17-only-none-2",
        "chaos-17-only-2-none",
        "turn1",
        "xchaos-1",
    ],
)
def test_another_name_is_none_of_chaoss(name):
    assert chaos_scenario(name) is None
    assert name not in KNOWN or name == "turn1"


def test_the_suite_is_as_long_as_it_is_asked_to_be_and_a_seed_can_be_named():
    assert [each.name for each in select(KNOWN, [], "chaos", 3)] == ["chaos-1", "chaos-2", "chaos-3"]
    (named,) = select(KNOWN, ["chaos-17"], "bootstrap")
    assert (named.name, named.suites, named.needs) == ("chaos-17", ("chaos",), ("network_namespaces",))
    assert KNOWN["chaos-17"].name == "chaos-17"
    with pytest.raises(KeyError):
        KNOWN["chaos-x"]
    with pytest.raises(HarnessError, match="chaos-x"):
        select(KNOWN, ["chaos-x"], "bootstrap")


def test_no_two_expectations_of_a_schedule_have_the_same_name():
    named = [step.named for step in chaos_scenario("chaos-17").plan().steps if isinstance(step, Expect)]
    assert sorted(named) == sorted(set(named))
    assert "all_up_after_chaos" in named


@given(st.integers(1, 9), st.sets(st.integers(1, 9), min_size=1))
def test_what_is_left_fails_and_nothing_of_it_can_be_left_out(extra, needed):
    numbers, asked = tuple(range(1, max(needed) + extra)), []

    def fails(part):
        asked.append(part)
        return needed <= set(part)

    assert set(fewest(numbers, fails)) == needed
    assert len(asked) == len(set(asked))


def test_what_fails_without_any_fault_needs_none_and_no_part_is_asked():
    asked = []
    assert fewest((1, 2, 3), lambda part: not asked.append(part)) == ()
    assert asked == [()]


@given(st.sets(st.sets(st.integers(1, 6), min_size=1).map(frozenset), min_size=1))
def test_where_several_parts_fail_one_of_them_that_cannot_be_made_smaller_is_left(failing):
    numbers = (1, 2, 3, 4, 5, 6)

    def fails(part):
        return any(each <= set(part) for each in failing)

    left = fewest(numbers, fails)
    assert fails(left)
    assert not any(fails(tuple(each for each in left if each != number)) for number in left)
