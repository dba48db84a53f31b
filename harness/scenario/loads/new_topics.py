"""Topics that are created one after another: none whose creation was acknowledged may be gone at the end."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from harness.cluster.address import Address
from harness.model.clients import ClientReport
from harness.scenario.client import FIRST_ANSWERS_SECONDS, Client
from harness.scenario.loads.asking_again import ask_again
from harness.scenario.loads.readback import client_settings
from harness.scenario.verbs import load
from harness.scenario.world import ActionFailed, World

_SECONDS_BETWEEN = 0.05
_ANSWER_SECONDS = 10.0
_LIST_SECONDS = 5.0
_KNOWN_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class NewTopics:
    """Create topics one after another: a metadata record is promised by each answer."""

    prefix: str

    @property
    def description(self) -> str:
        """The load as a clause."""
        return f"create topics “{self.prefix}-0”, “{self.prefix}-1” and so on"

    def start(self, world: World) -> Client:
        """Begin; one is there before the plan goes on. Raises ActionFailed where none comes to be."""
        client = NewTopicsClient(self.prefix, world.cluster.client_brokers)
        if not client.start_writing(world.is_over):
            client.abandon()
            raise ActionFailed(f"no topic “{self.prefix}-…” was there after {FIRST_ANSWERS_SECONDS:g} s")
        return client


class NewTopicsClient(Client):
    """Knows which topics were said to be there."""

    def __init__(self, prefix: str, brokers: Sequence[Address]) -> None:
        super().__init__(f"topics {prefix}", "topics created one after another", brokers, keys=[0])
        self._prefix = prefix
        self._acknowledged: list[str] = []

    def work(self) -> None:
        """Create until stopped; a name that was not acknowledged is not used again."""
        admin = AdminClient(client_settings(self.brokers))
        number = 0
        while not self.stopping.wait(_SECONDS_BETWEEN):
            self._create(admin, f"{self._prefix}-{number}")
            number += 1

    def _create(self, admin: AdminClient, name: str) -> None:
        began = time.monotonic()
        asked = admin.create_topics([NewTopic(name, 1, 1)], request_timeout=_ANSWER_SECONDS)
        try:
            asked[name].result()
        except KafkaException as error:
            self.failed(str(error.args[0].name()))
            return
        self.answered(0, time.monotonic() - began)
        self._acknowledged.append(name)

    @property
    def acknowledged(self) -> int:
        """How many topics."""
        return len(self._acknowledged)

    def compare(self, brokers: Sequence[Address]) -> ClientReport:
        """List the topics as brokers know them."""
        lost = missing_topics(self._acknowledged, brokers)
        pause, failures = self.pauses.longest, dict(self.failures)
        return ClientReport(self.name, self.description, self.acknowledged, len(lost), 0, pause, failures)


def missing_topics(names: Collection[str], brokers: Sequence[Address]) -> set[str]:
    """Return which topics brokers do not come to know; each takes new metadata in its own time.

    Raises KafkaException.
    """
    admin, missing = AdminClient(client_settings(brokers)), set(names)

    def all_are_known() -> bool:
        missing.difference_update(admin.list_topics(timeout=_LIST_SECONDS).topics)
        return not missing

    ask_again(all_are_known, _KNOWN_SECONDS)
    return missing


@load
def create_topics_steadily(prefix: str) -> NewTopics:
    """Create topics one after another; none that was acknowledged may be gone at the end."""
    return NewTopics(prefix)
