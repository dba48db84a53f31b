"""Whether an observer follows: by its own progress, as its leader sees it and on its own disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.cluster.watch import Look
from harness.scenario.bounds import FOLLOW_WINDOW_SECONDS, THREE_NO_OPS_SECONDS
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_FEWEST_LOOKS = 2


@dataclass(frozen=True, slots=True)
class FollowsLeader:
    """The observer's log end offset advances, as its leader sees it and on its own disk.

    Only looks since the step began, under the newest leader and epoch, count: those of FOLLOW_WINDOW_SECONDS and the
    one before them.
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
    """Decide from looks (oldest first) whether the node's replication advances. Pure.

    That it does not is only said after looks under one leader that span three no-ops.
    """
    if len(looks) < _FEWEST_LOOKS:
        return Sample(False, {"looks": len(looks)}, testable=False, unseen=_unseen(looks))
    newest = looks[-1]
    if newest.quorum.leader < 0:
        return Sample(False, {"leader": -1}, testable=False)
    under_it = [look for look in looks if look.quorum.epoch == newest.quorum.epoch]
    testable = newest.at - under_it[0].at >= THREE_NO_OPS_SECONDS
    same = [look for look in under_it if node in look.quorum.observers]
    detail: dict[str, Any] = {"leader": newest.quorum.leader, "epoch": newest.quorum.epoch}
    if not same or same[-1] is not newest:
        return Sample(False, {**detail, "log_end_offset": None}, testable)
    first = same[0]
    offsets = (first.quorum.observers[node], newest.quorum.observers[node])
    own = (first.own_log_bytes.get(node, 0), newest.own_log_bytes.get(node, 0))
    detail |= {"log_end_offset": list(offsets), "own_log_bytes": list(own)}
    follows = offsets[1] > offsets[0] >= 0 and own[1] > own[0]
    return Sample(follows, detail, testable or follows)


def _unseen(looks: Sequence[Look]) -> str:
    return f"the harness came to look at the quorum {'only once' if looks else 'not once'} in this step"


@condition
def follows_leader(node: NodeRef) -> FollowsLeader:
    """An observer fetches from the current leader: its log end offset advances."""
    return FollowsLeader(node)
