"""`harness diff A B`: two folders of logs from anywhere, or two logs, compared without a run directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from harness.base.archives import is_archive
from harness.base.errors import HarnessError
from harness.logs.compare.renamed import Renamed
from harness.logs.log_diff import CountedLogs, Progress, compare, opened, read_nodes, silent
from harness.logs.read.carriers import sources
from harness.logs.read.event_counts import WHOLE_LOG
from harness.logs.read.layout import KAFKA_DEFAULT, Layout, compile_layout
from harness.logs.read.layout_detection import layouts_of
from harness.logs.read.layout_fit import dated
from harness.logs.read.library import library, named_version
from harness.logs.read.places import (
    first_lines,
    folders_in,
    here_if_file,
    is_address,
    is_hidden,
    logs_among,
    logs_below,
)
from harness.logs.read.proposals import layout_mismatch
from harness.logs.read.rewordings import rewordings
from harness.logs.read.unpacking import unpacked
from harness.model.findings import Contrast
from harness.model.node_logs import NodeLogs
from harness.rundir.parts import LogsFolder
from harness.toolbox.toolbox import Toolbox

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLE_LINES = 200  # of each file, by which its layout is recognised
FURTHER_LINES, FURTHER_BYTES = 50_000, 4 << 20  # of a file in whose first lines no event begins
_NAMED = 3  # of the further runs
_SHOWN = 120  # characters of a line


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of logs: of which arm's which run it is, and its log files."""

    arm: str
    repeat: int
    files: tuple[str, ...]


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
        progress(f"Recognising the layout of {sum(len(folder.files) for folder in folders)} files")
        logs = read_files(spark, folders, out, wanted, progress)
    base, candidate = sides
    return compare(logs, [(base, candidate)], out, progress, renamed=renamed_lines(logs, base, candidate, progress))[0]


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


def runs_of(spark: SparkSession, side: str, further: str, progress: Progress) -> list[Folder]:
    """Return the runs of one side: the folder itself, and those further ones that were named."""
    places = [side]
    if further:
        places += (more := _further(spark, further, like=side))
        progress(f"{further} holds {_counted(more)} of what wrote {side}")
    return [Folder(side, number, _logs(spark, place)) for number, place in enumerate(places, 1)]


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
    return logs_below(spark, place) if is_address(place) else log_files(Path(place))


def read_files(
    spark: SparkSession,
    folders: Sequence[Folder],
    out: LogsFolder,
    pattern: str = "",
    progress: Progress = silent,
) -> CountedLogs:
    """Count what is in the files of folders; see `diff_folders`."""
    out.path.mkdir(parents=True, exist_ok=True)
    files = [place for folder in folders for place in folder.files if not is_hidden(place)]
    with unpacked([place for place in files if not is_address(place)], out.path) as packed:
        folders = [_with_members(folder, packed.members) for folder in folders]
        files = [place for folder in folders for place in folder.files if not is_hidden(place)]
        found = _layouts(spark, [place for place in files if place not in packed.refused], packed.copies, pattern)
        refused = {**packed.refused, **found.refused}
        nodes: list[NodeLogs] = []
        for folder in folders:
            fitting = {place: found.layouts[place] for place in folder.files if place in found.layouts}
            if not fitting:
                raise nothing_fits(folder, pattern or KAFKA_DEFAULT, found.samples, refused)
            nodes += [_node(folder, number, *item) for number, item in enumerate(fitting.items())]
        left_out = [place for folder in folders for place in folder.files if place not in found.layouts]
        mixed = _mixed(place for place in found.layouts if len(sources(found.samples[place])) > 1)
        unread = [f"{place} was not read: {_why(place, refused, found.samples)}." for place in left_out]
        return read_nodes(spark, Path(), nodes, out, progress, [*unread, *mixed], copies=packed.copies)


def _mixed(places: Iterable[str]) -> Iterator[str]:
    for place in places:
        yield (
            f"{place} has lines of several nodes: where they alternate a stack trace is cut apart, and all count as "
            "one node. Give each node a file of its own."
        )


@dataclass(frozen=True, slots=True)
class _Layouts:
    """The layout of each file that fits one, the first lines by which it was found, and why others have none."""

    layouts: Mapping[str, Layout]
    samples: Mapping[str, Sequence[str]]
    refused: Mapping[str, str]


def _layouts(spark: SparkSession, files: Sequence[str], copies: Mapping[str, str], pattern: str) -> _Layouts:
    """Return the layouts of files by their first lines, or by later ones where no event begins there."""
    read_at = {copies.get(place, place): place for place in files}
    first = first_lines(spark, list(read_at), SAMPLE_LINES)
    samples = {read_at[at]: lines for at, lines in first.lines.items()}
    layouts = layouts_of(samples, pattern)
    if further := [at for at, lines in first.lines.items() if lines and read_at[at] not in layouts]:
        deeper = first_lines(spark, further, FURTHER_LINES, FURTHER_BYTES).lines
        dated_lines = {read_at[at]: dated(lines, SAMPLE_LINES) for at, lines in deeper.items()}
        layouts = layouts_of(samples | dated_lines, pattern)
    empty = {place: compile_layout(KAFKA_DEFAULT) for place, lines in samples.items() if not lines}
    return _Layouts(layouts | empty, samples, {read_at[at]: why for at, why in first.refused.items()})


def log_files(place: Path) -> tuple[str, ...]:
    """Return a log, or the logs below a folder (see `logs_among`), links that lead nowhere too.

    A place that is not there, or holds no log that is not empty, is a HarnessError.
    """
    if not place.exists():
        raise HarnessError(f"There is no {place}.", "Name a log, or a folder that holds logs.")
    below = sorted(place.rglob("*")) if place.is_dir() else [place]
    sizes = {str(path): _bytes(path) for path in below if path.is_file() or not path.exists()}
    return _once(logs_among(str(place), sizes))


def _once(logs: Iterable[str]) -> tuple[str, ...]:
    """Return the logs without further names of the same file; its own goes before that of a link."""
    named: dict[tuple[int, int] | str, str] = {}
    for log in sorted(logs, key=lambda log: (Path(log).is_symlink(), log)):
        found = Path(log).stat() if Path(log).exists() else None
        named.setdefault((found.st_dev, found.st_ino) if found else log, log)
    return tuple(sorted(named.values()))


def _bytes(path: Path) -> int:
    """Return the size of a file; a link that leads nowhere counts as content, so that reading it says so."""
    return path.stat().st_size if path.exists() else 1


def _why(place: str, refused: Mapping[str, str], samples: Mapping[str, Sequence[str]]) -> str:
    if is_hidden(place):
        return "its name begins as hidden files do"
    first = next((line for line in samples.get(place, ()) if line.strip()), "")
    unfit = f"it fits no log layout, and its first line is {first[:_SHOWN]!r}; if it holds events, give their --layout"
    return refused.get(place, unfit)


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


def _with_members(folder: Folder, members: Mapping[str, Sequence[str]]) -> Folder:
    """Return a folder with the logs of its archives in the place of these."""
    files = (_logs_of(place, members[place]) if place in members else (place,) for place in folder.files)
    return replace(folder, files=tuple(file for each in files for file in each))


def _logs_of(archive: str, members: Sequence[str]) -> tuple[str, ...]:
    return logs_among(archive, dict.fromkeys(members, 1)) if members else (archive,)


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
