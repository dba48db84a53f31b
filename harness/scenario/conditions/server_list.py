"""What a node says of the servers that it asks for the leader."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from harness.scenario.asked_servers import LIST_UPDATED, lists_of_servers
from harness.scenario.bounds import seconds
from harness.scenario.log_times import is_since
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class SeldomLogs:
    """A node has logged a text no more than so many times lately."""

    name: ClassVar[str] = "seldom_logs"
    node: NodeRef
    text: str
    most: int
    lately: float

    @property
    def description(self) -> str:
        """The condition as a clause."""
        often = f"no more than {self.most} times in the last {self.lately:g} s"
        return f"{self.node.description} has logged “{self.text}” {often}"

    def sample(self, world: World) -> Sample:
        """Count lines of its log."""
        text, since = self.text.encode(), time.time() - self.lately
        lines = world.cluster.nodes[self.node.find(world)].logged()
        count = sum(text in line and is_since(line, since) for line in lines)
        return Sample(count <= self.most, {"lines": count}, problem=f"{count} times" if count > self.most else "")


@dataclass(frozen=True, slots=True)
class AsksAsConfigured:
    """No list of servers that a node has logged since its start is another than that of its configuration."""

    name: ClassVar[str] = "asks_as_configured"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} asks the servers of its configuration and no others"

    def sample(self, world: World) -> Sample:
        """Read every list in its log; none is no other."""
        node = world.cluster.nodes[self.node.find(world)]
        others = {each for each in lists_of_servers(node.logged()) if each != set(node.config.voters.values())}
        told = ["; ".join(map(str, sorted(each))) for each in others]
        return Sample(not others, {"other_lists": sorted(told)}, problem=", ".join(told))


@condition
def seldom_logs(node: NodeRef, text: str, *, most: int, lately: str) -> SeldomLogs:
    """A node has logged a text no more than so many times in so much time up to now."""
    return SeldomLogs(node, text, most, seconds(lately))


@condition
def seldom_replaces_servers(node: NodeRef, *, most: int, lately: str) -> SeldomLogs:
    """A node has said no more than so many times lately that it replaces the servers which it asks for the leader."""
    return SeldomLogs(node, LIST_UPDATED, most, seconds(lately))


@condition
def asks_as_configured(node: NodeRef) -> AsksAsConfigured:
    """No list of servers that a node has logged is another than that of its configuration."""
    return AsksAsConfigured(node)
