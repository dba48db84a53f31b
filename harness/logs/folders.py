"""`harness diff A B`: two folders of logs from anywhere, or two logs, compared without a run directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import polars as pl

from harness.base.archives import is_archive
from harness.base.errors import HarnessError
from harness.base.text import counted
from harness.logs.compare.logger_names import full_names
from harness.logs.compare.renamed import Renamed
from harness.logs.log_diff import CountedLogs, Progress, compare, opened, read_nodes, silent
from harness.logs.read.event_counts import WHOLE_LOG
from harness.logs.read.layout import KAFKA_DEFAULT, Layout, compile_layout
from harness.logs.read.layout_fit import COLLECTED
from harness.logs.read.library import library, named_version
from harness.logs.read.local_files import files_of, identity_of, log_files
from harness.logs.read.odd_names import written_name
from harness.logs.read.places import (
    Among,
    folders_in,
    here_if_file,
    is_address,
    logs_below,
)
from harness.logs.read.proposals import layout_mismatch
from harness.logs.read.rewordings import rewordings
from harness.logs.readable_logs import ReadableLogs, readable
from harness.model.findings import Contrast
from harness.model.node_logs import NodeLogs
from harness.rundir.parts import LogsFolder
from harness.toolbox.toolbox import Toolbox

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAMED = 3  # of the further runs, and of files that were not read
_SHOWN = 120  # characters of a line

_WITH_EVENTS = "Name one with events."


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of logs: of which arm's which run it is, its log files, and the `others` that are not named as such."""

    arm: str
    repeat: int
    files: tuple[str, ...]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepeatPlaces:
    """Where further runs of what wrote the first folder lie, and of what wrote the second; empty for none.

    Each is one run, whose logs lie as deep as those of the folder it repeats, or a folder with one entry for each run.
    """

    base: str = ""
    candidate: str = ""


def diff_folders(
    a: str,
    b: str,
    out: LogsFolder,
    pattern: str | None,
    toolbox: Toolbox,
    progress: Progress = silent,
    repeats: RepeatPlaces = RepeatPlaces(),
    master: str = "",
) -> Contrast:
    """Compare all logs of two folders (see `logs_among`; compressed ones too) and write the results into `out`.

    Folders are paths, or addresses in a file system that Spark knows; a single log may stand for one. `pattern` is the
    log4j conversion pattern of all files; without it each file's layout is recognised. Files that fit no layout are
    left out and listed in totals.json; a folder with none that fits is a HarnessError. `repeats` show what is noise.
    """
    wanted = compile_layout(pattern).pattern if pattern else ""
    sides = {a: here_if_file(repeats.base), b: here_if_file(repeats.candidate)}
    sides = {here_if_file(side): further for side, further in sides.items()}
    if len(sides) == 1 or (not any(map(is_address, sides)) and len({Path(side).resolve() for side in sides}) == 1):
        raise HarnessError(f"{a} and {b} are the same.", "Name two folders of logs, or two logs.")
    for place in (*sides, *filter(None, sides.values())):
        if not is_address(place):
            log_files(Path(place))  # what lacks here fails before Spark starts
    with opened(out.path, toolbox, progress, master) as spark:
        folders = [folder for side, further in sides.items() for folder in runs_of(spark, side, further, progress)]
        refuse_common(folders)
        progress(f"Recognising the layout of {sum(len(folder.files) for folder in folders)} files")
        logs = read_files(spark, folders, out, wanted, progress)
    base, candidate = sides
    logs = under_full_names(logs, base, candidate)
    return compare(logs, [(base, candidate)], out, progress, renamed=renamed_lines(logs, base, candidate, progress))[0]


def refuse_common(folders: Iterable[Folder]) -> None:
    """Raise HarnessError for a log of both sides, as where one folder lies in the other: nothing could be new then."""
    seen: dict[object, Folder] = {}
    for folder in folders:
        for log in folder.files:
            other = seen.setdefault(identity_of(Path(log)) or log, folder)
            if other.arm != folder.arm:
                raise HarnessError(
                    f"{log} is a log of {other.arm} and of {folder.arm}.", "Name two folders that share no logs."
                )


def renamed_lines(logs: CountedLogs, base: str, candidate: str, progress: Progress) -> dict[str, Renamed]:
    """Return what the candidate logs in other words than base, where their logs name two versions of Kafka."""
    files = {
        side: [file for node in logs.nodes if node.arm == side for file in node.files] for side in (base, candidate)
    }
    was, now = (named_version(logs.files[file].counts for file in files[side]) for side in (base, candidate))
    if not was or not now or was == now:
        return {}
    progress(f"{base} is of Kafka {was} and {candidate} of Kafka {now}: lines that were reworded are the same")
    return {candidate: rewordings(library(was), library(now))}


def under_full_names(logs: CountedLogs, base: str, candidate: str) -> CountedLogs:
    """Return logs in which what one side's layout abbreviates of a logger's name stands as the other side has it."""
    arms = {file: node.arm for node in logs.nodes for file in node.files}
    loggers: dict[str, set[str]] = {base: set(), candidate: set()}
    for file, arm in arms.items():
        loggers[arm] |= set(logs.files[file].counts["logger"])
    full = {side: full_names(loggers[side], loggers[other]) for side, other in permutations((base, candidate))}
    files = {
        file: replace(each, counts=each.counts.with_columns(pl.col("logger").replace(full[arms[file]])))
        for file, each in logs.files.items()
    }
    notes = [_abbreviated(side, names) for side, names in full.items() if names]
    return replace(logs, files=files, left_out=(*logs.left_out, *notes))


def _abbreviated(side: str, names: Mapping[str, str]) -> str:
    short, name = next(iter(names.items()))
    of = "one logger" if len(names) == 1 else f"{len(names)} loggers"
    return f"{side} abbreviates the names of {of}: {short} is taken for {name}."


def runs_of(spark: SparkSession, side: str, further: str, progress: Progress) -> list[Folder]:
    """Return the runs of one side: the folder itself, and those further ones that were named."""
    places = [side]
    if further:
        places += (more := _further(spark, further, like=side))
        progress(f"{further} holds {_counted(more)} of what wrote {side}")
    found = [_among(spark, place) for place in places]
    return [Folder(side, number, each.logs, each.others) for number, each in enumerate(found, 1)]


def _counted(runs: Sequence[str]) -> str:
    names = ", ".join(PurePosixPath(run).name for run in runs[:_NAMED])
    return "one further run" if len(runs) == 1 else f"{len(runs)} further runs ({names}{', …' * (len(runs) > _NAMED)})"


def _further(spark: SparkSession, repeats: str, like: str) -> list[str]:
    """Return where further runs lie: what was named itself if its logs lie as deep in it as in `like`, else in it."""
    logs, like_logs = _logs(spark, repeats), _logs(spark, like)
    are_runs = all(map(is_archive, logs)) and not all(map(is_archive, like_logs)) and len(logs) > 1
    if not are_runs and _depth(repeats, logs) <= _depth(like, like_logs):
        return [repeats]
    if is_address(repeats):
        return folders_in(spark, repeats) or list(_logs(spark, repeats))
    entries = sorted(Path(repeats).iterdir())
    return [str(entry) for entry in entries if entry.is_dir()] or [str(entry) for entry in entries]


def _depth(place: str, files: Iterable[str]) -> int:
    """Return how deep below a place its uppermost log lies: 0 where the place is that log."""
    top = place.rstrip("/") if is_address(place) else str(Path(place).absolute())
    paths = files if is_address(place) else (str(Path(file).absolute()) for file in files)
    return min(path.count("/") for path in paths) - top.count("/")


def _logs(spark: SparkSession, place: str) -> tuple[str, ...]:
    return _among(spark, place).logs


def _among(spark: SparkSession, place: str) -> Among:
    return logs_below(spark, place) if is_address(place) else files_of(Path(place))


def read_files(
    spark: SparkSession,
    folders: Sequence[Folder],
    out: LogsFolder,
    pattern: str = "",
    progress: Progress = silent,
) -> CountedLogs:
    """Count what is in the files of folders; see `diff_folders`."""
    out.path.mkdir(parents=True, exist_ok=True)
    with readable(spark, [file for folder in folders for file in folder.files], out.path, pattern) as logs:
        nodes: list[NodeLogs] = []
        unfit: list[str] = []
        for folder in folders:
            there = replace(folder, files=tuple(log for file in folder.files for log in logs.of_files[file]))
            fitting = {log: logs.layouts[log] for log in there.files if log in logs.layouts}
            if fitting and not any(logs.samples[log] for log in fitting):
                raise HarnessError(f"{next(iter(fitting))} and all other logs of {folder.arm} are empty.", _WITH_EVENTS)
            if not fitting:
                raise nothing_fits(there, pattern or KAFKA_DEFAULT, logs.samples, logs.refused)
            nodes += [_node(folder, number, *item) for number, item in enumerate(fitting.items())]
            unfit += [log for log in there.files if log not in logs.layouts]
        others = [*(written_name(other) for folder in folders for other in folder.others), *logs.others]
        mixed = (_mixed_sentence(*item) for item in logs.mixed.items())
        notes = [*not_read_sentences(unfit, others, logs), *mixed, *logs.notes]
        unread = [log for log in unfit if log not in logs.eventless]
        return read_nodes(spark, Path(), nodes, out, progress, notes, copies=logs.copies, unread=unread)


def not_read_sentences(unfit: Sequence[str], others: Sequence[str], logs: ReadableLogs) -> Iterator[str]:
    """Yield what is to be said of logs that fit no layout, and of the files beside logs that were not looked at."""
    collected = [log for log in unfit if logs.eventless.get(log) == COLLECTED]
    for log in unfit:
        if log not in collected:
            yield f"{log} was not read: {_why(log, logs)}."
    if collected:
        yield f"{_named(collected)} {'was' if len(collected) == 1 else 'were'} not read: {COLLECTED}."
    if others:
        are = "is not named as logs are, and was" if len(others) == 1 else "are not named as logs are, and were"
        yield f"{_named(others)} {are} not looked at. What is a log among them can be given by itself, or named *.log."


def _named(files: Sequence[str]) -> str:
    more = f" and {counted(len(files) - _NAMED, 'more file')}" if len(files) > _NAMED else ""
    return f"{', '.join(files[:_NAMED])}{more}"


def _mixed_sentence(log: str, why: str) -> str:
    return (
        f"{log} has lines of several nodes that were not told apart ({why}): where they alternate a stack trace is "
        "cut apart, and all count as one node. Give each node a file of its own."
    )


def _why(log: str, logs: ReadableLogs) -> str:
    first = next((line for line in logs.samples.get(log, ()) if line.strip()), "")
    fits = logs.eventless.get(log, "it fits no log layout")
    unfit = f"{fits}, and its first line is {first[:_SHOWN]!r}; if it holds events, give their --layout"
    return logs.refused.get(log, unfit)


def nothing_fits(
    folder: Folder, pattern: str, samples: Mapping[str, Sequence[str]], refused: Mapping[str, str]
) -> HarnessError:
    """Return the error for a folder of which nothing can be read."""
    first = next((place for place in folder.files if place in samples), "")
    if first:
        return layout_mismatch(first, pattern, samples[first])
    (place, *_), reason = folder.files or (folder.arm,), next(iter(refused.values()), "it holds no files")
    return HarnessError(
        f"{place} was not read: {refused.get(place, reason)}.", "Name a log, or a folder that holds logs."
    )


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
