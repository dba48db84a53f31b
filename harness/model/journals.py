"""What the events of a run's journal mean to whoever reads it again; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ENDED = ("stopped", "killed", "died")  # states of a node that runs no more


def is_of_the_plan(event: Mapping[str, Any]) -> bool:
    """Say whether the plan did or asked something, or a node died; after the last of these the harness tidies up.

    A death ends the plan at once, so no step need follow it.
    """
    return event.get("event") in ("phase", "step", "sample") or event.get("state") == "died"
