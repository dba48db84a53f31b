"""Scenarios: one question put to a real cluster, as a plan of phases, guards, actions and expectations.

For authors: `scenario`, `kraft`, `zookeeper`, `fails` and the stretches of plan in `voter_moves`, `election_moves`,
`partition_cuts`, `topic_id_moves` and `written_topics` stand here, and so does every registered verb by its own name
(`stop`, `follows_leader`, …; `harness list --verbs` has them all).
"""

from __future__ import annotations

from typing import Any

from harness.base.errors import HarnessError
from harness.scenario import election_moves, partition_cuts, topic_id_moves, voter_moves, written_topics
from harness.scenario.plan import kraft, scenario, zookeeper
from harness.scenario.stock import fails
from harness.scenario.verbs import verb

__all__ = [
    "election_moves",
    "fails",
    "kraft",
    "partition_cuts",
    "scenario",
    "topic_id_moves",
    "voter_moves",
    "written_topics",
    "zookeeper",
]


def __getattr__(name: str) -> Any:
    """Return a verb: a new one is one new file, and no import to add here."""
    try:
        return verb(name)
    except HarnessError as error:
        raise AttributeError(error.message) from None
