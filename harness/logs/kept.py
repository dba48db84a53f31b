"""What was counted of logs, kept as Parquet in folders that Spark, DuckDB and Polars read as one table.

`counts/run=…/scenario=…/arm=…/counts.parquet`: what stands in the names of folders is not in the files again. A later
diff takes from there what was counted of logs that are gone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from harness.errors import HarnessError
from harness.logs.events import COUNTS
from harness.logs.library import TOLD
from harness.logs.pipeline import FileCounts, FileTotal
from harness.model import NodeLogs

SCHEMA = 4  # of the counts and of totals.json; in the metadata of each Parquet file as `harness.schema`
COUNTED = pl.Schema({**COUNTS, **TOLD})

_FOLDER, _FILE = "counts", "counts.parquet"
_METADATA = b"harness.schema"
_LONGEST = 200  # characters of a folder's name, of the 255 that file systems take
_PLACE = pl.Schema({"repeat": pl.Int32, "node": pl.Int32, "node_role": pl.String, "file": pl.String})


def write_counts(run: str, nodes: Sequence[NodeLogs], files: Mapping[str, FileCounts], out: Path) -> None:
    """Write the counts of all files of a run directory of this name below `out`."""
    for scenario, arm in sorted({(node.scenario, node.arm) for node in nodes}):
        of_arm = [node for node in nodes if (node.scenario, node.arm) == (scenario, arm)]
        values = {"run": run, "scenario": scenario, "arm": arm}
        folder = out.joinpath(_FOLDER, *(_partition(key, value) for key, value in values.items()))
        folder.mkdir(parents=True, exist_ok=True)
        arrow = _table(of_arm, files).to_arrow(compat_level=pl.CompatLevel.oldest())
        pq.write_table(arrow.replace_schema_metadata({_METADATA: str(SCHEMA)}), folder / _FILE)


def _partition(key: str, value: str) -> str:
    """Return the name of a partition's folder as Hive writes it; a value that is too long for one is cut."""
    name = f"{key}={quote(value, safe='')}"
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}-{sha256(value.encode()).hexdigest()[:12]}"


def _table(nodes: Sequence[NodeLogs], files: Mapping[str, FileCounts]) -> pl.DataFrame:
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
    return pl.concat([_PLACE.to_frame().hstack(COUNTED.to_frame()), *parts])


def parquet_files(out: Path) -> list[Path]:
    """Return the Parquet files of counts below `out`, in the order of their paths."""
    return sorted((out / _FOLDER).glob(f"*/*/*/{_FILE}"))


def kept(out: Path, names: Collection[str], totals: Mapping[str, FileTotal]) -> dict[str, FileCounts]:
    """Return what an earlier diff into `out` counted of those of the named files that it read.

    Counts that are no Parquet or of another schema, or that stand in two places, are a HarnessError.
    """
    found: dict[str, FileCounts] = {}
    for path in parquet_files(out) if names else ():
        rows = _read(path)
        for (name,), of_file in rows.filter(pl.col("file").is_in(list(names))).group_by("file", maintain_order=True):
            if not isinstance(name, str) or name not in totals or name in found:
                raise HarnessError(f"{path} and the totals beside it are not of one diff.", _ANEW)
            found[name] = FileCounts(of_file.select(COUNTED.names()), totals[name], ())
    # Of a file without events there are no rows.
    empty = {name: totals[name] for name in names if name in totals and not totals[name].events}
    return {name: FileCounts(COUNTED.to_frame(), total, ()) for name, total in empty.items()} | found


_ANEW = "Delete the folder `logs` and run `harness diff` again where the nodes' logs are."


def _read(path: Path) -> pl.DataFrame:
    try:
        table = pq.read_table(path, partitioning=None)
        schema = (table.schema.metadata or {}).get(_METADATA, b"none").decode("ascii", "replace")
        if schema == str(SCHEMA):
            return pl.DataFrame(pl.from_arrow(table)).select(*_PLACE.names(), *COUNTED.names())
    except (OSError, pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise HarnessError(f"{path} cannot be read as counts of logs: {error}.", _ANEW) from error
    raise HarnessError(f"{path} has schema {schema}, and this harness reads {SCHEMA}.", _ANEW)
