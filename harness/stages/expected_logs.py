"""The log lines that claims expect, looked for in the runs of the candidate as it is claimed to work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.text import cut
from harness.model.arms import Role
from harness.model.proof import ClaimChain
from harness.model.runs import Evidence, RunResult
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import RunFolder

_MOST_BYTES = 20_000  # of a line; what is longer is no line that a claim speaks of
_EXCERPT = 400


def expected_lines(
    directory: RunDirectory, results: Sequence[RunResult], chains: Iterable[ClaimChain]
) -> Mapping[str, Evidence]:
    """Return, by claim, the first line on the `on` arm that matches what the claim expects; none where none does.

    A log that is gone is a HarnessError.
    """
    found = {}
    for chain in chains:
        runs = [directory.run(r.key) for r in results if r.role is Role.ON and r.scenario == chain.scenario]
        line = _first(directory.path, runs, re.compile(chain.evidence.encode())) if chain.evidence else None
        if line:
            found[chain.claim] = line
    return found


def _first(run_dir: Path, runs: Iterable[RunFolder], wanted: re.Pattern[bytes]) -> Evidence | None:
    paths = (path for run in runs for path in _log_files(run))
    return next(filter(None, (_match(run_dir, path, wanted) for path in paths)), None)


def _log_files(run: RunFolder) -> list[str]:
    """Return the log files of a run, observers' first: they are what claims are about."""
    logs = run.logs.read_if_exists() or ()
    return [file for node in sorted(logs, key=lambda n: n.node_role != "observer") for file in node.files]


def _match(run_dir: Path, path: str, wanted: re.Pattern[bytes]) -> Evidence | None:
    if not (run_dir / path).is_file():
        raise HarnessError(
            f"{run_dir / path} is gone, and a claim expects a line in it.",
            "Old runs without their logs can be compared again, but not judged.",
        )
    with (run_dir / path).open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if len(line) <= _MOST_BYTES and wanted.search(line):
                return Evidence(path, number, cut(line.decode("utf-8", "replace").strip(), _EXCERPT))
    return None
