"""Shares of a core over a run, base and candidate in one picture for each role, as numbers for an inline SVG; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.model.events import NodeSampled

WIDTH, HEIGHT = 320.0, 96.0
LEFT, BOTTOM, TOP = 34.0, 16.0, 6.0
_ROLES = ("leader", "voter", "observer")
_TOPS = (5, 10, 25, 50, 100, 200, 400)
_GAP_SECONDS = 3.0
_MOST_POINTS = 180

Samples = Sequence[tuple[float, NodeSampled]]
_SHARES: Mapping[str, tuple[str, Callable[[NodeSampled], float]]] = {
    "raft": ("raft I/O thread", lambda sample: sample.raft_percent),
    "cpu": ("whole process", lambda sample: sample.cpu_percent),
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture: SVG paths of both curves, the share at its top in percent of a core, the run's seconds at its right.

    `peaks` are the highest shares of base and candidate, as text.
    """

    id: str
    title: str
    base: str
    candidate: str
    top: int
    seconds: int
    over: bool
    peaks: tuple[str, str]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    floor: float = HEIGHT - BOTTOM
    ceiling: float = TOP


def panels(base: Samples, candidate: Samples, over: set[str]) -> tuple[Panel, ...]:
    """Return a panel for each share and role that both sides have; `over` are figures that are over their limits."""
    seconds = max(at for at, _ in (*base, *candidate))
    found = (_panel(share, role, base, candidate, seconds, over) for share in _SHARES for role in _ROLES)
    return tuple(panel for panel in found if panel)


def _panel(share: str, role: str, base: Samples, candidate: Samples, seconds: float, over: set[str]) -> Panel | None:
    title, value = _SHARES[share]
    before, now = (_highest(samples, role, value) for samples in (base, candidate))
    if not before or not now:
        return None
    peaks = max(before.values()), max(now.values())
    top = next((each for each in _TOPS if max(peaks) <= each), _TOPS[-1])
    marked = any(figure.startswith(f"{role}_{share}_") for figure in over)
    return Panel(
        f"{share}-{role}",
        f"{title} of the {role}",
        _path(before, top, seconds),
        _path(now, top, seconds),
        top,
        round(seconds),
        marked,
        (f"{peaks[0]:.1f} %", f"{peaks[1]:.1f} %"),
    )


def _highest(samples: Samples, role: str, value: Callable[[NodeSampled], float]) -> dict[int, float]:
    """Return the highest share of any node in a role, second by second."""
    found: dict[int, float] = {}
    for at, sample in samples:
        if sample.role == role:
            found[int(at)] = max(found.get(int(at), 0.0), value(sample))
    return found


def _path(curve: Mapping[int, float], top: int, seconds: float) -> str:
    """Return the curve as an SVG path; it is broken where nobody had the role."""
    thin = -(-len(curve) // _MOST_POINTS)
    drawn: list[str] = []
    before = -_GAP_SECONDS * thin
    ordered = sorted(curve)
    for first in range(0, len(ordered), thin):
        # Of several seconds the highest: a peak must not fall between two points.
        at = max(ordered[first : first + thin], key=curve.__getitem__)
        x = LEFT + (WIDTH - LEFT) * at / max(seconds, 1.0)
        y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(curve[at] / top, 1.0)
        drawn.append(f"{'L' if at - before < _GAP_SECONDS * thin else 'M'}{x:.1f} {y:.1f}")
        before = at
    return "".join(drawn)
