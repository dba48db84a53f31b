"""What the log diff leaves in the run directory: counts, totals and findings, none of them half-written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.base.errors import HarnessError
from harness.base.files import PARTIAL, write_text
from harness.base.json import to_json
from harness.logs.kept import SCHEMA, parquet_files, write_counts
from harness.logs.read.pipeline import FileCounts
from harness.model.findings import Contrast
from harness.model.log_totals import Totals
from harness.model.node_logs import NodeLogs


def write(
    out: Path,
    run: Path,
    nodes: Sequence[NodeLogs],
    files: Mapping[str, FileCounts],
    left_out: tuple[str, ...],
    found: tuple[Contrast, ...],
) -> None:
    """Write `totals.json` and `findings.json` into `out`, and the counts into `run`, the run's folder below it.

    All are written before the first is put in its place, and each file is put there at once.
    """
    totals = Totals(SCHEMA, tuple(file.total for file in files.values()), left_out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=out, prefix=PARTIAL) as folder:
            staged = Path(folder)
            write_counts(staged / run.relative_to(out), nodes, files)
            write_text(staged / "totals.json", to_json(totals))
            write_text(staged / "findings.json", to_json(found))
            _put(staged, run, out)
    except OSError as error:
        raise HarnessError(f"The results in {out} could not be written: {error.strerror or error}.") from error


def _put(staged: Path, run: Path, out: Path) -> None:
    """Put each file in its place; counts of what the run directory no longer declares go last."""
    written = [path.relative_to(staged) for path in parquet_files(staged / run.relative_to(out))]
    for path in (*written, Path("totals.json"), Path("findings.json")):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (staged / path).replace(out / path)
    for stale in set(parquet_files(run)) - {out / path for path in written}:
        stale.unlink()
        for folder in stale.parents[:2]:
            if not any(folder.iterdir()):
                folder.rmdir()
