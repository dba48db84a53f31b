"""What a leader says of itself that was cut from the others, asked on its own: the others know another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster import probes
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class HasUncommittedTail:
    """A leader has appended what no majority has."""

    name: ClassVar[str] = "has_uncommitted_tail"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} leads, with records that are not committed and will not be"

    def sample(self, world: World) -> Sample:
        """Ask it alone; several no-ops in a row are a tail, a single one may be on its way.

        A leader that has committed nothing in its epoch yet does not say where its tail begins.
        """
        node = self.node.find(world)
        try:
            quorum = _own_account(world, node)
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, testable=False)
        end = quorum.voters.get(node, -1)
        tail = end - quorum.high_watermark
        detail = {"log_end_offset": end, "high_watermark": quorum.high_watermark, "epoch": quorum.epoch}
        return Sample(quorum.leader == node and quorum.high_watermark >= 0 and tail > _ON_ITS_WAY, detail)


@dataclass(frozen=True, slots=True)
class HasGivenUp:
    """A node that led does not say any more that it leads (KIP-595: it resigns when no majority fetches)."""

    name: ClassVar[str] = "has_given_up"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} does not take itself for the leader any more"

    def sample(self, world: World) -> Sample:
        """Ask it alone; a node that does not answer, or takes too long, says nothing."""
        node = self.node.find(world)
        try:
            quorum = _own_account(world, node)
        except probes.AnswersOddlyError as error:
            return Sample(False, problem=str(error))
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, testable=False)
        return Sample(quorum.leader != node, {"leader": quorum.leader, "epoch": quorum.epoch})


_ON_ITS_WAY = 1


def _own_account(world: World, node: int) -> Quorum:
    """Return what one controller says of the quorum as its leader, empty where it is none. Raises Unreachable."""
    return probes.own_account(world.cluster.wire, world.cluster.controllers[node])


@condition
def has_uncommitted_tail(node: NodeRef) -> HasUncommittedTail:
    """By its own account the voter leads, and has appended more than is committed."""
    return HasUncommittedTail(node)


@condition
def has_given_up(node: NodeRef) -> HasGivenUp:
    """The voter answers, and does not say any more that it leads."""
    return HasGivenUp(node)
