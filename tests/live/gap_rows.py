"""What docs/gaps.md says of a build row by row, and what a run shows of the same rows; pure."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

BUILDS = ("stock", "dynamic-bootstrap", "dynamic-bootstrap-v2")  # the columns, in their order
DECIDED = PASSES, FAILS = "passes", "fails"
NOT_DECIDED = "not"  # the first word of the page's "not decided" and "not asked"


def said_of(page: str, scenario: str, build: str) -> Mapping[str, str]:
    """Return the first word of each cell by its expectation, in the order in which the plan asks."""
    rows = re.findall(r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \| (.+) \|$", page, re.MULTILINE)
    cells = {named: told.split(" | ")[BUILDS.index(build)] for of, named, told in rows if of == scenario}
    assert cells, f"docs/gaps.md has no row of {scenario}"
    return {named: re.split("[, ]", cell)[0] for named, cell in cells.items()}


def shown_by(run: Mapping[str, str], asked: Sequence[str]) -> Mapping[str, str]:
    """Return what a run of a verdict shows of rows.

    That is up to the first that it fails, since a verdict names no later one. Where it fails what is no row, or decides
    nothing, that is shown alone.
    """
    if run["outcome"] == "PASSED":
        return dict.fromkeys(asked, PASSES)
    failed = [named for named in asked if fnmatchcase(run["expectation"], named)]
    if run["outcome"] != "FAILED" or not failed:
        return {run["expectation"]: run["outcome"]}
    return {**dict.fromkeys(asked[: asked.index(failed[0])], PASSES), failed[0]: FAILS}


def unlike(said: Mapping[str, str], run: Mapping[str, str]) -> Mapping[str, str]:
    """Return the rows of which a run shows something else than the page, which need not have an answer for each."""
    if not {*said.values()} & {*DECIDED}:
        return {}
    shown = shown_by(run, list(said))
    return {named: word for named, word in shown.items() if not _agrees(said.get(named, ""), word)}


def _agrees(said: str, shown: str) -> bool:
    """Whether a row is as the page says; a run that decides nothing is so only where the page says that of the row."""
    if shown in DECIDED:
        return said == shown or said not in (*DECIDED, "")
    return said == NOT_DECIDED
