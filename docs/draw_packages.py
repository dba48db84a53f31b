"""Draw the packages of harness/ as they import each other: `python docs/draw_packages.py` writes docs/packages.svg.

Every import counts, also one within a function. A package stands above all that it imports, so that arrows only run
downwards; an arrow that a longer way implies is left out. A unit test holds that the picture is that of today's code.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "packages.svg"

_BOX, _HEIGHT, _BEND, _GAP, _BETWEEN, _MARGIN = 204, 72, 16, 22, 46, 16  # in pixels; a bend is where an arrow passes
_CAPTION = 32  # characters on a line
_SWEEPS = 40
_STYLE = """
text { font: 11px system-ui, sans-serif; fill: #333; text-anchor: middle }
.name { font-size: 15px; font-weight: 600; fill: #111 }
rect { fill: #eef3fb; stroke: #4a6fa5; rx: 6px }
path { fill: none; stroke: #555; stroke-width: 1.3 }
marker path { fill: #555; stroke: none }
.page { fill: #fff; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #ccc } .name { fill: #fff }
  rect { fill: #1d2b40; stroke: #7fa3d8 } path { stroke: #aaa } marker path { fill: #aaa }
  .page { fill: #0d1117 }
}
"""

Graph = Mapping[str, frozenset[str]]
Bend = tuple[str, str, int]  # where the arrow from one package to another passes a floor
Spot = str | Bend


class CircleError(Exception):
    """Packages import each other, so that no picture has all arrows downwards."""


def packages(root: Path) -> tuple[dict[str, str], Graph]:
    """Return the first line of each package's docstring by name, and which packages it imports."""
    captions: dict[str, str] = {}
    imports: dict[str, set[str]] = {}
    for path in sorted((root / "harness").rglob("*.py")):
        parts = path.relative_to(root / "harness").with_suffix("").parts
        if parts[0] in ("__init__", "__main__"):  # the whole, and the command's other name
            continue
        tree = ast.parse(path.read_text("utf-8"))
        imports.setdefault(parts[0], set()).update(_imported(tree))
        if len(parts) == 1 or parts[1:] == ("__init__",):
            captions[parts[0]] = (ast.get_docstring(tree) or "").split("\n")[0]
    return captions, {name: frozenset(found - {name}) for name, found in imports.items()}


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="harness", names=names):
                yield from (each.name for each in names if not each.name.startswith("_"))
            case ast.ImportFrom(module=str(module)) if module.startswith("harness."):
                yield module.split(".")[1]
            case ast.Import(names=names):
                yield from (each.name.split(".")[1] for each in names if each.name.startswith("harness."))


def reduced(graph: Graph) -> Graph:
    """Return the graph without the arrows that a longer way implies. Raises CircleError."""
    below: dict[str, frozenset[str]] = {}
    for name in _from_below(graph):
        below[name] = graph[name].union(*(below[each] for each in graph[name]))
    return {name: uses.difference(*(below[each] for each in uses)) for name, uses in graph.items()}


def floors(graph: Graph) -> dict[str, int]:
    """Return the floor of each package, 0 the lowest: above what it uses, and near to those who use it."""
    floor: dict[str, int] = {}
    order = list(_from_below(graph))
    for name in order:
        floor[name] = max((floor[each] + 1 for each in graph[name]), default=0)
    users = {name: [each for each in order if name in graph[each]] for name in order}
    for name in reversed(order):
        if users[name] and len(users[name]) >= len(graph[name]):
            floor[name] = min(floor[each] for each in users[name]) - 1
    return floor


def _from_below(graph: Graph) -> Iterator[str]:
    """Yield every package after those that it uses."""
    left, done = sorted(graph), set[str]()
    while left:
        ready = [name for name in left if graph[name] <= done]
        if not ready:
            raise CircleError(f"These packages import each other, or one that does: {', '.join(left)}.")
        yield from ready
        done.update(ready)
        left = [name for name in left if name not in done]


def rows_of(graph: Graph, floor: Mapping[str, int]) -> tuple[list[list[Spot]], list[list[Spot]]]:
    """Return what stands on each floor, from left to right, and the way of each arrow from floor to floor."""
    rows: list[list[Spot]] = [[] for _ in range(max(floor.values()) + 1)]
    for name in sorted(floor):
        rows[floor[name]].append(name)
    ways: list[list[Spot]] = []
    for user, used in sorted((user, used) for user, uses in graph.items() for used in uses):
        bends: list[Spot] = [(user, used, at) for at in range(floor[user] - 1, floor[used], -1)]
        for at, bend in zip(range(floor[user] - 1, floor[used], -1), bends, strict=True):
            rows[at].append(bend)
        ways.append([user, *bends, used])
    return _untangled(rows, ways), ways


def _untangled(rows: list[list[Spot]], ways: Sequence[Sequence[Spot]]) -> list[list[Spot]]:
    """Return the rows in the order with the fewest crossings that sweeps over their neighbours' middles find."""
    near = _neighbours(ways)
    best, fewest = [list(row) for row in rows], _crossings(rows, near)
    for sweep in range(_SWEEPS):
        if sweep % 2:
            for lower, upper in pairwise(rows):
                _sort_beside(upper, lower, near)
        else:
            for upper, lower in pairwise(reversed(rows)):
                _sort_beside(lower, upper, near)
        crossings = _crossings(rows, near)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return _swapped(best, near)


def _sort_beside(row: list[Spot], fixed: Sequence[Spot], near: Mapping[Spot, Sequence[Spot]]) -> None:
    own = {spot: float(place) for place, spot in enumerate(row)}
    places = {spot: float(place) for place, spot in enumerate(fixed)}
    wanted = {spot: _middle(spot, near, places, own[spot]) for spot in row}
    row.sort(key=lambda spot: wanted[spot])


def _swapped(rows: list[list[Spot]], near: Mapping[Spot, Sequence[Spot]]) -> list[list[Spot]]:
    """Return the rows after every swap of two that lessens the crossings."""
    fewest, before = _crossings(rows, near), -1
    while fewest != before:
        before = fewest
        for row in rows:
            for one in range(len(row)):
                for other in range(one + 1, len(row)):
                    row[one], row[other] = row[other], row[one]
                    crossings = _crossings(rows, near)
                    if crossings < fewest:
                        fewest = crossings
                    else:
                        row[one], row[other] = row[other], row[one]
    return rows


def _neighbours(ways: Iterable[Sequence[Spot]]) -> dict[Spot, list[Spot]]:
    near: dict[Spot, list[Spot]] = {}
    for way in ways:
        for upper, lower in pairwise(way):
            near.setdefault(upper, []).append(lower)
            near.setdefault(lower, []).append(upper)
    return near


def _middle(spot: Spot, near: Mapping[Spot, Sequence[Spot]], places: Mapping[Spot, float], own: float) -> float:
    found = [places[each] for each in near.get(spot, ()) if each in places]
    return sum(found) / len(found) if found else own


def _crossings(rows: Sequence[Sequence[Spot]], near: Mapping[Spot, Sequence[Spot]]) -> int:
    total = 0
    for lower, upper in pairwise(rows):
        places = {spot: place for place, spot in enumerate(lower)}
        lines = [(at, places[to]) for at, spot in enumerate(upper) for to in near.get(spot, ()) if to in places]
        total += sum((a - c) * (b - d) < 0 for i, (a, b) in enumerate(lines) for c, d in lines[:i])
    return total


def centres(rows: Sequence[Sequence[Spot]], ways: Sequence[Sequence[Spot]]) -> dict[Spot, float]:
    """Return how far right the middle of each box and bend is, in pixels: as near to its neighbours as room allows."""
    near = _neighbours(ways)
    x = {spot: float(at * (_BOX + _GAP)) for row in rows for at, spot in enumerate(row)}
    for _ in range(_SWEEPS * 5):
        for row in rows:
            wanted = [_middle(spot, near, x, x[spot]) for spot in row]
            x |= dict(zip(row, _apart(row, wanted), strict=True))
    left = min(x[spot] - _width(spot) / 2 for spot in x) - _MARGIN
    return {spot: round(at - left, 1) for spot, at in x.items()}


def _apart(row: Sequence[Spot], wanted: Sequence[float]) -> list[float]:
    """Return places in the order of a row, as near to those wanted as the widths allow."""
    room = [(_width(a) + _width(b)) / 2 + _GAP for a, b in pairwise(row)]
    right, left = list(wanted), list(wanted)
    for at, space in enumerate(room):
        right[at + 1] = max(right[at + 1], right[at] + space)
    for at in reversed(range(len(room))):
        left[at] = min(left[at], left[at + 1] - room[at])
    return [(a + b) / 2 for a, b in zip(right, left, strict=True)]


def _width(spot: Spot) -> int:
    return _BOX if isinstance(spot, str) else _BEND


def drawn(captions: Mapping[str, str], graph: Graph) -> str:
    """Return the picture as SVG, the same for the same code."""
    graph = reduced(graph)
    floor = floors(graph)
    rows, ways = rows_of(graph, floor)
    x = centres(rows, ways)
    width = max(x[spot] + _width(spot) / 2 for spot in x) + _MARGIN
    height = len(rows) * (_HEIGHT + _BETWEEN) - _BETWEEN + 2 * _MARGIN
    top = {spot: (len(rows) - 1 - at) * (_HEIGHT + _BETWEEN) + _MARGIN for at, row in enumerate(rows) for spot in row}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">',
        "<title>The packages of harness/: each stands above those that it imports</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 8 4 0 8z"/></marker></defs>',
        f'<rect class="page" width="{width:g}" height="{height:g}"/>',
        *(_arrow(way, x, top) for way in ways),
        *(_box(name, captions.get(name, ""), x[name], top[name]) for name in sorted(floor)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _arrow(way: Sequence[Spot], x: Mapping[Spot, float], top: Mapping[Spot, float]) -> str:
    """Return an arrow that leaves a box at its foot, passes the floors between, and ends at the head of another."""
    path, half = f"M{x[way[0]]:g} {top[way[0]] + _HEIGHT:g}", _BETWEEN / 2
    for above, below in pairwise(way):
        start, end = top[above] + _HEIGHT, top[below] - (3 if below == way[-1] else 0)
        path += f"C{x[above]:g} {start + half:g} {x[below]:g} {end - half:g} {x[below]:g} {end:g}"
        path += "" if below == way[-1] else f"V{end + _HEIGHT:g}"
    return f'<path d="{path}" marker-end="url(#tip)"><title>{way[0]} uses {way[-1]}</title></path>'


def _box(name: str, caption: str, middle: float, top: float) -> str:
    words = caption.replace("`", "").partition(" (")[0].rstrip(".")
    lines = wrap(words, _CAPTION, max_lines=3, placeholder=" …")
    texts = "".join(f'<text x="{middle:g}" y="{top + 37 + 14 * at:g}">{escape(e)}</text>' for at, e in enumerate(lines))
    return (
        f'<g><title>{escape(caption)}</title><rect x="{middle - _BOX / 2:g}" y="{top:g}" width="{_BOX}" '
        f'height="{_HEIGHT}"/><text class="name" x="{middle:g}" y="{top + 20:g}">{escape(name)}</text>{texts}</g>'
    )


def main() -> None:
    """Write the picture."""
    try:
        PICTURE.write_text(drawn(*packages(ROOT)), "utf-8")
    except CircleError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
