"""What nodes say of themselves: by its log statements one sees which way a node took."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from harness.scenario.log_times import time_of
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

# Half of a fetch time-out, and the shortest election time-out: who waits for either takes longer.
SOON_SECONDS = 1.0
_SHOWN = 400


@dataclass(frozen=True, slots=True)
class HasLogged:
    """A node (or one of several) has logged a line of one of these wordings in its present life, since the last fault.

    With `soon_after`, less than a second after a line that holds that: it waited for no time-out in between.
    """

    name: ClassVar[str] = "has_logged"
    nodes: tuple[NodeRef, ...]
    wordings: tuple[str, ...]
    soon_after: tuple[str, ...] = ()

    @property
    def node(self) -> NodeRef:
        """Whose log to look at first."""
        return self.nodes[0]

    @property
    def description(self) -> str:
        """The condition as a clause."""
        who = " or ".join(node.description for node in self.nodes)
        soon = f" less than a second after {_quoted(self.soon_after)}" if self.soon_after else ""
        return f"{who} has logged {_quoted(self.wordings)}{soon}"

    def sample(self, world: World) -> Sample:
        """Read the logs; the line that was found is journaled. Raises ActionFailed where a reference means nobody."""
        for node in (each.find(world) for each in self.nodes):
            line = said(world.cluster.nodes[node].logged(), world.fault_at, self.wordings, self.soon_after)
            if line:
                return Sample(True, {"node": node, "line": line[:_SHOWN]})
        return Sample(False)


def said(lines: Iterable[bytes], since: float, wordings: Sequence[str], soon_after: Sequence[str] = ()) -> str:
    """Return the first line from a time on (seconds since the Unix epoch) that says so; empty for none. Pure.

    Nodes log milliseconds, so that what was logged in the one of `since` counts.
    """
    wanted, causes = [each.encode() for each in wordings], [each.encode() for each in soon_after]
    since, caused = int(since * 1000) / 1000, -math.inf
    for line in lines:
        if any(each in line for each in causes):
            caused = max(caused, time_of(line))
        elif any(each in line for each in wanted):
            at = time_of(line)
            if at >= since and (not causes or at - caused < SOON_SECONDS):
                return line.decode("utf-8", "replace")
    return ""


def _quoted(wordings: Iterable[str]) -> str:
    return " or ".join(f"“{each.strip('])(, ')}”" for each in wordings)


@condition
def has_logged(node: NodeRef | tuple[NodeRef, ...], *wordings: str, soon_after: tuple[str, ...] = ()) -> HasLogged:
    """A node, or one of several in a tuple, has logged a line with one of these wordings since the last fault."""
    return HasLogged(node if isinstance(node, tuple) else (node,), wordings, soon_after)
