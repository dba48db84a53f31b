"""What was counted of logs, kept as Parquet in folders that Spark, DuckDB and Polars read as one table.

`counts/run=…/scenario=…/arm=…/counts.parquet`: what stands in the names of folders is not in the files again. Each file
also says, in its metadata, whose logs it was counted from and what they held in all, so that a later diff can take it
for logs that are gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.logs.read.event_counts import COUNTS
from harness.logs.read.library import ORIGIN
from harness.logs.read.masks import MASKS
from harness.logs.read.pipeline import FileCounts
from harness.model.log_totals import FileTotal
from harness.model.node_logs import NodeLogs
from harness.rundir.parts import LogsFolder

SCHEMA = 4  # of the counts and of totals.json; in the metadata of each Parquet file as `harness.schema`
COUNTED = pl.Schema({**COUNTS, **ORIGIN})

_FILE = "counts.parquet"
_MUST_BE_THERE = "The logs that it was counted from are gone: get it, or them, from a copy of the run directory."
_MASKS = sha256(repr(MASKS).encode()).hexdigest()
_NODES_AT_ONCE = 64  # whose counts are held twice while they are written
_LONGEST = 80  # characters of a value in a folder's name, each of up to 3 bytes of the 255 that file systems take
_ESCAPED = re.compile(r"""[\x00-\x1f\x7f"#%'*/:=?\\{}\[\]^]""")  # as Hive does in the names of partitions
_PLACE = pl.Schema({"repeat": pl.Int32, "node": pl.Int32, "node_role": pl.String, "file": pl.String})


@dataclass(frozen=True, slots=True)
class CachedCounts:
    """What an earlier diff counted of a log; whether it masked lines as is done today."""

    counts: FileCounts
    is_masked_alike: bool


def run_folder(out: LogsFolder, name: str) -> Path:
    """Return the folder of a run's counts below `out`, after its first name if it was renamed or copied since."""
    known = list(out.counts.glob("run=*"))
    return known[0] if len(known) == 1 else out.counts / f"run={_escaped(name)}"


def write_counts(folder: Path, nodes: Sequence[NodeLogs], files: Mapping[str, FileCounts]) -> None:
    """Write the counts of all files into a run's folder."""
    for scenario, arm in sorted({(node.scenario, node.arm) for node in nodes}):
        of_arm = [node for node in nodes if (node.scenario, node.arm) == (scenario, arm)]
        path = folder.joinpath(*_folders(scenario, arm), _FILE)
        path.parent.mkdir(parents=True, exist_ok=True)
        totals = tuple(files[name].total for node in of_arm for name in node.files)
        metadata = {"schema": str(SCHEMA), "masks": _MASKS, "nodes": to_json(of_arm), "totals": to_json(totals)}
        schema = _arrow([], files).schema.with_metadata({f"harness.{key}": value for key, value in metadata.items()})
        with pq.ParquetWriter(path, schema) as writer:
            for at in range(0, len(of_arm), _NODES_AT_ONCE):
                writer.write_table(_arrow(of_arm[at : at + _NODES_AT_ONCE], files).cast(schema))


def _folders(scenario: str, arm: str) -> tuple[str, str]:
    return f"scenario={_escaped(scenario)}", f"arm={_escaped(arm)}"


def _escaped(value: str) -> str:
    """Return a value as the name of a partition's folder has it; one that is too long keeps its end and a digest."""
    short = value if len(value) <= _LONGEST else f"{sha256(value.encode()).hexdigest()[:12]}…{value[-40:]}"
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", short)


def _arrow(nodes: Sequence[NodeLogs], files: Mapping[str, FileCounts]) -> pa.Table:
    """Return one row per template, level, logger, phase and file, with the node that they are of."""
    parts = [
        files[name].counts.select(
            *(
                pl.lit(value, _PLACE[key]).alias(key)
                for key, value in zip(_PLACE, (node.repeat, node.node, node.node_role, name), strict=True)
            ),
            *COUNTED.names(),
        )
        for node in nodes
        for name in node.files
    ]
    rows = pl.concat([_PLACE.to_frame().hstack(COUNTED.to_frame()), *parts])
    return rows.to_arrow(compat_level=pl.CompatLevel.oldest())


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a run's folder, in the order of their paths."""
    return sorted(folder.glob(f"*/*/{_FILE}"))


def cached_counts(folder: Path, nodes: Iterable[NodeLogs], gone: Sequence[str]) -> dict[str, CachedCounts]:
    """Return what an earlier diff counted, in a run's folder, of those of the nodes' logs that are gone.

    Counts that are no Parquet, of another schema, or of other logs than the nodes' are a HarnessError.
    """
    found: dict[str, CachedCounts] = {}
    for node in nodes:
        names = [name for name in node.files if name in gone]
        path = folder.joinpath(*_folders(node.scenario, node.arm), _FILE)
        if names and path.is_file():
            found |= _of_node(path, node, names)
    return found


def _of_node(path: Path, node: NodeLogs, names: Sequence[str]) -> Iterator[tuple[str, CachedCounts]]:
    rows, metadata = _read(path)
    if node not in from_json(tuple[NodeLogs, ...], metadata["nodes"]):
        raise HarnessError(
            f"{path} was not counted from the log {names[0]} of which logs.json speaks, and that is gone.",
            "Was this scenario run again since? Run it once more.",
        )
    totals = {total.file: total for total in from_json(tuple[FileTotal, ...], metadata["totals"])}
    for name in names:
        counts = rows.filter(pl.col("file") == name).select(COUNTED.names())
        yield name, CachedCounts(FileCounts(counts, totals[name], ()), metadata["masks"] == _MASKS)


def _read(path: Path) -> tuple[pl.DataFrame, dict[str, str]]:
    try:
        table = pq.read_table(path, partitioning=None)
        raw = table.schema.metadata or {}
        metadata = {key.decode().removeprefix("harness."): value.decode() for key, value in raw.items()}
        if metadata.get("schema") == str(SCHEMA):
            return pl.DataFrame(pl.from_arrow(table)).select(*_PLACE.names(), *COUNTED.names()), metadata
    except (OSError, ValueError, pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise HarnessError(f"{path} cannot be read as counts of logs: {error}.", _MUST_BE_THERE) from error
    schema = metadata.get("schema", "none")
    raise HarnessError(f"{path} has schema {schema}, and this harness reads {SCHEMA}.", _MUST_BE_THERE)
