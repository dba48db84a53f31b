"""Who led, who was down and who was cut from whom, as a small picture of the cluster with a sentence; pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.base.text import counted
from harness.model.events import ENDED
from harness.report.drawing import RunStory
from harness.report.fault_windows import FaultWindow
from harness.report.timeline import Lane, Span

WIDTH, HEIGHT, HOSTS_HEIGHT = 260.0, 136.0, 24.0
_RING = (84.0, 66.0)
_RADIUS = 50.0
_COLUMN = 214.0
_MOST_NODES = 16
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class NodeMark:
    """A node at (x, y); `state` is `leads`, `led`, `serves` or `down`, as it was when the plan was over.

    `note` is under it: the epochs that it led.
    """

    name: str
    x: float
    y: float
    state: str
    note: str
    title: str


@dataclass(frozen=True, slots=True)
class LinkMark:
    """A line: `kind` is `follows`, `lost` (no progress to the end) or `cut`."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str
    title: str

    @property
    def middle(self) -> tuple[float, float]:
        """Where the sign of a cut stands."""
        return (self.x1 + self.x2) * _HALF, (self.y1 + self.y2) * _HALF


@dataclass(frozen=True, slots=True)
class TopologyPicture:
    """A cluster with its links; `description` says the same in sentences."""

    nodes: tuple[NodeMark, ...]
    links: tuple[LinkMark, ...]
    description: str
    width: float = WIDTH
    height: float = HEIGHT


def topology_picture(story: RunStory) -> TopologyPicture | None:
    """Return the picture of a run's cluster; None where it has no nodes, or more than can be told apart."""
    lanes = story.timeline.lanes
    if not 0 < len(lanes) <= _MOST_NODES:
        return None
    leader = _last_leader(lanes, story.timeline.seconds)
    cuts = _cuts(story.faults)
    places = _places(lanes, {host for pair, _ in cuts for host in pair})
    nodes = [_node(lane, places[_host(lane)], leader) for lane in lanes]
    others = [NodeMark(host, *places[host], "host", "", host) for host in places if host not in map(_host, lanes)]
    links = [*_following(lanes, leader, places, story.timeline.seconds), *_cut_links(cuts, places)]
    height = HEIGHT + (HOSTS_HEIGHT if others else 0.0)
    return TopologyPicture((*nodes, *others), tuple(links), describe(story), height=height)


def describe(story: RunStory) -> str:
    """Return who led, who was down, who was cut and who stood still, in sentences."""
    lanes, seconds = story.timeline.lanes, story.timeline.seconds
    led = sorted((int(span.name), lane.node) for lane in lanes for span in lane.leads)
    epochs = [f"node {node} led epoch {epoch}" for epoch, node in dict.fromkeys(led)]
    still = [(lane.node, span) for lane in lanes for span in lane.stalls if span.end >= seconds]
    sentences = [
        _listed(epochs),
        _listed(_downs(lanes)),
        _listed(f"{window.text}, {_during(window, seconds)}" for window in story.faults if not window.is_absence),
        _listed(f"node {node} made no progress from {span.start:.1f} s to the end" for node, span in still),
    ]
    return " ".join(filter(None, sentences))


def _listed(clauses: Iterable[str]) -> str:
    found = "; ".join(clauses)
    return f"{found[0].upper()}{found[1:]}." if found else ""


def _downs(lanes: Sequence[Lane]) -> list[str]:
    """Return which nodes ended for good and how, and which came back."""
    words = {"stopped": "was stopped", "killed": "was killed", "died": "crashed"}
    told = [(lane, span) for lane in lanes for span in lane.life if _is_told(span, lane)]
    gone = [
        f"node {lane.node} {words[span.name]} at {span.start:.1f} s"
        + ("" if span is lane.life[-1] else " and was started again")
        for lane, span in told
    ]
    without = {lane.node for lane, _ in told}
    back = [str(lane.node) for lane in lanes if lane.node not in without and _came_back(lane)]
    return [*gone, *([f"{'node' if len(back) == 1 else 'nodes'} {', '.join(back)} restarted"] if back else [])]


def _is_told(span: Span, lane: Lane) -> bool:
    """Return whether a node's end is worth a clause: it came of itself, or was for good."""
    return span.name == "died" or (span.name in ENDED and span is lane.life[-1])


def _came_back(lane: Lane) -> bool:
    ready = [number for number, span in enumerate(lane.life) if span.name == "ready"]
    return any(span.name in ("stopping", *ENDED) for span in lane.life[ready[0] : ready[-1]]) if ready else False


def _during(window: FaultWindow, seconds: float) -> str:
    end = "the end" if window.end >= seconds else f"{window.end:.1f} s"
    return f"{window.start:.1f} s to {end}"


def _host(lane: Lane) -> str:
    return f"node {lane.node}"


def _last_leader(lanes: Sequence[Lane], seconds: float) -> int:
    """Return who led when the plan was over; -1 for nobody."""
    led = [(span.end, int(span.name), lane.node) for lane in lanes for span in lane.leads]
    end, _, node = max(led, default=(0.0, 0, -1))
    return node if end >= seconds else -1


def _cuts(faults: Sequence[FaultWindow]) -> list[tuple[tuple[str, str], str]]:
    """Return each pair of hosts that was cut once, with what was done to it and when."""
    found: dict[tuple[str, str], str] = {}
    for window in faults:
        for one, other in sorted(window.links):
            pair = (min(one, other), max(one, other))
            found.setdefault(pair, f"{window.text}, {window.start:.1f} to {window.end:.1f} s")
    return list(found.items())


def _places(lanes: Sequence[Lane], hosts: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return where everybody stands: voters on a ring, others in a column, hosts without a node below."""
    voters = [lane for lane in lanes if lane.role == "voter"] or list(lanes)
    rest = [lane for lane in lanes if lane not in voters]
    places = {_host(lane): _on_ring(number, len(voters)) for number, lane in enumerate(voters)}
    for number, lane in enumerate(rest, 1):
        places[_host(lane)] = (_COLUMN, round(_RING[1] * 2 * number / (len(rest) + 1), 1))
    others = sorted(set(hosts) - set(places))
    for number, host in enumerate(others):
        places[host] = (_COLUMN - 80.0 * number, HEIGHT + HOSTS_HEIGHT - 10.0)
    return places


def _on_ring(number: int, count: int) -> tuple[float, float]:
    angle = 2 * math.pi * number / count - math.pi / 2
    radius = _RADIUS if count > 1 else 0.0
    return round(_RING[0] + radius * math.cos(angle), 1), round(_RING[1] + radius * math.sin(angle), 1)


def _node(lane: Lane, place: tuple[float, float], leader: int) -> NodeMark:
    epochs = list(dict.fromkeys(span.name for span in lane.leads))
    down = bool(lane.life) and lane.life[-1].name in ENDED
    state = "down" if down else "leads" if lane.node == leader else "led" if epochs else "serves"
    note = f"led {', '.join(epochs[-3:])}" if epochs else ""
    title = f"node {lane.node}, {lane.role}: {note + ', ' if note else ''}{'down' if down else 'up'} at the end"
    if len(epochs) > 3:
        note = f"led {counted(len(epochs), 'epoch')}"
    return NodeMark(str(lane.node), *place, state, note, title)


def _following(
    lanes: Sequence[Lane], leader: int, places: dict[str, tuple[float, float]], seconds: float
) -> list[LinkMark]:
    """Return a line from each node that was up to the last leader."""
    if leader < 0:
        return []
    up = [lane for lane in lanes if lane.node != leader and lane.life and lane.life[-1].name == "ready"]
    found = []
    for lane in up:
        lost = any(span.end >= seconds for span in lane.stalls)
        title = f"node {lane.node} {'lost' if lost else 'follows'} node {leader}"
        ends = (*places[_host(lane)], *places[f"node {leader}"])
        found.append(LinkMark(*ends, "lost" if lost else "follows", title))
    return found


def _cut_links(cuts: Sequence[tuple[tuple[str, str], str]], places: dict[str, tuple[float, float]]) -> list[LinkMark]:
    return [LinkMark(*places[one], *places[other], "cut", title) for (one, other), title in cuts]
