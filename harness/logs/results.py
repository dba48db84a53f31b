"""What the log diff leaves in the run directory: counts, totals, findings; they appear together or not at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.errors import HarnessError
from harness.logs.kept import SCHEMA, kept, parquet_files, write_counts
from harness.logs.pipeline import FileCounts, FileTotal
from harness.model import Contrast, NodeLogs
from harness.records import from_json, to_json
from harness.store import PARTIAL, write_text


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
            write_counts(out.resolve().parent.name, nodes, files, staged)
            write_text(staged / "totals.json", to_json(totals))
            write_text(staged / "findings.json", to_json(found))
            _put(staged, out)
    except OSError as error:
        raise HarnessError(f"The results in {out} could not be written: {error.strerror or error}.") from error


def _put(staged: Path, out: Path) -> None:
    """Put each file in its place at once; what an earlier diff counted and this one did not goes last."""
    written = parquet_files(staged)
    places = {out / path.relative_to(staged) for path in written}
    for path in (*written, staged / "totals.json", staged / "findings.json"):
        place = out / path.relative_to(staged)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)
    for path in set(parquet_files(out)) - places:
        path.unlink()
        for folder in path.parents[:3]:
            if not any(folder.iterdir()):
                folder.rmdir()


def earlier(out: Path, names: Collection[str]) -> dict[str, FileCounts]:
    """Return what an earlier diff into `out` counted of those of the named files that it read."""
    path = out / "totals.json"
    if not names or not path.is_file():
        return {}
    totals = from_json(Totals, path.read_bytes())
    return kept(out, names, {total.file: total for total in totals.files})
