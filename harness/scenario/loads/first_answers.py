"""A load that writes has been answered before the plan goes on."""

from __future__ import annotations

from harness.scenario.client import FIRST_ANSWERS_SECONDS, Client
from harness.scenario.world import ActionFailed, World


def begin_to_write(client: Client, world: World) -> Client:
    """Start a client that writes; return it when it has its first answers, or has ended with the run.

    Raises ActionFailed where it has not: what is done to a leader now could lose records by the client's own doing
    (Client.start_writing), which would be held against the build.
    """
    if not client.start_writing(world.is_over):
        client.abandon()
        raise ActionFailed(f"{client.name} has not had an answer for all that it writes in {FIRST_ANSWERS_SECONDS:g} s")
    return client
