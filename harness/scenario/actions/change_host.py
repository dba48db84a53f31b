"""Another host behind the same name, as after a change of DNS: nobody's configuration changes, nor any voter set."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.actions.stop import KILLED
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.up_or_down import running
from harness.scenario.verbs import fault
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class ChangeHost(Fault):
    """Restart a controller at another host, to which its name leads from then on."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"restart {self.node.description} at another host, to which its name now leads"

    def perform(self, world: World) -> None:
        """Stop it, change what its name resolves to, start it. Raises ActionFailed, HarnessError."""
        node = running(self.node, world).id
        if not world.cluster.change_host(node):
            world.note(KILLED, node)


@fault
def change_host(node: NodeRef) -> ChangeHost:
    """Restart a controller at another host, to which its name now leads; only in a cluster with `names`."""
    return ChangeHost(node)
