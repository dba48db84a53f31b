"""A load that writes begins when the leaders of its partitions are ready, and has answers before the plan goes on."""

from __future__ import annotations

from confluent_kafka import KafkaException

from harness.scenario.client import FIRST_ANSWERS_SECONDS, Client
from harness.scenario.loads.readback import watermarks
from harness.scenario.world import ActionFailed, World


def begin_to_write(client: Client, world: World, partitions: int) -> Client:
    """Start a client that writes to a topic; return it when it has its first answers, or has ended with the run.

    Raises ActionFailed where it has not: what is done to a leader now could lose records by the client's own doing
    (Client.start_writing), which would be held against the build. Such a leader is also one whose broker has not made
    the log of a new partition yet: it refuses the first batch and accepts the second one, and answers the first, sent
    again, by DUPLICATE_SEQUENCE_NUMBER. So every leader has told where its partition ends before anything is sent.
    """
    try:
        watermarks(client.topic, partitions, client.brokers, world.is_over)
    except (TimeoutError, KafkaException) as error:
        raise ActionFailed(f"{client.name} cannot be written to: {error}") from error
    if not client.start_writing(world.is_over):
        client.abandon()
        raise ActionFailed(f"{client.name} has not had an answer for all that it writes in {FIRST_ANSWERS_SECONDS:g} s")
    return client
