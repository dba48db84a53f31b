"""References to nodes by role; they are resolved when a step runs, never when the plan is built."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.scenario import actions, conditions
from harness.scenario.steps import ActionFailed

if TYPE_CHECKING:
    from harness.engine.world import World

_LEADER_SECONDS = 10.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node by role: `words` for people, `find` for the moment it is needed."""

    words: str
    find: Callable[[World], int]

    def stop(self) -> actions.Stop:
        """Stop it gracefully (SIGTERM)."""
        return actions.Stop(self)

    def kill(self) -> actions.Kill:
        """End it at once (kill -9)."""
        return actions.Kill(self)

    def restart(self, *, ports: str = "same", knows: NodeRef | None = None) -> actions.Restart:
        """Stop it and start it again, on the `same` ports or on `new` ones; `knows` as in `start`."""
        if ports not in ("same", "new"):
            raise ValueError(f"ports must be 'same' or 'new', not {ports!r}")
        return actions.Restart(self, ports == "new", knows)

    def start(self, *, knows: NodeRef | None = None) -> actions.Start:
        """Start it; with `knows`, it is told the right address of that voter only, dead ones for the others."""
        return actions.Start(self, knows)

    def register_endpoint(self) -> actions.RegisterEndpoint:
        """Have the leader record where this voter listens now."""
        return actions.RegisterEndpoint(self)

    def leads(self) -> conditions.Leads:
        """It is the leader at this moment."""
        return conditions.Leads(self)

    def follows_leader(self) -> conditions.FollowsLeader:
        """It fetches from the current leader: its log end offset advances."""
        return conditions.FollowsLeader(self)

    def sees_topic(self, topic: str) -> conditions.SeesTopic:
        """The topic is in this node's own metadata."""
        return conditions.SeesTopic(self, topic)


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


def fixed(node: int, words: str) -> NodeRef:
    """Return a reference to a node by id."""
    return NodeRef(words, lambda _: node)
