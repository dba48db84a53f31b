"""Kafka 1.0.0's kafka-topics, which writes to ZooKeeper itself: jars of the harness's own lock."""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import HarnessError
from harness.scenario.capabilities.base import capability
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import local_toolbox

NAME = "old_topic_tool"


def jars() -> tuple[Path, ...]:
    """Return its jars, from the cache alone. Raises HarnessError where one is not there."""
    return local_toolbox(offline=True).tools(Purpose.OLD_TOPICS)


@capability(fix="Run `harness verify --suite topic-ids` once with a network: it fetches them.")
def old_topic_tool() -> str:
    """Kafka 1.0.0's command line, from before there were topic ids."""
    try:
        jars()
    except HarnessError as error:
        return error.message.rstrip(".").removesuffix(" and --offline forbids fetching it")
    return ""
