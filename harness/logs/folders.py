"""`harness diff DIR_A DIR_B`: two folders of logs from anywhere, compared without a run directory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.logs.diff import Progress, diff_nodes, opened, silent
from harness.logs.events import WHOLE_LOG
from harness.logs.layout import COMMON, KAFKA_DEFAULT, Layout, compile_layout, detect
from harness.logs.pipeline import first_lines, hidden
from harness.logs.proposals import misfit
from harness.model import Contrast, NodeLogs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
SAMPLE_LINES = 200  # of each file, by which its layout is recognised


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of logs: of which arm's which run it is, and its log files."""

    arm: str
    repeat: int
    path: Path
    files: tuple[Path, ...]


def diff_folders(
    a: Path,
    b: Path,
    out: Path,
    pattern: str | None,
    progress: Progress = silent,
    repeats: Path | None = None,
    master: str = "",
) -> Contrast:
    """Compare all logs below two folders (`*.log*`, compressed ones too) and write the results into `out`.

    `pattern` is the log4j conversion pattern of all files; without it each file's layout is recognised. Files
    that fit no layout are left out and listed in totals.json; a folder with none that fits is a HarnessError.
    Each folder in `repeats` holds the logs of one more run of what wrote `a`: they tell what is noise.
    """
    patterns = COMMON if pattern is None else (compile_layout(pattern).pattern,)
    if a.resolve() == b.resolve():
        raise HarnessError(f"{a} and {b} are the same folder.", "Name two folders of logs.")
    runs = [(a, a, 1), (b, b, 1), *((a, more, number) for number, more in enumerate(_further(repeats), 2))]
    folders = [Folder(str(arm), number, path, log_files(path)) for arm, path, number in runs]
    with opened(out, progress, master) as spark:
        progress(f"Recognising the layout of {sum(len(folder.files) for folder in folders)} files")
        return diff_files(spark, folders, out, patterns, progress)


def _further(repeats: Path | None) -> list[Path]:
    if repeats is None:
        return []
    found = sorted(path for path in repeats.iterdir() if path.is_dir()) if repeats.is_dir() else []
    if not found:
        raise HarnessError(
            f"{repeats} holds no folders.", "Name a folder with one folder of logs for each further run of the first."
        )
    return found


def diff_files(
    spark: SparkSession,
    folders: Sequence[Folder],
    out: Path,
    patterns: Sequence[str],
    progress: Progress = silent,
) -> Contrast:
    """Compare the files of folders, base first, then the candidate, then further runs; see `diff_folders`."""
    nodes: list[NodeLogs] = []
    unread: list[str] = []
    files = [path for folder in folders for path in folder.files if not hidden(path)]
    samples = first_lines(spark, files, SAMPLE_LINES)
    for folder in folders:
        known = {path: None if hidden(path) else _layout(samples[path], patterns) for path in folder.files}
        fitting = {path: layout for path, layout in known.items() if layout is not None}
        if not fitting:
            raise misfit(str(folder.files[0]), " or ".join(patterns), samples.get(folder.files[0], []))
        nodes += [_node(folder, number, *item) for number, item in enumerate(fitting.items())]
        unread += [f"{path} was not read: {_why(path)}." for path in folder.files if path not in fitting]
    base, candidate = (folder.arm for folder in folders[:2])
    return diff_nodes(spark, Path(), nodes, [(base, candidate)], out, progress, unread)[0]


def log_files(folder: Path) -> tuple[Path, ...]:
    """Return all files below `folder` with `.log` in their names, links that lead nowhere too.

    None, or none but empty ones, is a HarnessError.
    """
    if _URI.match(str(folder)):
        raise HarnessError(
            f"{folder} is an address: only folders of this machine's file system are read.",
            "Mount it, or copy the logs from there.",
        )
    found = tuple(sorted(path for path in folder.rglob("*.log*") if path.is_file() or not path.exists()))
    if not found:
        raise HarnessError(f"{folder} has no files named *.log*.", "Name a folder that holds log files.")
    if all(path.is_file() and path.stat().st_size == 0 for path in found):
        raise HarnessError(f"{found[0]} and all other logs in {folder} are empty.", "Name one with events.")
    return found


def _layout(sample: Sequence[str], patterns: Sequence[str]) -> Layout | None:
    """Return the layout that a file's first lines fit best; an empty file fits any."""
    return detect(sample, patterns) if sample else compile_layout(KAFKA_DEFAULT)


def _why(path: Path) -> str:
    return "its name begins as hidden files do" if hidden(path) else "it fits no log layout"


def _node(folder: Folder, number: int, path: Path, layout: Layout) -> NodeLogs:
    return NodeLogs(
        scenario="logs",
        arm=folder.arm,
        repeat=folder.repeat,
        node=number,
        node_role="node",
        files=(str(path),),
        pattern=layout.pattern,
        phases=(WHOLE_LOG,),
    )
