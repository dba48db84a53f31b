"""Whether the log diff was about the results that are judged: what it compared is noted beside its findings."""

from __future__ import annotations

from collections.abc import Mapping

from harness.base.files import sha256_of
from harness.model.log_comparison import LogComparison
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import RunFolder


def note_comparison(directory: RunDirectory, failed: str = "") -> None:
    """Note of which results the logs were compared, or why that failed."""
    directory.logs.comparison.write(LogComparison(_digests(directory), failed))


def comparison_to_note(directory: RunDirectory) -> LogComparison | None:
    """Return what a folder of before has no note of, by the times of its files: a copy would have others."""
    if directory.logs.comparison.exists or not (directory.logs.findings.exists and directory.declaration.is_whole):
        return None
    newer = _newer(directory)
    return LogComparison({run: digest for run, digest in _digests(directory).items() if run not in newer})


def why_not_compared(directory: RunDirectory) -> str:
    """Return in a sentence why no log diff is about the results that are there; empty when one is.

    In a folder of before, which has no note of it, the findings count that are newer than every result.
    """
    noted = directory.logs.comparison.read_if_exists()
    if noted and noted.failed:
        return f"The log diff failed, so nobody knows what the candidate logs: {noted.failed}"
    if not directory.logs.findings.exists:
        return "The logs were not compared: `harness diff` was not run."
    changed = _changed(directory, noted) if noted else _newer(directory)
    if not changed:
        return ""
    return f"The log diff is older than {changed[0]}, so it was of other runs: run `harness diff` again."


def _changed(directory: RunDirectory, noted: LogComparison) -> list[str]:
    return [path for path, digest in _digests(directory).items() if noted.results.get(path) != digest]


def _newer(directory: RunDirectory) -> list[str]:
    compared_at = directory.logs.findings.path.stat().st_mtime_ns
    return [run.name for run in _declared(directory) if run.result.path.stat().st_mtime_ns > compared_at]


def _digests(directory: RunDirectory) -> Mapping[str, str]:
    return {run.name: sha256_of(run.result.path) for run in _declared(directory)}


def _declared(directory: RunDirectory) -> list[RunFolder]:
    """Return the runs that count; an earlier plan may have left others."""
    declaration = directory.declaration.read()
    return [directory.run(result.key) for result in directory.results() if declaration.declares(result)]
