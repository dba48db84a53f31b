"""Features are finalised by Kafka's own command, seen on every node, and what was said of going back is held to."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cluster import probes
from harness.cluster.address import Address
from harness.cluster.protocol import Unreachable
from harness.cluster.topology import Topology
from harness.model.events import CommandTried
from harness.model.features import Downgrade, FeatureChange, FeaturePlan
from harness.rollout.commands import Tools, try_call
from harness.rollout.finalising import (
    FINALISED_AT,
    FeaturesAre,
    FinaliseFeatures,
    Finalising,
    NoteNoWayBack,
    TryDowngrade,
    downgrade_call,
    levels_of,
    upgrade_call,
)
from harness.rollout.script_calls import Asked, ScriptCall

CHANGE = FeatureChange("metadata.version", "3.9-IV0 (21)", "4.3-IV0 (30)", 21, 30)
PLAN = FeaturePlan("4.3-IV0", "3.9-IV0", (CHANGE,), Downgrade.UNSUPPORTED, ("There is no way back.",))
REFUSAL = "Could not downgrade metadata.version to 21. Refusing to perform the requested downgrade"


class AWorld:
    """A cluster of two nodes whose commands end as the test says."""

    def __init__(self):
        self.marks, self.step_began, self.written, self.notes = {}, 5.0, [], []
        nodes = {number: SimpleNamespace(id=number, config=_listens(number)) for number in (0, 3)}
        self.cluster = SimpleNamespace(
            nodes=nodes,
            topology=Topology(1, 1),
            client_brokers=[Address("h", 13)],
            client_controllers=[Address("h", 10)],
            client_file=Path("client.properties"),
        )
        self.write, self.note = self.written.append, self.notes.append
        self.is_over = lambda: False


def _listens(number):
    return SimpleNamespace(listeners=(Address("h", 10 + number),))


def tools(tmp_path, code, words=""):
    """Return tools whose Java prints words and what it is called with, and ends with an exit code."""
    java = tmp_path / "java"
    java.write_text(f'#!/bin/sh\necho "{words}" "$@"\nexit {code}\n')
    java.chmod(0o755)
    return Tools(java, (), {"kafka-features.sh": "org.example.Features"})


@pytest.fixture
def world():
    return AWorld()


def test_the_command_of_the_candidates_own_release_finalises_and_it_is_marked_that_there_is_no_way_back(
    world, tmp_path
):
    FinaliseFeatures(Finalising(PLAN, tools(tmp_path, 0))).perform(world)
    (tried,) = world.written
    assert isinstance(tried, CommandTried)
    assert (tried.command, tried.agrees) == (upgrade_call(PLAN).text(), True)
    assert tried.output.endswith("org.example.Features --bootstrap-server h:13 upgrade --release-version 4.3-IV0")
    assert world.marks == {FINALISED_AT: 5.0}
    assert not world.notes


def test_a_command_that_fails_is_noted_with_what_it_said(world, tmp_path):
    FinaliseFeatures(Finalising(PLAN, tools(tmp_path, 1, "broker 3 does not support it"))).perform(world)
    assert not world.written[0].agrees
    assert "failed (exit 1): broker 3 does not support it" in world.notes[0]
    assert FINALISED_AT in world.marks, "some of it may have been done"


@pytest.mark.parametrize(
    ("said", "code", "answer", "agrees"),
    [
        (Downgrade.UNSUPPORTED, 1, REFUSAL, True),
        (Downgrade.UNSUPPORTED, 1, "SaslAuthenticationException: who are you", False),
        (Downgrade.UNSUPPORTED, 0, REFUSAL, False),
        (Downgrade.LOSSLESS, 0, REFUSAL, True),
        (Downgrade.LOSSLESS, 1, REFUSAL, False),
    ],
)
def test_what_was_said_of_going_back_is_held_against_what_the_controllers_answer(
    world, tmp_path, said, code, answer, agrees
):
    plan = FeaturePlan("4.3-IV0", "3.9-IV0", (CHANGE,), said, ())
    TryDowngrade(Finalising(plan, tools(tmp_path, code, answer))).perform(world)
    assert world.written[0].agrees is agrees
    assert bool(world.notes) is not agrees
    assert downgrade_call(plan).text().endswith("downgrade --release-version 3.9-IV0 --dry-run")


def test_a_roll_that_is_stopped_says_that_there_is_no_way_back_only_where_features_were_finalised(world, monkeypatch):
    levels = {}
    monkeypatch.setattr(probes, "finalised_features", lambda address: levels[address.port - 10])
    before, after = (dict(each) for each in levels_of(PLAN))
    NoteNoWayBack(PLAN).perform(world)
    assert not world.notes
    world.marks[FINALISED_AT] = 5.0
    levels |= dict.fromkeys(range(9), before)  # the upgrade was refused
    NoteNoWayBack(PLAN).perform(world)
    assert (world.notes, FINALISED_AT in world.marks) == ([], False)
    world.marks[FINALISED_AT] = 5.0
    levels[0] = after
    NoteNoWayBack(PLAN).perform(world)
    assert "base is put on no node any more" in world.notes[0]


def test_a_command_that_writes_to_the_other_output_alone_is_shown_too(world, tmp_path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho no such feature >&2\nexit 1\n")
    java.chmod(0o755)
    tried = try_call(Tools(Path(java), (), {"x.sh": "X"}), ScriptCall("x.sh", Asked.BROKERS, ""), world)
    assert (tried.exit_code, tried.output, tried.agrees) == (1, "no such feature", False)


def seen(monkeypatch, levels):
    def answer(address):
        found = levels[address.port - 10]
        if found is None:
            raise Unreachable("refused")
        return found

    monkeypatch.setattr(probes, "finalised_features", answer)


def test_features_are_finalised_when_every_node_says_so_and_one_that_it_does_not_name_is_at_0(world, monkeypatch):
    seen(monkeypatch, {0: {"metadata.version": 30, "more": 1}, 3: {"metadata.version": 30}})
    assert FeaturesAre({"metadata.version": 30, "group.version": 0}).sample(world).ok


@pytest.mark.parametrize(
    ("levels", "problem"),
    [
        ({"metadata.version": 21}, "node 3 says metadata.version 21"),
        ({}, "node 3 says metadata.version 0"),
        (None, "node 3 does not answer: refused"),
    ],
)
def test_one_node_that_says_otherwise_is_named(world, monkeypatch, levels, problem):
    seen(monkeypatch, {0: {"metadata.version": 30}, 3: levels})
    sample = FeaturesAre({"metadata.version": 30}).sample(world)
    assert (sample.ok, sample.problem) == (False, problem)
