"""Kafka's scripts in a rehearsal: each gets the file that clients need, and its answer is held to the protocol."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cluster.address import Address
from harness.cluster.partitions import Partition
from harness.cluster.probes import Quorum
from harness.cluster.topology import Topology
from harness.model.security import Security
from harness.rollout.commands import Tools, try_checks
from harness.rollout.health import AFTER, BEFORE, PREFERRED_LEADERS, Health
from harness.rollout.roll_steps import ElectPreferredLeaders
from harness.rollout.script_calls import ELECTION

SCRIPTS = {check.call.script: check.call.script for check in (*BEFORE, *AFTER) if check.call}
MAINS = {**SCRIPTS, ELECTION.script: ELECTION.script}
SECURED = Topology(3, 1, security=Security(clients=True))


def cluster(topology):
    addresses = {"client_brokers": [Address("h", 1), Address("h", 2)], "client_controllers": [Address("h", 3)]}
    return SimpleNamespace(topology=topology, client_file=Path("/a folder/client.properties"), **addresses)


def tools(tmp_path, script):
    """Return tools whose Java is a shell script; it knows the script's name by its main class."""
    java = tmp_path / "java"
    java.write_text(f'#!/bin/sh\nwhile [ "$1" != -cp ]; do shift; done\nshift 2\n{script}\n')
    java.chmod(0o755)
    return Tools(java, (), MAINS, {ELECTION.script: "--admin.config"})


class AWorld:
    def __init__(self, topology, is_over=False):
        self.is_over = lambda: is_over
        self.cluster, self.written, self.notes = cluster(topology), [], []
        self.write, self.note = self.written.append, self.notes.append


@pytest.mark.parametrize(
    ("topology", "told", "given"),
    [
        (Topology(3, 1), "", ""),
        (Topology(3, 1, security=Security()), "", ""),
        (SECURED, " --admin.config {config}", " --admin.config /a folder/client.properties"),
    ],
)
def test_the_election_is_run_as_the_runbook_has_it_with_the_file_where_clients_need_one(
    tmp_path, topology, told, given
):
    world = AWorld(topology)
    ElectPreferredLeaders(tools(tmp_path, 'echo "$@"')).perform(world)
    (tried,) = world.written
    arguments = "--election-type preferred --all-topic-partitions"
    assert tried.command == f"bin/kafka-leader-election.sh --bootstrap-server {{brokers}}{told} {arguments}"
    assert tried.output == f"kafka-leader-election.sh --bootstrap-server h:1,h:2{given} {arguments}"
    assert (tried.agrees, world.notes) == (True, [])


def test_an_election_that_fails_is_noted_with_what_it_said(tmp_path):
    world = AWorld(Topology(3, 1))
    ElectPreferredLeaders(tools(tmp_path, "echo not authorised; exit 1")).perform(world)
    assert not world.written[0].agrees
    assert "failed (exit 1): not authorised" in world.notes[0]


def test_every_command_of_the_checks_is_run_once_and_its_answer_held_to_the_protocol(tmp_path):
    health = Health(
        Quorum(1, 7),
        frozenset({0, 1, 2}),
        frozenset(range(4)),
        frozenset(range(4)),
        partitions=(Partition("orders", 0, 3, (3, 0), (0, 3), 1),),
    )
    said = r"""
case "$*" in
*--status*) echo "LeaderId:               1" ;;
*--under*) echo "Topic: orders Partition: 0" ;;
*kafka-topics.sh*--describe) printf 'Topic: orders\tPartition: 0\tLeader: 3\tReplicas: 3,0\tIsr: 0,3\n' ;;
*--list*) echo "No partition reassignments found." ;;
*) exit 1 ;;
esac"""
    tried = [*try_checks(tools(tmp_path, said), (*BEFORE, *AFTER, PREFERRED_LEADERS), AWorld(SECURED), health)]
    agreed = {each.command.rpartition("{config} ")[2]: each.agrees for each in tried}
    assert len(tried) == len({each.command for each in tried}) == 8
    assert (agreed["describe --status"], agreed["--list"], agreed["--describe"]) == (True, True, True)
    assert not agreed["--describe --under-replicated-partitions"]
    assert not agreed["describe --replication"]
    assert all(" --command-config {config}" in each.command for each in tried)


def test_a_command_whose_run_is_over_is_not_waited_for(tmp_path):
    world, began = AWorld(Topology(3, 1), is_over=True), time.monotonic()
    ElectPreferredLeaders(tools(tmp_path, "sleep 20")).perform(world)
    assert time.monotonic() - began < 10
    assert world.written[0].exit_code == -1
