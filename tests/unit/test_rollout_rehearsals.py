"""Rehearsals are plans like any other: they can be read before anything runs, and choose nodes by what they see."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.errors import HarnessError
from harness.cluster.install import Install
from harness.cluster.node import NodeState
from harness.cluster.probes import Quorum
from harness.cluster.topology import Topology
from harness.model.features import Downgrade, FeatureChange, FeaturePlan
from harness.model.security import Security
from harness.rollout.builds import BASE, CANDIDATE
from harness.rollout.checks import LeaderRuns, RunsAnother
from harness.rollout.commands import Tools
from harness.rollout.finalising import FINALISED_AT, Finalising
from harness.rollout.nodes import First
from harness.rollout.rehearsals import (
    CONTROL,
    FINALISED,
    FORWARD_AND_BACK,
    KINDS,
    check_names,
    rehearsal,
    rehearsals_of,
)
from harness.rollout.roll import RollConfig
from harness.rollout.way_back import first_to_bring_back, last_rolled, last_rolled_controller
from harness.scenario.plan import Plan
from harness.scenario.refs import fixed
from harness.scenario.steps import Bind, described

DEDICATED = Topology(3, 3, combined=False)
INSTALLS = {BASE: Install(BASE, "b.jar", "b", "absent"), CANDIDATE: Install(CANDIDATE, "c.jar", "c", "true")}


def steps_of(name, topology=DEDICATED, **config):
    return list(described(rehearsal(name, RollConfig(topology, **config)).plan().everything, {}))


class AWorld:
    """A cluster as far as the choice of a node looks at it."""

    def __init__(self, leader=1, rolled=(), dead=(), topology=DEDICATED):
        self.names, self.installs = {f"turn {at}": node for at, node in enumerate(rolled)}, INSTALLS
        self.leader, self.marks = leader, {}
        nodes = {
            node: SimpleNamespace(
                state=NodeState.DIED if node in dead else NodeState.READY,
                install=INSTALLS[CANDIDATE if node in rolled else BASE],
            )
            for node in topology.node_ids
        }
        self.cluster = SimpleNamespace(topology=topology, nodes=nodes)

    def quorum(self):
        return Quorum(self.leader, 7)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("topology", [DEDICATED, Topology(3, 1)], ids=["3+3", "3combined+1"])
def test_every_rehearsal_can_be_read_before_it_runs_and_ends_with_a_way_back(name, topology):
    steps = steps_of(name, topology)
    assert all(kind and text for kind, text in steps)
    phases = [text for kind, text in steps if kind == "phase"]
    assert phases[0] == "start on base"
    assert phases[-2:] == ["stopped", "the way back"]


def test_of_the_first_node_on_the_way_back_only_that_is_asked_which_its_stop_could_harm():
    """It is the one that failed: while it runs and is sick, nothing else could be met."""
    steps = [text for _, text in steps_of(FORWARD_AND_BACK)]
    back = [text for text in steps[steps.index("the way back") :] if " may stop" in text or "harms nobody" in text]
    assert ["harms nobody else" in text for text in back] == [True, *[False] * (len(back) - 1)]
    assert len(back) == len(DEDICATED.node_ids)


def test_what_has_stopped_the_roll_does_not_stop_the_way_back_as_well():
    steps = texts(FORWARD_AND_BACK, budget_seconds=8.0)
    forward, back = steps[: steps.index("the way back")], steps[steps.index("the way back") :]
    for judged in ("stopped on SIGTERM", "no client waited longer", "no ERROR line"):
        assert any(judged in text for text in forward), judged
        assert not any(judged in text for text in back), judged
    served = [text for text in back if "every client is served" in text]
    assert len(served) == len(DEDICATED.node_ids)


def test_how_long_clients_wait_for_the_election_of_preferred_leaders_is_judged():
    steps = texts(FORWARD_AND_BACK, budget_seconds=8.0, tools=TOOLS)
    elected = [at for at, text in enumerate(steps) if text.startswith("elect the preferred leaders")]
    for at in elected:
        assert any("no client waited longer than 8 s" in text for text in steps[at : at + 4])
        assert any("no ERROR line" in text for text in steps[at : at + 5])


def test_that_base_leads_the_candidate_is_seen_before_both_run_side_by_side():
    steps = texts("half-way-and-back")
    first = steps.index("base leads the candidate")
    assert "the active controller runs base" in steps[first + 1]


@pytest.mark.parametrize(("name", "turns"), [(CONTROL, 6), (FORWARD_AND_BACK, 12)])
def test_every_node_has_its_turn(name, turns):
    steps = steps_of(name)
    before_the_end = steps[: steps.index(("phase", "stopped"))]
    assert sum(text.startswith("begin the turn of") for _, text in before_the_end) == turns


def test_clients_may_wait_as_long_as_the_budget_and_without_one_it_is_only_measured():
    assert any("no client waited longer than 8 s" in text for _, text in steps_of(FORWARD_AND_BACK, budget_seconds=8.0))
    assert any("how long clients waited" in text for _, text in steps_of(CONTROL))


TOOLS = Tools(Path("java"), (), {})
LED = "every partition is led by its preferred replica"


@pytest.mark.parametrize(("name", "times"), [(CONTROL, 1), (FORWARD_AND_BACK, 2), (FINALISED, 2)])
def test_when_every_node_had_its_turn_the_preferred_leaders_are_elected_and_seen_to_lead(name, times):
    steps = texts(name, tools=TOOLS, finalising=FINALISING)
    elected = [at for at, text in enumerate(steps) if text.startswith("elect the preferred leaders")]
    assert len(elected) == times
    assert all(LED in steps[at + 1] and "every client is served" in steps[at + 2] for at in elected)
    turns = [at for at, text in enumerate(steps[: steps.index("stopped")]) if text == "end the turn"]
    assert turns[-2] < elected[-1] < turns[-1], "the last one is of a roll that was stopped"


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("topology", [Topology(5, 3, combined=False), Topology(5, 1)], ids=["5+3", "5combined+1"])
def test_five_controllers_have_their_turns_too(name, topology):
    steps = steps_of(name, topology, finalising=FINALISING)
    if name in (CONTROL, FORWARD_AND_BACK):
        rolled = [text for _, text in steps[: steps.index(("phase", "stopped"))] if text.startswith("begin the turn")]
        assert len(rolled) == len(topology.node_ids) * (1 if name == CONTROL else 2)
    assert steps[-1]


def test_of_five_controllers_the_active_one_comes_last():
    five = Topology(5, 3, combined=False)
    world = AWorld(leader=2, topology=five)
    plan = rehearsal(FORWARD_AND_BACK, RollConfig(five)).plan()
    for bind in [step for step in plan.steps if isinstance(step, Bind)][:8]:
        world.names.update(zip(bind.names, bind.resolve(world), strict=True))
    assert list(world.names.values()) == [5, 6, 7, 0, 1, 3, 4, 2]


@pytest.mark.parametrize(
    ("security", "stored"),
    [(None, 0), (Security("SASL_SSL", "PLAIN", clients=True), 0), (Security(clients=True), 1)],
)
def test_users_whose_credentials_lie_in_the_log_are_made_before_the_first_topic(security, stored):
    steps = texts(CONTROL, topology=replace(DEDICATED, security=security))
    made = [at for at, text in enumerate(steps) if text.startswith("store the SCRAM credentials")]
    assert len(made) == stored
    assert not made or made[0] < next(at for at, text in enumerate(steps) if text.startswith("produce"))


def sweep(world, **config):
    """Return the nodes that the roll forward chooses, one after the other."""
    plan = rehearsal(FORWARD_AND_BACK, RollConfig(DEDICATED, **config)).plan()
    binds = [step for step in plan.steps if isinstance(step, Bind)][:6]
    for bind in binds:
        world.names.update(zip(bind.names, bind.resolve(world), strict=True))
    return list(world.names.values())


def test_brokers_have_their_turn_first_and_the_active_controller_last():
    assert sweep(AWorld(leader=1)) == [3, 4, 5, 0, 2, 1]


def test_an_order_of_the_users_is_kept():
    assert sweep(AWorld(leader=1), order=(1, 0, 2, 5, 4, 3)) == [1, 0, 2, 5, 4, 3]


@pytest.mark.parametrize(("order", "expected"), [((), [3, 4, 5, 0, 2]), ((2, 1, 0, 5, 4, 3), [2, 0, 5, 4, 3])])
def test_half_way_leaves_the_active_controller_out(order, expected):
    plan = rehearsal("half-way-and-back", RollConfig(DEDICATED, order=order)).plan()
    world = AWorld(leader=1)
    for bind in [step for step in plan.steps if isinstance(step, Bind)][:5]:
        world.names.update(zip(bind.names, bind.resolve(world), strict=True))
    assert list(world.names.values()) == expected


def test_the_way_back_begins_with_a_node_that_is_not_well_and_goes_on_with_the_last_one_rolled():
    assert first_to_bring_back(AWorld(rolled=(3, 4), dead=(5,))) == 5
    assert first_to_bring_back(AWorld(rolled=(3, 4))) == 4
    assert first_to_bring_back(AWorld()) is None


def test_of_rolled_controllers_the_active_one_stays():
    assert last_rolled_controller(AWorld(leader=2, rolled=(3, 0, 2))) == 0
    assert last_rolled_controller(AWorld(leader=0, rolled=(3, 0))) is None
    assert last_rolled(AWorld(leader=0, rolled=(3, 0))) == 0


def test_who_leads_is_asked_for_its_build():
    rolled = AWorld(leader=0, rolled=(0,))
    assert LeaderRuns(CANDIDATE).sample(rolled).ok
    assert not LeaderRuns(CANDIDATE, wanted=False).sample(rolled).ok
    assert not LeaderRuns(CANDIDATE).sample(AWorld(leader=1, rolled=(0,))).ok
    assert not LeaderRuns(CANDIDATE, wanted=False).sample(AWorld(leader=-1)).ok, "nobody leads: nobody to restart"


def test_a_node_has_another_build_if_its_jar_or_its_settings_differ():
    world = AWorld(rolled=(3,))
    assert RunsAnother(fixed(3, "it"), BASE).sample(world).ok
    assert not RunsAnother(fixed(3, "it"), CANDIDATE).sample(world).ok


def test_a_node_has_another_build_if_another_jar_of_its_kafka_differs():
    world = AWorld()
    world.installs = {BASE: replace(INSTALLS[BASE], beside={"kafka-clients.jar": "d"})}
    assert RunsAnother(fixed(3, "it"), BASE).sample(world).ok


def test_an_unknown_rehearsal_is_answered_with_the_nearest_name():
    with pytest.raises(HarnessError, match="Did you mean control"):
        check_names(["contol"])
    assert check_names([]) == ()
    assert check_names([FORWARD_AND_BACK, CONTROL]) == (CONTROL, FORWARD_AND_BACK)


def test_controllers_come_first_where_whole_kafkas_are_rolled_and_of_them_the_active_one_last():
    assert sweep(AWorld(leader=1), first=First.CONTROLLERS) == [0, 2, 1, 3, 4, 5]


def test_half_way_leaves_the_active_controller_out_when_controllers_come_first_too():
    plan = rehearsal("half-way-and-back", RollConfig(DEDICATED, first=First.CONTROLLERS)).plan()
    world = AWorld(leader=0)
    for bind in [step for step in plan.steps if isinstance(step, Bind)][:5]:
        world.names.update(zip(bind.names, bind.resolve(world), strict=True))
    assert list(world.names.values()) == [1, 2, 3, 4, 5]


CHANGE = FeatureChange("metadata.version", "3.9-IV0 (21)", "4.3-IV0 (30)", 21, 30)
PLAN = FeaturePlan("4.3-IV0", "3.9-IV0", (CHANGE,), Downgrade.UNSUPPORTED, ("There is no way back.",))
FINALISING = Finalising(PLAN, Tools(Path("java"), (), {}))


def texts(name, topology=DEDICATED, **config):
    return [text for _, text in steps_of(name, topology, **config)]


def test_features_are_finalised_once_every_node_was_rolled_and_every_node_is_restarted_after_it():
    steps = texts(FINALISED, finalising=FINALISING)
    finalise = next(at for at, text in enumerate(steps) if " upgrade --release-version 4.3-IV0" in text)
    turns = [at for at, text in enumerate(steps) if text.startswith("begin the turn of")][:12]
    assert turns[5] < finalise < turns[6]
    assert all("install the candidate" in steps[at] for at in turns[:6])
    assert all(steps[at].endswith(": restart") for at in turns[6:])


def test_what_going_back_means_is_said_before_the_features_are_finalised():
    step = next(text for text in texts(FINALISED, finalising=FINALISING) if " upgrade --release-version" in text)
    assert "There is no way back." in step


def test_the_levels_that_were_told_are_seen_on_every_node_before_and_after():
    seen = [text for text in texts(FINALISED, finalising=FINALISING) if text.startswith("every node says that")]
    assert [text.split(" (")[0].split()[6] for text in seen] == ["21", "30", "30"]


def test_no_node_goes_back_to_base_once_features_are_finalised():
    world = AWorld(rolled=(3, 4), dead=(5,))
    world.marks[FINALISED_AT] = 1.0
    assert first_to_bring_back(world) is None


def test_features_are_finalised_only_where_they_differ_and_behind_all_others():
    assert rehearsals_of((), PLAN) == tuple(KINDS)
    assert rehearsals_of((), PLAN)[-1] == FINALISED
    unchanged = replace(PLAN, changes=())
    assert rehearsals_of((), unchanged) == rehearsals_of((), None) == tuple(KINDS)[:-1]
    with pytest.raises(HarnessError, match="nothing to finalise"):
        rehearsals_of((FORWARD_AND_BACK, FINALISED), unchanged)


def test_features_are_not_finalised_where_the_way_back_was_not_rehearsed():
    with pytest.raises(HarnessError, match="Features are finalised last"):
        check_names([CONTROL, FINALISED])
    assert check_names([FINALISED, FORWARD_AND_BACK]) == (FORWARD_AND_BACK, FINALISED)


def test_a_host_that_starves_a_node_excuses_a_stop_and_spoils_nothing_else():
    scenario = rehearsal(CONTROL, RollConfig(DEDICATED))
    assert not scenario.stalls_spoil
    assert isinstance(scenario.plan(), Plan)
