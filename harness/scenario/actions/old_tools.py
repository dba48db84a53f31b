"""kafka-topics of Kafka 1.0.0, which writes topics straight to ZooKeeper, and that of the release that nodes run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, run
from harness.scenario.capabilities.old_topics import jars
from harness.scenario.topic_ids import in_zookeeper
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World
from harness.toolbox.toolbox import local_toolbox

MAIN = "kafka.admin.TopicCommand"
_SECONDS, _ASKED_SECONDS = 60.0, 15.0
_FLAGS = ("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@dataclass(frozen=True, slots=True)
class TopicTool:
    """One call of kafka-topics --zookeeper: Kafka 1.0.0's, or the `own` of the release that nodes run, before 3.0."""

    words: tuple[str, ...]
    own: bool = False

    @classmethod
    def creating(cls, topic: str, partitions: int, copies: int, settings: Mapping[str, str]) -> TopicTool:
        """Return the call that makes a topic."""
        given = [word for key, value in settings.items() for word in ("--config", f"{key.replace('_', '.')}={value}")]
        sizes = ("--partitions", str(partitions), "--replication-factor", str(copies))
        return cls(("--create", "--topic", topic, *sizes, *given))

    @property
    def description(self) -> str:
        """The action as a clause."""
        whose = "the release's own" if self.own else "Kafka 1.0.0's"
        return f"call {whose} kafka-topics.sh --zookeeper … {' '.join(self.words)}"

    def perform(self, world: World) -> None:
        """Run it to its end. Raises ActionFailed when it fails."""
        class_path = next(iter(world.cluster.nodes.values())).class_path if self.own else _old_jars()
        call_topics(world, class_path, self.words)


def call_topics(world: World, class_path: Sequence[Path], words: Sequence[str]) -> None:
    """Have a kafka-topics write to ZooKeeper, and note what it printed. Raises ActionFailed."""
    at = ("--zookeeper", str(in_zookeeper(world).address))
    world.note(call_java(class_path, MAIN, (*at, *words), _SECONDS).strip()[-300:])


def call_java(class_path: Sequence[Path], main: str, words: Sequence[str], seconds: float) -> str:
    """Run a command of Kafka's to its end and return what it printed. Raises ActionFailed."""
    try:
        java = local_toolbox().java().java
        command = [str(java), *_FLAGS, "-cp", os.pathsep.join(map(str, class_path)), main, *words]
        done = run(command, env=bare_environment(), timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise ActionFailed(f"{main} did not end within {seconds:g} s") from error
    if done.returncode:
        raise ActionFailed(f"{main} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-500:]}")
    return done.stdout


def _old_jars() -> tuple[Path, ...]:
    try:
        return jars()
    except HarnessError as error:
        raise ActionFailed(f"{error.message} (have the scenario need old_topic_tool)") from error


def _altering(topic: str, partitions: int) -> tuple[str, ...]:
    return ("--alter", "--topic", topic, "--partitions", str(partitions))


@action
def create_by_old_tool(topic: str, *, partitions: int = 3, copies: int = 3, **settings: str) -> TopicTool:
    """Make a topic with Kafka 1.0.0's kafka-topics; settings with `_` for each dot. Needs old_topic_tool."""
    return TopicTool.creating(topic, partitions, copies, settings)


@action
def add_partitions_by_old_tool(topic: str, partitions: int) -> TopicTool:
    """Have so many partitions by Kafka 1.0.0's kafka-topics, which drops the topic's id. Needs old_topic_tool."""
    return TopicTool(_altering(topic, partitions))


@action
def add_partitions_by_own_tool(topic: str, partitions: int) -> TopicTool:
    """Have so many partitions by the kafka-topics --zookeeper of the release that nodes run, which 3.0 has no more."""
    return TopicTool(_altering(topic, partitions), own=True)
