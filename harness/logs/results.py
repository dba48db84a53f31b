"""What the log diff leaves in the run directory: counts, totals, findings; they appear together or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pyarrow.parquet as pq

from harness.errors import HarnessError
from harness.logs.pipeline import FileCounts, FileTotal
from harness.model import Contrast, NodeLogs
from harness.records import to_json
from harness.store import PARTIAL, write_text

SCHEMA = 3  # of counts.parquet and totals.json; in the Parquet file's metadata as `harness.schema`


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
    """Write `counts.parquet`, `totals.json` and `findings.json` into `out`: all of them before the first appears."""
    totals = Totals(SCHEMA, tuple(file.total for file in files.values()), left_out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=out, prefix=PARTIAL) as folder:
            staged = Path(folder)
            _write_parquet(table(nodes, files), staged / "counts.parquet")
            write_text(staged / "totals.json", to_json(totals))
            write_text(staged / "findings.json", to_json(found))
            for path in sorted(staged.iterdir()):
                path.replace(out / path.name)
    except OSError as error:
        raise HarnessError(f"The results in {out} could not be written: {error.strerror or error}.") from error


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
