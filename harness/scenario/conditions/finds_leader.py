"""Whether an observer finds the leader, and whether one that does not has tried everybody it was configured with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.cluster.address import Address
from harness.scenario.asked_servers import lists_of_servers, unreachable
from harness.scenario.bounds import FOLLOW_WINDOW_SECONDS
from harness.scenario.conditions.follows_leader import follows
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class FindsLeader:
    """The observer follows; that it does not is said only of one that has asked in vain.

    That is one which has warned, since the last fault, of every address of its configuration. Of one that has replaced
    those by others, as a patched one does, nothing more is asked: it need not try them.
    """

    name: ClassVar[str] = "finds_leader"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} finds the leader, or has asked in vain wherever it is configured to"

    def sample(self, world: World) -> Sample:
        """Look as `follows_leader` does, and where it does not follow, into its log."""
        node = world.cluster.nodes[self.node.find(world)]
        seen = follows(world.recent_looks(FOLLOW_WINDOW_SECONDS), node.id)
        if seen.ok:
            return seen
        configured = set(node.config.voters.values())
        untried = configured - unreachable(node.logged(), world.fault_at)
        has_tried = not untried or any(lists_of_servers(node.logged()))
        detail = {**seen.detail, "unreachable": sorted(map(str, configured - untried))}
        return replace(seen, detail=detail, testable=seen.testable and has_tried, problem=_told(configured, untried))


def _told(configured: set[Address], untried: set[Address]) -> str:
    tried = len(configured) - len(untried)
    return f"it warned that {tried} of the {len(configured)} addresses of its configuration cannot be reached"


@condition
def finds_leader(node: NodeRef) -> FindsLeader:
    """An observer follows the leader; that it does not is only said once it has warned of all configured addresses."""
    return FindsLeader(node)
