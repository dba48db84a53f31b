"""References to nodes by role; they are resolved when a step runs, never when the plan is built."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from harness.scenario.world import ActionFailed, World

_LEADER_SECONDS = 10.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node by role: `description` for people, `find` for the moment it is needed."""

    description: str
    find: Callable[[World], int]


def bound(name: str) -> NodeRef:
    """Return a reference to a node that a Bind step has named."""

    def find(world: World) -> int:
        try:
            return world.names[name]
        except KeyError:
            raise ActionFailed(f"no node has been named {name!r} yet") from None

    return NodeRef(f"the {name}", find)


def current_leader() -> NodeRef:
    """Return a reference to whoever leads the metadata quorum when the step runs."""

    def find(world: World) -> int:
        # One look may fall into an election: a leader that exists is waited for, as a guard would.
        deadline = time.monotonic() + _LEADER_SECONDS
        while (leader := world.quorum().leader) < 0:
            if time.monotonic() > deadline:
                raise ActionFailed(f"no voter led within {_LEADER_SECONDS:g} s")
            time.sleep(_POLL_SECONDS)
        return leader

    return NodeRef("the leader", find)


def fixed(node: int, description: str) -> NodeRef:
    """Return a reference to a node by id."""
    return NodeRef(description, lambda _: node)
