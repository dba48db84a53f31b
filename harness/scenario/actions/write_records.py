"""So many records, each acknowledged before the plan goes on, and how many of them are gone."""

from __future__ import annotations

from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from harness.scenario.loads.readback import client_settings, read_back
from harness.scenario.loads.records import lost_and_twice
from harness.scenario.loads.topics import partitions_of
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

_PATIENCE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Write:
    """Write so many more numbered records to a topic, to each of its partitions in turn."""

    topic: str
    records: int
    acks: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"write {self.records} records to “{self.topic}” with acks={self.acks}"

    def perform(self, world: World) -> None:
        """Wait for every acknowledgement. Raises ActionFailed where one does not come."""
        account, acked, refused = world.account(self.topic), set[int](), set[str]()
        partitions = partitions_of(world, self.topic)

        def answered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                acked.add(int(message.key() or b"-1"))
            else:
                refused.add(str(error.name()))

        producer = Producer(
            client_settings(list(world.cluster.brokers.values()))
            | {"acks": self.acks, "message.timeout.ms": int(_PATIENCE_SECONDS * 1000)}
        )
        for number in account.numbers(self.records):
            producer.produce(
                self.topic, key=str(number), value=b"x" * 100, partition=number % partitions, on_delivery=answered
            )
        producer.flush(_PATIENCE_SECONDS + 1)
        account.acknowledge(acked)
        if len(acked) < self.records:
            why = f" ({', '.join(sorted(refused))})" if refused else ""
            raise ActionFailed(f"{len(acked)} of {self.records} records were acknowledged{why}")


@dataclass(frozen=True, slots=True)
class CountLost:
    """Read the topic back, and count which acknowledged records are gone."""

    topic: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"count the acknowledged records of “{self.topic}” that are gone"

    def perform(self, world: World) -> None:
        """Read every partition up to its high watermark. Raises ActionFailed."""
        written = sorted(world.account(self.topic).acknowledged)
        partitions = partitions_of(world, self.topic)
        try:
            stored = read_back(self.topic, partitions, list(world.cluster.brokers.values()))
        except (TimeoutError, KafkaException) as error:
            raise ActionFailed(str(error)) from error
        lost, _ = lost_and_twice(written, [int(record.key) for record in stored if record.key.isdigit()])
        world.lost[self.topic] = lost
        world.note(f"{lost} of {len(written)} acknowledged records of “{self.topic}” are gone")


@action
def write(topic: str, records: int, *, acks: str = "all") -> Write:
    """Write so many records to a topic, over all its partitions, and wait until each is acknowledged."""
    return Write(topic, records, acks)


@action
def count_lost(topic: str) -> CountLost:
    """Read a topic back, and count which of the records that were acknowledged to the plan's steps are gone."""
    return CountLost(topic)
