"""How nodes and the quorum are written into a journal; what reads it again is `harness.report.timeline`."""

from __future__ import annotations

from harness.cluster.node import Node
from harness.engine.journal import Journal
from harness.engine.watch import Look, Stall

_AT_LEAST_EVERY_SECONDS = 1.0


def write_node(journal: Journal, node: Node) -> int:
    """Write down a change of a node's state; return the line."""
    return journal.write(
        "node",
        node=node.id,
        state=str(node.state),
        broker_port=node.config.broker_port,
        controller_port=node.config.controller_port,
        pid=node.pid,
        exit_code=node.exit_code,
    )


def write_stall(journal: Journal, stall: Stall) -> tuple[int, str]:
    """Write down a stall of the host; return the line and the story."""
    line = journal.write("stall", node=stall.node, seconds=round(stall.seconds, 3))
    who = "the harness" if stall.node < 0 else f"node {stall.node}"
    return line, f"the host gave {who} no processor for {stall.seconds:.1f} s"


class QuorumJournal:
    """Writes the quorum down when it changed or once a second, and sees two leaders of one epoch."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._leaders: dict[int, int] = {}
        self._last: tuple[int, int, float] = (-2, -2, 0.0)

    def on_look(self, look: Look) -> tuple[int, str]:
        """Return the line written (0 for none) and the story of two leaders of one epoch, empty for none."""
        quorum = look.quorum
        leader, epoch, at = self._last
        line = 0
        if (quorum.leader, quorum.epoch) != (leader, epoch) or look.at - at >= _AT_LEAST_EVERY_SECONDS:
            self._last = (quorum.leader, quorum.epoch, look.at)
            line = self._journal.write(
                "quorum",
                leader=quorum.leader,
                epoch=quorum.epoch,
                high_watermark=quorum.high_watermark,
                voters=dict(quorum.voters),
                observers=dict(quorum.observers),
            )
        stories = [self._second_leader(epoch, leader) for epoch, leader in quorum.leaders]
        return line, next(filter(None, stories), "")

    def _second_leader(self, epoch: int, leader: int) -> str:
        first = self._leaders.setdefault(epoch, leader)
        return "" if first == leader else f"nodes {first} and {leader} both led epoch {epoch}"
