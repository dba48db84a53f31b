"""`harness diff DIR_A DIR_B`: two folders of logs from anywhere, compared without a run directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.errors import HarnessError
from harness.logs.log_diff import CountedLogs, Progress, compare, opened, read_nodes, silent
from harness.logs.read.event_counts import WHOLE_LOG
from harness.logs.read.layout import COMMON, KAFKA_DEFAULT, Layout, compile_layout, detect
from harness.logs.read.places import first_lines, folders_in, here_if_file, is_address, is_hidden, logs_below
from harness.logs.read.proposals import layout_mismatch
from harness.model.findings import Contrast
from harness.model.node_logs import NodeLogs
from harness.rundir.parts import LogsFolder
from harness.toolbox.toolbox import Toolbox

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLE_LINES = 200  # of each file, by which its layout is recognised


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of logs: of which arm's which run it is, and its log files."""

    arm: str
    repeat: int
    files: tuple[str, ...]


def diff_folders(
    a: str,
    b: str,
    out: LogsFolder,
    pattern: str | None,
    toolbox: Toolbox,
    progress: Progress = silent,
    repeats: str | None = None,
    master: str = "",
) -> Contrast:
    """Compare all logs below two folders (`*.log*`, compressed ones too) and write the results into `out`.

    Folders are paths, or addresses in a file system that Spark knows. `pattern` is the log4j conversion pattern of all
    files; without it each file's layout is recognised. Files that fit no layout are left out and listed in totals.json;
    a folder with none that fits is a HarnessError. Each folder in `repeats` holds the logs of one more run of what
    wrote `a`: they show what is noise.
    """
    patterns = COMMON if pattern is None else (compile_layout(pattern).pattern,)
    a, b = here_if_file(a), here_if_file(b)
    if a == b or (not is_address(a) and not is_address(b) and Path(a).resolve() == Path(b).resolve()):
        raise HarnessError(f"{a} and {b} are the same folder.", "Name two folders of logs.")
    for place in (a, b):
        if not is_address(place):
            log_files(Path(place))  # what lacks here fails before Spark starts
    with opened(out.path, toolbox, progress, master) as spark:
        further = [] if repeats is None else _further(spark, here_if_file(repeats))
        runs = [(a, a, 1), (b, b, 1), *((a, more, number) for number, more in enumerate(further, 2))]
        folders = [Folder(arm, number, _logs(spark, place)) for arm, place, number in runs]
        progress(f"Recognising the layout of {sum(len(folder.files) for folder in folders)} files")
        logs = read_files(spark, folders, out, patterns, progress)
    return compare(logs, [(a, b)], out, progress)[0]


def _further(spark: SparkSession, repeats: str) -> list[str]:
    folder = Path(repeats)
    if is_address(repeats):
        found = folders_in(spark, repeats)
    else:
        found = sorted(str(path) for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if not found:
        raise HarnessError(
            f"{repeats} holds no folders.", "Name a folder with one folder of logs for each further run of the first."
        )
    return found


def _logs(spark: SparkSession, place: str) -> tuple[str, ...]:
    return logs_below(spark, place) if is_address(place) else tuple(map(str, log_files(Path(place))))


def read_files(
    spark: SparkSession,
    folders: Sequence[Folder],
    out: LogsFolder,
    patterns: Sequence[str],
    progress: Progress = silent,
) -> CountedLogs:
    """Count what is in the files of folders; see `diff_folders`."""
    nodes: list[NodeLogs] = []
    unread: list[str] = []
    files = [place for folder in folders for place in folder.files if not is_hidden(place)]
    samples = first_lines(spark, files, SAMPLE_LINES)
    for folder in folders:
        known = {place: _layout(samples[place], patterns) if place in samples else None for place in folder.files}
        fitting = {place: layout for place, layout in known.items() if layout is not None}
        if not fitting:
            raise layout_mismatch(folder.files[0], " or ".join(patterns), samples.get(folder.files[0], []))
        nodes += [_node(folder, number, *item) for number, item in enumerate(fitting.items())]
        unread += [f"{place} was not read: {_why(place)}." for place in folder.files if place not in fitting]
    return read_nodes(spark, Path(), nodes, out, progress, unread)


def log_files(folder: Path) -> tuple[Path, ...]:
    """Return all files below `folder` with `.log` in their names, links that lead nowhere too.

    None, or none but empty ones, is a HarnessError.
    """
    found = tuple(sorted(path for path in folder.rglob("*.log*") if path.is_file() or not path.exists()))
    if not found:
        raise HarnessError(f"{folder} has no files named *.log*.", "Name a folder that holds log files.")
    if all(path.is_file() and path.stat().st_size == 0 for path in found):
        raise HarnessError(f"{found[0]} and all other logs in {folder} are empty.", "Name one with events.")
    return found


def _layout(sample: Sequence[str], patterns: Sequence[str]) -> Layout | None:
    """Return the layout that a file's first lines fit best; an empty file fits any."""
    return detect(sample, patterns) if sample else compile_layout(KAFKA_DEFAULT)


def _why(place: str) -> str:
    return "its name begins as hidden files do" if is_hidden(place) else "it fits no log layout"


def _node(folder: Folder, number: int, place: str, layout: Layout) -> NodeLogs:
    return NodeLogs(
        scenario="logs",
        arm=folder.arm,
        repeat=folder.repeat,
        node=number,
        node_role="node",
        files=(place,),
        pattern=layout.pattern,
        phases=(WHOLE_LOG,),
    )
