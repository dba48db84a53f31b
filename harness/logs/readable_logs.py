"""Logs from anywhere as they can be read: out of their archives, each node's by itself, with the layout of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.logs.read.apart import taken_apart
from harness.logs.read.carriers import PRETTY
from harness.logs.read.documents import one_a_line
from harness.logs.read.layout import KAFKA_DEFAULT, Layout, compile_layout
from harness.logs.read.layout_detection import layouts_of
from harness.logs.read.layout_fit import HOLE, dated, no_events
from harness.logs.read.newest_first import is_newest_first, turned
from harness.logs.read.node_names import NodeNames, node_names
from harness.logs.read.odd_names import linked, written_name
from harness.logs.read.places import UNSAYABLE, Among, first_lines, is_address, is_hidden, is_sayable, logs_among
from harness.logs.read.unpacking import unpacked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLE_LINES = 200  # of each file, by which its layout is recognised
FURTHER_LINES, FURTHER_BYTES = 50_000, 4 << 20  # of a file in whose first lines no event begins
_HIDDEN = "its name begins as hidden files do"


@dataclass(frozen=True, slots=True)
class ReadableLogs:
    """The logs in files, by name: `of_files` says which each file holds, itself or those in it.

    `layouts` are of the logs that fit one, `samples` the first lines by which they were found, `refused` why others
    cannot be read. `copies` are what others are read from: packed ones, documents, those whose names Spark cannot say,
    those of one node among several. Names are as they can be written down. `mixed` are logs
    of several nodes that stay one, with the reason. `eventless` are those without a layout that hold no events of a
    program, with what they hold; `others` are files of archives that are not named as logs are. `notes` are what is to
    be said of logs that are newest first.
    """

    of_files: Mapping[str, Sequence[str]]
    layouts: Mapping[str, Layout]
    samples: Mapping[str, Sequence[str]]
    refused: Mapping[str, str]
    copies: Mapping[str, str]
    mixed: Mapping[str, str]
    eventless: Mapping[str, str]
    others: Sequence[str]
    notes: Sequence[str] = ()


@contextmanager
def readable(spark: SparkSession, files: Sequence[str], folder: Path, pattern: str = "") -> Iterator[ReadableLogs]:
    """Give the logs in files, for the time being; what is copied for that lies below `folder`.

    With a `pattern`, a log4j conversion pattern, only that is a layout. A file that cannot be opened is a HarnessError.
    """
    here = [file for file in files if not is_hidden(file) and not is_address(file)]
    with ExitStack() as stack:
        links = stack.enter_context(linked(here, folder))
        packed = stack.enter_context(unpacked(here, folder))
        copies = {**links, **packed.copies}
        names = {file: written_name(file) for file in files}
        among = {file: _logs_of(name, packed.members.get(name, ())) for file, name in names.items()}
        every = [log for each in among.values() for log in each.logs]
        passed_over = _passed_over(every, copies)
        logs = [log for log in every if log not in packed.refused and log not in passed_over]
        documents = stack.enter_context(one_a_line([log for log in logs if not is_address(log)], copies, folder))
        copies |= documents.copies
        found = _layouts(spark, logs, copies, pattern, documents.refused)
        named = _naming_nodes(found)
        backwards = stack.enter_context(turned(_newest_first(found), copies, folder))
        copies |= backwards.copies
        named_here = {log: names for log, names in named.items() if not is_address(log)}
        apart = stack.enter_context(taken_apart(named_here, copies, folder))
        copies |= apart.copies
        mixed = {**apart.refused, **_mixed_elsewhere(named, found)}
        if apart.logs:
            each_node = [each for log in logs for each in apart.logs.get(log, (log,))]
            found = _layouts(spark, each_node, copies, pattern, documents.refused)
        yield ReadableLogs(
            {file: [node for log in each.logs for node in apart.logs.get(log, (log,))] for file, each in among.items()},
            found.layouts,
            found.samples,
            {**packed.refused, **passed_over, **found.refused},
            copies,
            mixed,
            found.eventless,
            [other for each in among.values() for other in each.others],
            backwards.notes,
        )


def _passed_over(logs: Sequence[str], copies: Mapping[str, str]) -> dict[str, str]:
    """Return why Spark cannot be asked for some logs by their names."""
    odd = (log for log in logs if log not in copies and not is_sayable(log))
    return dict.fromkeys(odd, f"Spark cannot name it: {UNSAYABLE}") | dict.fromkeys(filter(is_hidden, logs), _HIDDEN)


def _logs_of(file: str, members: Sequence[str]) -> Among:
    return logs_among(file, dict.fromkeys(members, 1)) if members else Among((file,))


@dataclass(frozen=True, slots=True)
class _Layouts:
    """The layout of each log that fits one, the first lines by which it was found, and why others have none: they could
    not be opened, are no documents, or as far as they were looked at hold no events of a program.
    """

    layouts: Mapping[str, Layout]
    samples: Mapping[str, Sequence[str]]
    refused: Mapping[str, str]
    eventless: Mapping[str, str]


def _layouts(
    spark: SparkSession, logs: Sequence[str], copies: Mapping[str, str], pattern: str, damaged: Mapping[str, str]
) -> _Layouts:
    """Return the layouts of logs by their first lines, or by later ones where no event begins there.

    `damaged` are documents that could not be copied, and why: of these only objects that are events can be read.
    """
    read_at = {copies.get(log, log): log for log in logs}
    first = first_lines(spark, list(read_at), SAMPLE_LINES)
    samples = {read_at[at]: lines for at, lines in first.lines.items()}
    layouts = layouts_of(samples, pattern)
    without: dict[str, str] = {}
    if further := [at for at, lines in first.lines.items() if lines and read_at[at] not in layouts]:
        deeper = first_lines(spark, further, FURTHER_LINES, FURTHER_BYTES).lines
        dated_lines = {read_at[at]: dated(lines, SAMPLE_LINES) for at, lines in deeper.items()}
        layouts = layouts_of(samples | dated_lines, pattern)
        without = {log: why for log, lines in dated_lines.items() if log not in layouts and (why := no_events(lines))}
    empty = {log: compile_layout(KAFKA_DEFAULT) for log, lines in samples.items() if not lines}
    unfit = {log: lines[0] for log, lines in samples.items() if lines and log not in layouts}
    holes = {log: HOLE for log, line in unfit.items() if line and not line.strip("\0")}
    left = {log: why for log, why in damaged.items() if log not in layouts or PRETTY not in layouts[log].carriers}
    fitting = {log: layout for log, layout in (layouts | empty).items() if log not in left}
    shown = {log: lines for log, lines in samples.items() if log not in left}
    refused = {read_at[at]: why for at, why in first.refused.items()}
    return _Layouts(
        fitting, shown, refused | holes | left, {log: without[log] for log in without.keys() - holes.keys()}
    )


def _newest_first(found: _Layouts) -> list[str]:
    """Return the logs on this machine that were exported newest first."""
    here = {log: layout for log, layout in found.layouts.items() if not is_address(log)}
    return [log for log, layout in here.items() if is_newest_first(layout, found.samples[log])]


def _naming_nodes(found: _Layouts) -> dict[str, NodeNames]:
    """Return where the lines of logs name their nodes, of those that have any that do."""
    names = {log: node_names(found.samples[log], layout.carriers) for log, layout in found.layouts.items()}
    return {log: each for log, each in names.items() if each}


def _mixed_elsewhere(named: Mapping[str, NodeNames], found: _Layouts) -> dict[str, str]:
    """Return the logs of several nodes that are at addresses, from where nothing is copied."""
    mixed = (log for log, names in named.items() if is_address(log) and names.are_several(found.samples[log]))
    return dict.fromkeys(mixed, "it is not on this machine")
