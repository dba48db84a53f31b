"""Whether an observer follows: by its own progress, as its leader sees it and on its own disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.cluster.watch import Look
from harness.scenario.bounds import FOLLOW_WINDOW_SECONDS
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class FollowsLeader:
    """The observer's log end offset advances, as its leader sees it and on its own disk.

    Only looks since the step began, under the newest leader and epoch, within FOLLOW_WINDOW_SECONDS count.
    """

    name: ClassVar[str] = "follows_leader"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} follows the leader"

    def sample(self, world: World) -> Sample:
        """Compare the oldest and the newest look in the window."""
        node = self.node.find(world)
        return follows(world.recent_looks(FOLLOW_WINDOW_SECONDS), node)


def follows(looks: Sequence[Look], node: int) -> Sample:
    """Decide from looks (oldest first) whether the node's replication advances. Pure."""
    if not looks or looks[-1].quorum.leader < 0:
        return Sample(False, {"leader": -1}, testable=False)
    newest = looks[-1]
    same = [look for look in looks if look.quorum.epoch == newest.quorum.epoch and node in look.quorum.observers]
    detail: dict[str, Any] = {"leader": newest.quorum.leader, "epoch": newest.quorum.epoch}
    if not same or same[-1] is not newest:
        return Sample(False, {**detail, "log_end_offset": None})
    first = same[0]
    offsets = (first.quorum.observers[node], newest.quorum.observers[node])
    own = (first.own_log_bytes.get(node, 0), newest.own_log_bytes.get(node, 0))
    detail |= {"log_end_offset": list(offsets), "own_log_bytes": list(own)}
    return Sample(offsets[1] > offsets[0] >= 0 and own[1] > own[0], detail)


@condition
def follows_leader(node: NodeRef) -> FollowsLeader:
    """An observer fetches from the current leader: its log end offset advances."""
    return FollowsLeader(node)
