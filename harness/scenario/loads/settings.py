"""Settings of topics that are changed all the time: the newest one that was acknowledged stands at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its types do not say that it exports all of them
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from harness.cluster.address import Address
from harness.model.clients import ClientReport
from harness.scenario.client import Client
from harness.scenario.loads.asking_again import ask_again
from harness.scenario.loads.readback import client_settings
from harness.scenario.loads.topics import Placement
from harness.scenario.verbs import load
from harness.scenario.world import World

_SETTING, _FIRST = "retention.ms", 10**9
_ANSWER_SECONDS = 10.0
_KNOWN_SECONDS = 20.0
_LOOK_EVERY_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Settings:
    """Change a setting of so many topics, each again as soon as the last change is acknowledged."""

    prefix: str
    topics: int

    @property
    def description(self) -> str:
        """The load as a clause."""
        return f"change {_SETTING} of {self.topics} topics “{self.prefix}-…” again and again"

    def start(self, world: World) -> Client:
        """Create the topics and begin. Raises ActionFailed."""
        names = [f"{self.prefix}-{number}" for number in range(self.topics)]
        for name in names:
            world.create_topic(name, Placement.ONE_PER_BROKER.replicas(world)[:1], {})
        client = SettingsClient(self.prefix, names, world.cluster.client_brokers)
        client.start()
        return client


class SettingsClient(Client):
    """Knows the newest acknowledged change of each topic; changes come from nobody else, one after the other."""

    def __init__(self, prefix: str, topics: Sequence[str], brokers: Sequence[Address]) -> None:
        super().__init__(f"settings {prefix}", "settings changed again and again", brokers, topics)
        self._topics = tuple(topics)
        self._newest = dict.fromkeys(topics, 0)
        self._count = 0

    def work(self) -> None:
        """Have one change of each topic under way until stopped."""
        admin = AdminClient(client_settings(self.brokers))
        asked = dict.fromkeys(self._topics, 0)
        under_way: dict[str, tuple[Future[None], float]] = {}
        while not self.stopping.wait(_LOOK_EVERY_SECONDS):
            for topic in self._topics:
                if topic in under_way and not self._ended(topic, asked[topic], *under_way[topic]):
                    continue
                asked[topic] += 1
                under_way[topic] = _change(admin, topic, _FIRST + asked[topic]), time.monotonic()

    def _ended(self, topic: str, number: int, answer: Future[None], began: float) -> bool:
        """Note the answer to a change if it is there."""
        if not answer.done():
            return False
        try:
            answer.result()
        except KafkaException as error:
            self.failed(str(error.args[0].name()))
        else:
            self.answered(topic, time.monotonic() - began)
            self._newest[topic], self._count = number, self._count + 1
        return True

    @property
    def acknowledged(self) -> int:
        """How many changes."""
        return self._count

    def compare(self, brokers: Sequence[Address]) -> ClientReport:
        """Read the settings, until each is as new as what was acknowledged: what was not may have come after it."""
        stale = stale_settings({topic: _FIRST + number for topic, number in self._newest.items() if number}, brokers)
        pause, failures = self.pauses.longest, dict(self.failures)
        return ClientReport(self.name, self.description, self.acknowledged, len(stale), 0, pause, failures)


def _change(admin: AdminClient, topic: str, value: int) -> Future[None]:
    entry = ConfigEntry(_SETTING, str(value), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    answer: Future[None] = admin.incremental_alter_configs([resource], request_timeout=_ANSWER_SECONDS)[resource]
    return answer


def stale_settings(newest: dict[str, int], brokers: Sequence[Address]) -> set[str]:
    """Return the topics whose setting does not come to be as new as it should; brokers learn of it in their own time.

    Raises KafkaException.
    """
    admin, stale = AdminClient(client_settings(brokers)), set(newest)

    def all_are_new() -> bool:
        wanted = [ConfigResource(ResourceType.TOPIC, topic) for topic in sorted(stale)]
        answers = admin.describe_configs(wanted, request_timeout=_ANSWER_SECONDS) if wanted else {}
        failed: list[KafkaException] = []
        for resource, answer in answers.items():
            try:
                if int(answer.result()[_SETTING].value) >= newest[resource.name]:
                    stale.discard(resource.name)
            except KafkaException as error:  # of this topic alone
                failed.append(error)
        if failed:
            raise failed[0]
        return not stale

    ask_again(all_are_new, _KNOWN_SECONDS)
    return stale


@load
def change_settings(prefix: str, *, topics: int = 4) -> Settings:
    """Change a setting of some topics again and again; the newest that was acknowledged must stand at the end."""
    return Settings(prefix, topics)
