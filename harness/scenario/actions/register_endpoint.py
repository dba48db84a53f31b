"""Registering a voter's present address with the leader."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

_WITHIN_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class RegisterEndpoint:
    """Have the leader record a voter's present address (UpdateRaftVoter, KIP-853)."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"register the endpoint of {self.node.description} with the leader (UpdateRaftVoter)"

    def perform(self, world: World) -> None:
        """Send the request until the voter set shows the address. Raises ActionFailed."""
        problem = world.cluster.register_endpoint(self.node.find(world), _WITHIN_SECONDS)
        if problem:
            raise ActionFailed(f"{self.node.description}'s endpoint was not registered: {problem}")


@action
def register_endpoint(node: NodeRef) -> RegisterEndpoint:
    """Have the leader record where a voter listens now."""
    return RegisterEndpoint(node)
