"""Restarting a node, at the same or at new addresses."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.actions.start import Known, configured_voters, knowing, known
from harness.scenario.actions.stop import KILLED
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.up_or_down import running
from harness.scenario.verbs import fault
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class Restart(Fault):
    """Stop a node and start it again, on the same or on new ports."""

    node: NodeRef
    new_ports: bool
    knows: tuple[NodeRef, ...] = ()

    @property
    def description(self) -> str:
        """The action as a clause."""
        ports = "new" if self.new_ports else "its old"
        return f"restart {self.node.description} on {ports} ports{knowing(self.knows)}"

    def perform(self, world: World) -> None:
        """Stop and start; the node is not ready yet when this returns. Raises ActionFailed where it does not run."""
        node, voters = running(self.node, world).id, configured_voters(self.knows, world)
        if not world.cluster.restart(node, new_addresses=self.new_ports, voters=voters):
            world.note(KILLED, node)


@fault
def restart(node: NodeRef, *, ports: str = "same", knows: Known = ()) -> Restart:
    """Stop a node and start it again, on the `same` ports or on `new` ones; `knows` as in `start`."""
    if ports not in ("same", "new"):
        raise ValueError(f"ports must be 'same' or 'new', not {ports!r}")
    return Restart(node, ports == "new", known(knows))
