"""Links from the report into its run directory; pure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from harness.base.text import cut
from harness.model.runs import Evidence
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import JOURNAL

HERE = RunDirectory(Path())  # as the report sees it, which lies in it


@dataclass(frozen=True, slots=True)
class Link:
    """A relative address and what is written on it; the address is empty where there is nothing to go to."""

    href: str
    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """What stands at a place in the run directory, cut to size, and the link to it."""

    text: str
    link: Link


def link_to(path: Path | str, text: str) -> Link:
    """Return the link to a file of the run directory."""
    return Link(_inside(Path(path).as_posix()), text)


def evidence_link(evidence: Evidence) -> Link:
    """Return the link to a piece of evidence; its line is in the text, as files have no anchors."""
    line = f":{evidence.line}" if evidence.line else ""
    return Link(_inside(evidence.path), f"{_short(evidence.path)}{line}")


def quote_of(evidence: Evidence, limit: int) -> Quote:
    """Return what a piece of evidence says, no more than `limit` characters of it."""
    return Quote(cut(evidence.excerpt.strip(), limit), evidence_link(evidence))


def journal_link(folder: str) -> Link:
    """Return the link to a run's journal."""
    return Link(_inside(f"{folder}/{JOURNAL}"), JOURNAL)


def _inside(path: str) -> str:
    """Return `path` as an address that stays below the report and cannot name a scheme."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return quote("/".join(parts), safe="/")


def _short(path: str) -> str:
    """Return a path without the folders that every run has, and of a source file its name."""
    parts = path.split("/")
    if parts[0] == "builds" and "sources" in parts[:3]:
        return parts[-1]
    return "/".join(parts[4:]) if parts[0] == "runs" and len(parts) > 4 else path
