"""Asking a node for what it is to append and cannot commit: no answer comes, and that it was asked is certain."""

from __future__ import annotations

from collections.abc import Callable

from harness.cluster.protocol import Unreachable
from harness.scenario.world import ActionFailed


def ask_in_vain(ask: Callable[[], object]) -> None:
    """Ask, and have the time run out. Raises ActionFailed where an answer comes, or where nobody took the question."""
    try:
        answer = ask()
    except Unreachable as error:
        if not isinstance(error.__cause__, TimeoutError):
            raise ActionFailed(f"the leader was not asked: {error}") from error
        return
    raise ActionFailed(f"the leader answered: {answer}")
