"""Installing another build on a node that is down."""

from __future__ import annotations

from dataclasses import dataclass

from harness.cluster.install import copied_to
from harness.scenario.refs import NodeRef
from harness.scenario.up_or_down import down
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World


@dataclass(frozen=True, slots=True)
class InstallBuild:
    """Put the raft jar of a build where the node has its own, with the settings and the Kafka that go with it."""

    node: NodeRef
    build: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"install {self.build} on {self.node.description}"

    def perform(self, world: World) -> None:
        """Copy it under the name that it has in its Kafka; the data directory stays as it is. Raises ActionFailed."""
        node = down(self.node, world, "runs: a build is installed on a node that is down")
        if self.build not in world.installs:
            known = ", ".join(sorted(world.installs)) or "none"
            raise ActionFailed(f"no build {self.build} was given to install; those given: {known}")
        node.install = copied_to(world.installs[self.build], node.folder / "libs")


@action
def install(node: NodeRef, build: str) -> InstallBuild:
    """Install another build on a node that is down; `build` is one of those that the run was given."""
    return InstallBuild(node, build)
