"""What the log diff leaves in the run directory: counts, totals and findings, none of them half-written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.base.errors import HarnessError
from harness.base.files import PARTIAL
from harness.logs.count_cache import SCHEMA, parquet_files, write_counts
from harness.logs.read.pipeline import FileCounts
from harness.model.findings import Contrast
from harness.model.log_totals import Totals
from harness.model.node_logs import NodeLogs
from harness.rundir.parts import LogsFolder


def write(
    out: LogsFolder,
    run: Path,
    nodes: Sequence[NodeLogs],
    files: Mapping[str, FileCounts],
    left_out: tuple[str, ...],
    found: tuple[Contrast, ...],
    unread: Sequence[str] = (),
) -> None:
    """Write `totals.json` and `findings.json` into `out`, and the counts into `run`, the run's folder below it.

    All are written before the first is put in its place, and each file is put there at once.
    """
    totals = Totals(SCHEMA, tuple(file.total for file in files.values()), left_out, tuple(unread))
    try:
        out.path.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=out.path, prefix=PARTIAL) as folder:
            staged = LogsFolder(Path(folder))
            write_counts(staged.path / run.relative_to(out.path), nodes, files)
            staged.totals.write(totals)
            staged.findings.write(found)
            _put(staged, run, out)
    except OSError as error:
        raise HarnessError(f"The results in {out.path} could not be written: {error.strerror or error}.") from error


def _put(staged: LogsFolder, run: Path, out: LogsFolder) -> None:
    """Put each file in its place; counts of what the run directory no longer declares go last."""
    counts = parquet_files(staged.path / run.relative_to(out.path))
    written = [path.relative_to(staged.path) for path in (*counts, staged.totals.path, staged.findings.path)]
    for path in written:
        (out.path / path).parent.mkdir(parents=True, exist_ok=True)
        (staged.path / path).replace(out.path / path)
    for stale in set(parquet_files(run)) - {out.path / path for path in written}:
        stale.unlink()
        for folder in stale.parents[:2]:
            if not any(folder.iterdir()):
                folder.rmdir()
