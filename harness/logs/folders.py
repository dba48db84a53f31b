"""`harness diff DIR_A DIR_B`: two folders of logs from anywhere, compared without a run directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.logs.diff import Progress, diff_nodes, opened, silent
from harness.logs.events import WHOLE_LOG
from harness.logs.layout import COMMON, KAFKA_DEFAULT, Layout, compile_layout, detect, misfit
from harness.logs.pipeline import first_lines, hidden
from harness.model import Contrast, NodeLogs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLE_LINES = 200  # of each file, by which its layout is recognised


def diff_folders(a: Path, b: Path, out: Path, pattern: str | None, progress: Progress = silent) -> Contrast:
    """Compare all logs below two folders (`*.log*`, compressed ones too) and write the results into `out`.

    `pattern` is the log4j conversion pattern of all files; without it each file's layout is recognised. Files
    that fit no layout are left out and listed in totals.json; a folder with none that fits is a HarnessError.
    """
    patterns = COMMON if pattern is None else (compile_layout(pattern).pattern,)
    files = {folder: log_files(folder) for folder in (a, b)}
    if a.resolve() == b.resolve():
        raise HarnessError(f"{a} and {b} are the same folder.", "Name two folders of logs.")
    with opened(out, progress) as spark:
        progress(f"Recognising the layout of {sum(map(len, files.values()))} files")
        return diff_files(spark, files, out, patterns, progress)


def diff_files(
    spark: SparkSession,
    files: Mapping[Path, Sequence[Path]],
    out: Path,
    patterns: Sequence[str],
    progress: Progress = silent,
) -> Contrast:
    """Compare the files of two folders, base first; see `diff_folders`."""
    nodes: list[NodeLogs] = []
    unread: list[str] = []
    for folder, paths in files.items():
        known = {path: None if hidden(path) else _layout(spark, path, patterns) for path in paths}
        fitting = {path: layout for path, layout in known.items() if layout is not None}
        if not fitting:
            raise misfit(str(paths[0]), " or ".join(patterns), _sample(spark, paths[0]))
        nodes += [_node(folder, number, *item) for number, item in enumerate(fitting.items())]
        unread += [f"{path} was not read: {_why(path)}." for path in paths if path not in fitting]
    base, candidate = map(str, files)
    return diff_nodes(spark, Path(), nodes, [(base, candidate)], out, progress, unread)[0]


def log_files(folder: Path) -> tuple[Path, ...]:
    """Return all files below `folder` with `.log` in their names; none is a HarnessError."""
    found = tuple(sorted(path for path in folder.rglob("*.log*") if path.is_file()))
    if not found:
        raise HarnessError(f"{folder} has no files named *.log*.", "Name a folder that holds log files.")
    return found


def _layout(spark: SparkSession, path: Path, patterns: Sequence[str]) -> Layout | None:
    """Return the layout that a file fits best; an empty file fits any."""
    sample = _sample(spark, path)
    return detect(sample, patterns) if sample else compile_layout(KAFKA_DEFAULT)


def _sample(spark: SparkSession, path: Path) -> list[str]:
    return first_lines(spark, path, SAMPLE_LINES)


def _why(path: Path) -> str:
    return "its name begins as hidden files do" if hidden(path) else "it fits no log layout"


def _node(folder: Path, number: int, path: Path, layout: Layout) -> NodeLogs:
    return NodeLogs(
        scenario="logs",
        arm=str(folder),
        repeat=1,
        node=number,
        node_role="node",
        files=(str(path),),
        pattern=layout.pattern,
        phases=(WHOLE_LOG,),
    )
