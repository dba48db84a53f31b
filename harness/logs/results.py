"""What the log diff leaves in the run directory: counts, totals, findings; each appears by atomic rename."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from harness.errors import HarnessError
from harness.logs.pipeline import FileCounts, FileTotal
from harness.model import Contrast, NodeLogs
from harness.records import to_json

SCHEMA = 1  # of counts.parquet and totals.json; in the Parquet file's metadata as `harness.schema`


@dataclass(frozen=True, slots=True)
class Totals:
    """What was read, file by file, and what could not be compared or read, in words."""

    schema: int
    files: tuple[FileTotal, ...]
    left_out: tuple[str, ...]


def write(
    out: Path,
    nodes: Sequence[NodeLogs],
    files: Mapping[str, FileCounts],
    left_out: tuple[str, ...],
    found: tuple[Contrast, ...],
) -> None:
    """Write `counts.parquet`, `totals.json` and `findings.json` into `out`."""
    totals = Totals(SCHEMA, tuple(file.total for file in files.values()), left_out)
    _appear(out / "counts.parquet", lambda path: _write_parquet(table(nodes, files), path))
    _appear(out / "totals.json", lambda path: _write_text(path, to_json(totals)))
    _appear(out / "findings.json", lambda path: _write_text(path, to_json(found)))


def table(nodes: Sequence[NodeLogs], files: Mapping[str, FileCounts]) -> pl.DataFrame:
    """Return all counts with the run and node they are of, one row per template, level, logger, phase and file."""
    parts = [
        files[name]
        .counts.select(
            scenario=pl.lit(node.scenario),
            arm=pl.lit(node.arm),
            repeat=pl.lit(node.repeat, pl.Int32),
            node=pl.lit(node.node, pl.Int32),
            node_role=pl.lit(node.node_role),
            file=pl.lit(name),
            columns=pl.struct(pl.all()),
        )
        .unnest("columns")
        for node in nodes
        for name in node.files
    ]
    return pl.concat(parts)


def _write_parquet(counts: pl.DataFrame, path: Path) -> None:
    arrow = counts.to_arrow(compat_level=pl.CompatLevel.oldest())
    pq.write_table(arrow.replace_schema_metadata({"harness.schema": str(SCHEMA)}), path)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _appear(path: Path, writing: Callable[[Path], None]) -> None:
    """Write to a neighbour and rename it, so that nobody ever sees half a file."""
    part = path.with_name(f".{path.name}.part")
    try:
        writing(part)
        part.replace(path)
    except OSError as error:
        raise HarnessError(f"{path} could not be written: {error.strerror or error}.") from error
    finally:
        part.unlink(missing_ok=True)
