"""Tables in the pages of docs/ that a benchmark writes: between two markers, and nothing else of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.base.errors import HarnessError


def with_block(page: str, name: str, text: str) -> str:
    """Return the page with a text between the markers of that name. Raises HarnessError where there are none."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise HarnessError(f"The page has no place for the {name}: {begin.strip()} {end}")
    return before + begin + text + end + after


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
