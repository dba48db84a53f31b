"""Registering a voter's present address with the leader."""

from __future__ import annotations

from dataclasses import dataclass

from harness.cluster.registering import register_endpoint as register
from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

_WITHIN_SECONDS = 20.0
_NOBODYS_PORT = 9  # discard (RFC 863): nodes of the harness listen far above, and few hosts have such a service


@dataclass(frozen=True, slots=True)
class RegisterEndpoint:
    """Have the leader record a voter's present address (UpdateRaftVoter, KIP-853), or a port of its host instead."""

    node: NodeRef
    port: int = 0

    @property
    def description(self) -> str:
        """The action as a clause."""
        which = f"a wrong endpoint (port {self.port})" if self.port else "the endpoint"
        return f"register {which} of {self.node.description} with the leader (UpdateRaftVoter)"

    def perform(self, world: World) -> None:
        """Send the request until the voter set shows the address. Raises ActionFailed."""
        problem = register(world.cluster, self.node.find(world), _WITHIN_SECONDS, self.port)
        if problem:
            raise ActionFailed(f"{self.node.description}'s endpoint was not registered: {problem}")


@action
def register_endpoint(node: NodeRef) -> RegisterEndpoint:
    """Have the leader record where a voter listens now."""
    return RegisterEndpoint(node)


@action
def register_wrong_endpoint(node: NodeRef) -> RegisterEndpoint:
    """Have the leader record that a voter listens where nobody does; it may announce itself again."""
    return RegisterEndpoint(node, _NOBODYS_PORT)
