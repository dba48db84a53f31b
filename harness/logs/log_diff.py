"""The log diff over a run directory: read, count, compare, write."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from harness.base.errors import HarnessError
from harness.kafka.lock import locked_as
from harness.logs.aside import ErrorAside, errors_aside, new_errors
from harness.logs.cautions import cautions
from harness.logs.compare.contrasts import contrast, learned
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.observed_run import ObservedRun
from harness.logs.compare.observing import stocks
from harness.logs.compare.pairs import comparable
from harness.logs.compare.renamed import (
    Renamed,
    in_like_words_of_base,
    in_words_of_base,
    renamed_sentences,
    runs_in_words_of_base,
    under_loggers_of_base,
)
from harness.logs.compare.template_families import family, unordered
from harness.logs.count_cache import CachedCounts, cached_counts, run_folder
from harness.logs.log_lengths import exposures, last_stretches
from harness.logs.noise_book import runs_like, runs_of_record
from harness.logs.read.event_counts import OUTSIDE, WHOLE_LOG, Reading
from harness.logs.read.layout import compile_layout
from harness.logs.read.library import Origins, library, overlaid, versions_of
from harness.logs.read.pipeline import FileCounts, read
from harness.logs.read.places import is_gone
from harness.logs.read.rewordings import rewordings
from harness.logs.read.spark import session
from harness.logs.read.statements import Library
from harness.logs.results import write
from harness.model.arms import Arm, Role, are_of_two_releases
from harness.model.findings import Contrast
from harness.model.node_logs import NodeLogs
from harness.model.runs import RunKey
from harness.model.spares import without_a_say
from harness.model.stock_noise import StockNoise
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import LogsFolder, RunFolder
from harness.toolbox.toolbox import Toolbox

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[str], None]
Clock = Callable[[str], AbstractContextManager[None]]
Opener = Callable[[], AbstractContextManager["SparkSession"]]
T = TypeVar("T")

_TIMES = ("first_at", "last_at")
_CONTRASTS = ((Role.BASE_OFF, Role.OFF), (Role.BASE, Role.OFF), (Role.OFF, Role.ON), (Role.BASE, Role.ON))


def _unclocked(part: str) -> AbstractContextManager[None]:  # noqa: ARG001
    """Look at no clock."""
    return nullcontext()


def silent(stage: str) -> None:
    """Report no progress."""


def diff_run(
    directory: RunDirectory,
    arms: Sequence[Arm],
    toolbox: Toolbox,
    progress: Progress = silent,
    master: str = "",
    noise: StockNoise | None = None,
    clock: Clock = _unclocked,
    opener: Opener | None = None,
) -> tuple[Contrast, ...]:
    """Compare the node logs of the arms of a run directory; write `logs/` in it and return the contrasts.

    `noise` is what is known of base's jar; `clock` gives a block for each part of the work, by its name; `opener` gives
    a Spark session in place of one that is started now. A directory in which no run left logs is a HarnessError.
    """
    nodes, logs = node_logs(directory), directory.logs
    known = libraries(directory, arms)
    with ExitStack() as stack:
        with clock("Spark starts"):
            spark = stack.enter_context(opener() if opener else opened(logs.path, toolbox, progress, master))
        with clock("logs are read"):
            counted = read_nodes(spark, directory.path, nodes, logs, progress, known=known)
        with clock("Spark ends"):
            stack.close()
    book = runs_of_record(noise) if noise else {}
    renamed = _renamed(arms, known)
    other = next((arm.build for arm in arms if arm.name in renamed), None)
    aside = errors_aside(directory, known)
    base_runs = {arm.name: runs_like(book, nodes, arm, other) for arm in arms if arm.role is Role.BASE}
    base_runs |= {arm.name: [] for arm in arms if arm.role is Role.BASE_OFF}
    own_runs = {arm.name: runs_like(book, nodes, arm) for arm in arms if arm.name in renamed}
    return compare(counted, pairs(arms), logs, progress, base_runs, renamed, own_runs, aside)


def _renamed(arms: Sequence[Arm], known: Mapping[str, Library]) -> dict[str, Renamed]:
    """Return what arms of another release than base's log in other words, by arm."""
    base = next((arm.name for arm in arms if arm.role is Role.BASE), "")
    if not are_of_two_releases(arms):
        return {}
    return {arm.name: rewordings(known[base], known[arm.name]) for arm in arms if not arm.role.is_control}


def libraries(directory: RunDirectory, arms: Sequence[Arm]) -> dict[str, Library]:
    """Return the log statements of each arm's sources: the build's own, where it has some."""
    return {arm.name: overlaid(library(locked_as(arm.build)), directory.build(arm.build.name).sources) for arm in arms}


def pairs(arms: Sequence[Arm]) -> list[tuple[str, str]]:
    """Return the contrasts that the arms' roles allow: base/off, off/on and base/on; base-off is compared with off."""
    named = {role: [arm.name for arm in arms if arm.role is role] for role in Role}
    left_out = (Role.BASE, Role.OFF) if named[Role.BASE_OFF] else None
    roles = [pair for pair in _CONTRASTS if pair != left_out]
    return [pair for base, candidate in roles for pair in product(named[base], named[candidate])]


def node_logs(directory: RunDirectory) -> list[NodeLogs]:
    """Return what every run of a run directory says of its nodes' logs, in the order of their paths.

    Left out is what makes no cell: runs that spares stand for, and spares that stand for none.
    """
    declaration = directory.declaration.read_if_exists()
    left_out = without_a_say(declaration, directory.results()) if declaration else frozenset[RunKey]()
    found = [run for run in directory.runs() if run.logs.exists and run.key not in left_out]
    if not found:
        raise HarnessError(f"No run in {directory.path} left logs: nothing was run.", "`harness run` comes first.")
    return [node for run in found for node in _of_run(run)]


def _of_run(run: RunFolder) -> tuple[NodeLogs, ...]:
    """Return the nodes of one run; two of one number, or one log of two, would be counted as one or twice."""
    nodes = run.logs.read()
    named = Counter(name for node in nodes for name in (f"node {node.node}", *(f"the log {log}" for log in node.files)))
    if twice := [name for name, times in named.items() if times > 1]:
        raise HarnessError(f"{run.logs.path} names {twice[0]} {named[twice[0]]} times.", "Run this scenario again.")
    return nodes


@dataclass(frozen=True, slots=True)
class CountedLogs:
    """What was counted in the nodes' logs, by file; the folder of the run's counts; what was not read, in sentences,
    and the names of the logs among that.
    """

    nodes: Sequence[NodeLogs]
    files: Mapping[str, FileCounts]
    run: Path
    left_out: Sequence[str]
    unread: Sequence[str] = ()


def read_nodes(
    spark: SparkSession,
    root: Path,
    nodes: Sequence[NodeLogs],
    out: LogsFolder,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    known: Mapping[str, Library] | None = None,
    copies: Mapping[str, str] = MappingProxyType({}),
    unread: Sequence[str] = (),
) -> CountedLogs:
    """Count what is in the nodes' logs below `root`.

    `notes` are sentences about what is not among the nodes' logs, `unread` the names of the logs in that. `known` are
    the sources of each arm; without them those of the version that an arm's logs name count. `copies` are what packed
    logs are read from. Of logs that are gone counts what an earlier diff into `out` counted.
    """
    run = run_folder(out, (out.path if root == Path() else root).resolve().name or "logs")
    progress(f"Reading {sum(len(node.files) for node in nodes)} log files")
    files, gone = _counted(spark, root, nodes, run, known or {}, copies)
    return CountedLogs(nodes, files, run, (*notes, *gone), unread)


def compare(
    logs: CountedLogs,
    contrasts: Sequence[tuple[str, str]],
    out: LogsFolder,
    progress: Progress = silent,
    base_runs: Mapping[str, Sequence[ObservedRun]] = MappingProxyType({}),
    renamed: Mapping[str, Renamed] = MappingProxyType({}),
    own_runs: Mapping[str, Sequence[ObservedRun]] = MappingProxyType({}),
    aside: Sequence[ErrorAside] = (),
) -> tuple[Contrast, ...]:
    """Compare the named pairs of arms and write the results into `out`.

    `base_runs` names the arms of base, each with the runs of its jar that are known from before; `renamed` those of
    another Kafka, each with its statements that base has in other words or in another class, and `own_runs` what is
    known of that Kafka from before. `aside` are ERROR lines in logs that are not counted.
    """
    seconds = exposures(logs.nodes, logs.files)
    logged = list(counts_of(logs.nodes, logs.files))
    counts = _as_base_logs(logged, contrasts, renamed)
    progress(f"Comparing {len(counts)} template counts")
    known_runs = learned(counts, seconds)
    own = {
        arm: runs_in_words_of_base(
            runs, ((was, now) for was, now in zip(logged, counts, strict=True) if was.where.arm == arm)
        )
        for arm, runs in own_runs.items()
    }
    stock = stocks(counts, contrasts, base_runs, own)
    by_counts = {pair: contrast(*pair, counts, seconds, known_runs, stock.get(pair)) for pair in contrasts}
    found = tuple(
        replace(
            by_counts[pair],
            findings=(*by_counts[pair].findings, *new_errors(*pair, aside, counts)),
            renamed=renamed_sentences(*pair, renamed.get(pair[1], {}), logged, counts),
            of_two_kafkas=pair[1] in renamed and pair[0] not in renamed,
        )
        for pair in contrasts
    )
    not_compared = (sentence for pair in contrasts for sentence in missing(*pair, seconds))
    not_known = dict.fromkeys(sentence for each in stock.values() for sentence in each.unknown_sentences())
    left_out = (*logs.left_out, *cautions(logs.files), *not_compared, *not_known)
    for sentence in left_out:
        progress(sentence)
    write(out, logs.run, logs.nodes, logs.files, left_out, found, logs.unread)
    return found


def _as_base_logs(
    logged: Sequence[Count], contrasts: Sequence[tuple[str, str]], renamed: Mapping[str, Renamed]
) -> Sequence[Count]:
    """Return counts in which another version's lines have the words and loggers of the arm that it is held against."""
    counts: Sequence[Count] = [in_words_of_base(count, renamed.get(count.where.arm, {})) for count in logged]
    for base in dict.fromkeys(base for base, candidate in contrasts if candidate in renamed and base not in renamed):
        counts = in_like_words_of_base(under_loggers_of_base(counts, base, renamed.keys()), base, renamed.keys())
    return counts


def _counted(
    spark: SparkSession,
    root: Path,
    nodes: Sequence[NodeLogs],
    run: Path,
    known: Mapping[str, Library],
    copies: Mapping[str, str],
) -> tuple[dict[str, FileCounts], list[str]]:
    """Return what was counted of each log, and a sentence about those that are gone."""
    readings = {
        file: Reading(compile_layout(node.pattern), node.phases, node.names) for node in nodes for file in node.files
    }
    gone = cached_counts(run, nodes, [name for name in readings if name not in copies and is_gone(root / name)])
    here = {name: reading for name, reading in readings.items() if name not in gone}
    read_now = _with_origins(nodes, read(spark, root, here, copies), here, known)
    return {name: gone[name].counts if name in gone else read_now[name] for name in readings}, _gone(gone)


def _gone(logs: Mapping[str, CachedCounts]) -> list[str]:
    first = min(logs, default="")
    what = f"{first} is gone" if len(logs) == 1 else f"{len(logs)} logs are gone, {first} first"
    masked = "" if all(log.is_masked_alike for log in logs.values()) else "; it was masked by other rules than today's"
    return [f"{what}: what an earlier diff counted is compared{masked}."] if logs else []


def _with_origins(
    nodes: Sequence[NodeLogs],
    files: Mapping[str, FileCounts],
    readings: Mapping[str, Reading],
    known: Mapping[str, Library],
) -> dict[str, FileCounts]:
    """Return the counts with the place in the sources that each template comes from."""
    of_arm: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        of_arm[node.arm] += [name for name in node.files if name in files]
    placed: dict[str, FileCounts] = {}
    for arm, names in of_arm.items():
        versions = {} if arm in known else versions_of({name: files[name].counts for name in names})
        origins = {version: Origins(library(version) if version else Library()) for version in {*versions.values()}}
        of_sources = Origins(known[arm]) if arm in known else None
        for name in names:
            own = of_sources or origins[versions[name]]
            placed[name] = replace(files[name], counts=own.with_origins(files[name].counts, readings[name]))
    return placed


def missing(base: str, candidate: str, seconds: Iterable[Where]) -> list[str]:
    """Return a sentence for each kind of node of which only one of the arms has logs."""
    places = {(where.arm, where.scenario, where.node_role) for where in seconds}
    both = comparable(base, candidate, seconds)
    return [
        f"{scenario}, {node_role}: only {arm} has logs, so {base} and {candidate} are not compared there."
        for arm, scenario, node_role in sorted(places)
        if arm in (base, candidate) and (scenario, node_role) not in both
    ]


def counts_of(nodes: Sequence[NodeLogs], files: Mapping[str, FileCounts]) -> Iterator[Count]:
    """Yield what all nodes of some runs logged, from the counts of their files; COUNTS with what `Origins` adds."""
    for node, late in zip(nodes, last_stretches(nodes, files), strict=True):
        yield from _counts_of(node, files, late)


def _counts_of(node: NodeLogs, files: Mapping[str, FileCounts], late: float) -> Iterator[Count]:
    starts = {phase.name: phase.start for phase in node.phases if phase != WHOLE_LOG}
    places = {
        name: Where(node.arm, node.scenario, node.node_role, name, node.repeat)
        for name in (OUTSIDE, *(phase.name for phase in node.phases))
    }
    for name in node.files:
        for row in files[name].counts.iter_rows(named=True):
            start, first_at, last_at = starts.get(row["phase"]), *((row[each] or 0) / 1000 for each in _TIMES)
            yield Count(
                places[row["phase"]],
                _shared(row["level"]),
                _shared(row["logger"]),
                template := unordered(row["template"]),
                row["count"],
                name,
                row["line"],
                row["excerpt"],
                _shared(row["statement"]),
                "" if row["part"] == "item" else family(template),
                _shared(row["wording"]),
                _shared(tuple(row["values"])),
                node.node,
                node.roles.get(row["phase"], ""),
                None if start is None else max(first_at - start, 0.0),
                last_at,
                row["phase"] != OUTSIDE and first_at < late,
                row["phase"] != OUTSIDE and last_at >= late,
            )


@lru_cache(1 << 16)
def _shared(value: T) -> T:
    """Return the equal value that came first: files by the hundred have the same templates."""
    return value


@contextmanager
def opened(out: Path, toolbox: Toolbox, progress: Progress, master: str = "") -> Iterator[SparkSession]:
    """Open Spark with its temporary files below the results' folder, which is made if need be."""
    out.mkdir(parents=True, exist_ok=True)
    progress(f"Asking Spark at {master}" if master else "Starting Spark")
    with session(out, toolbox, master) as spark:
        yield spark
