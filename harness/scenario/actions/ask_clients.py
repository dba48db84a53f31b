"""Clients that are asked once: what they can write and read now, and what they are told instead."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from harness.cluster.address import listed
from harness.scenario.actions.old_tools import call_java
from harness.scenario.capabilities.old_topics import jars
from harness.scenario.loads.readback import client_settings
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

_SECONDS = 6.0
_OLD_SECONDS = 15.0  # it joins a group first, whose coordinator may be new
_RECORDS = 5
_CONSOLE = "kafka.tools.ConsoleConsumer"


@dataclass(frozen=True, slots=True)
class AskWriter:
    """Write a few records with acks=all to one partition; how many were acknowledged is the answer, and they count."""

    topic: str
    partition: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"see whether {_RECORDS} records can be written to “{self.topic}-{self.partition}” with acks=all"

    def perform(self, world: World) -> None:
        """Keep what was answered; nothing is a failure."""
        answers, account = Counter[str](), world.account(self.topic)

        def answered(error: KafkaError | None, message: Message) -> None:
            answers[str(error.name()) if error else "acknowledged"] += 1
            if error is None:
                account.acknowledge([int(message.key() or b"-1")])

        brokers = list(world.cluster.brokers.values())
        producer = Producer(client_settings(brokers) | {"acks": "all", "message.timeout.ms": int(_SECONDS * 1000)})
        for number in account.numbers(_RECORDS):
            producer.produce(self.topic, key=str(number), value=b"x", partition=self.partition, on_delivery=answered)
        producer.flush(_SECONDS + 2)
        _keep(world, f"writing {self.topic}-{self.partition}", answers)


@dataclass(frozen=True, slots=True)
class AskReader:
    """Read one partition from its beginning by a client that speaks of topic ids; what it gets is the answer."""

    topic: str
    partition: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"see what a client that knows topic ids reads of “{self.topic}-{self.partition}”"

    def perform(self, world: World) -> None:
        """Keep what was answered; nothing is a failure."""
        own = {"group.id": "asked", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        consumer = Consumer(client_settings(list(world.cluster.brokers.values())) | own)
        answers, deadline = Counter[str](), time.monotonic() + _SECONDS
        try:
            consumer.assign([TopicPartition(self.topic, self.partition, 0)])
            while time.monotonic() < deadline and not answers["read"]:
                message = consumer.poll(0.5)
                if message is not None:
                    error = message.error()
                    answers[str(error.name()) if error else "read"] += 1
        finally:
            consumer.close()
        _keep(world, f"reading {self.topic}-{self.partition}", answers)


@dataclass(frozen=True, slots=True)
class AskOldReader:
    """Read a topic by Kafka 1.0.0's console consumer, which knows of no topic ids."""

    topic: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"see what Kafka 1.0.0's consumer reads of “{self.topic}”"

    def perform(self, world: World) -> None:
        """Keep what was answered. Raises ActionFailed where it does not run."""
        words = ("--bootstrap-server", listed(list(world.cluster.brokers.values())), "--topic", self.topic)
        once = ("--from-beginning", "--max-messages", "1", "--timeout-ms", str(int(_OLD_SECONDS * 1000)))
        try:
            read = call_java(jars(), _CONSOLE, (*words, *once), 2 * _OLD_SECONDS).strip()
        except ActionFailed as error:
            world.note(f"old reading {self.topic}: {str(error)[:300]}")
            _keep(world, f"old reading {self.topic}", Counter({"failed": 1}))
            return
        _keep(world, f"old reading {self.topic}", Counter({"read" if read else "nothing": 1}))


def _keep(world: World, asked: str, answers: Counter[str]) -> None:
    said = ", ".join(f"{count} {answer}" for answer, count in answers.most_common() if count) or "nothing"
    world.answers[asked] = said
    world.note(f"{asked}: {said}")


@action
def ask_writer(topic: str, partition: int = 0) -> AskWriter:
    """See whether records are acknowledged (acks=all); `answered("writing topic-0", …)` has the answer."""
    return AskWriter(topic, partition)


@action
def ask_reader(topic: str, partition: int = 0) -> AskReader:
    """See what a client that knows topic ids can read; `answered("reading topic-0", …)` has the answer."""
    return AskReader(topic, partition)


@action
def ask_old_reader(topic: str) -> AskOldReader:
    """See what a client from before topic ids can read; `answered("old reading topic", …)` has the answer."""
    return AskOldReader(topic)
