"""The log lines that claims expect, looked for in runs of the candidate: as it is claimed to work, and switched off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.tails import beginnings
from harness.base.text import cut
from harness.model.arms import Role
from harness.model.declaration import Declaration
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
    found = {chain.claim: _first_of(directory, _of(results, Role.ON, chain), chain) for chain in chains}
    return {claim: line for claim, line in found.items() if line}


def lines_with_flag_off(
    directory: RunDirectory, declaration: Declaration, results: Sequence[RunResult], chains: Iterable[ClaimChain]
) -> Mapping[str, Evidence]:
    """Return, by claim, the first such line on the `off` arm, where its control ran too and logs none in any scenario.

    What the control logs somewhere it may have left out here by chance. A line that names the flag tells of its
    setting, and is no effect of the change. A log that is gone is a HarnessError.
    """
    control = declaration.control_of(Role.OFF)
    beside = [result for result in results if control and result.arm == control.name and result.outcome.is_decided]
    found = {}
    for chain in chains:
        ran_too = any(result.scenario == chain.scenario for result in beside)
        line = _first_of(directory, _of(results, Role.OFF, chain), chain, declaration.flag_key) if ran_too else None
        if line and not _first_of(directory, beside, chain):
            found[chain.claim] = line
    return found


def _of(results: Iterable[RunResult], role: Role, chain: ClaimChain) -> list[RunResult]:
    """Return the runs of a role in a claim's scenario."""
    return [result for result in results if result.role is role and result.scenario == chain.scenario]


def _first_of(
    directory: RunDirectory, results: Iterable[RunResult], chain: ClaimChain, but_for: str = ""
) -> Evidence | None:
    """Return the first line of these runs that a claim expects, if it expects one; none that has `but_for` in it."""
    if not chain.evidence:
        return None
    wanted, unwanted = re.compile(chain.evidence), but_for
    paths = (path for result in results for path in _log_files(directory.run(result.key)))
    return next(filter(None, (_match(directory.path, path, wanted, unwanted) for path in paths)), None)


def _log_files(run: RunFolder) -> list[str]:
    """Return the log files of a run, observers' first: they are what claims are about."""
    logs = run.logs.read_if_exists() or ()
    return [file for node in sorted(logs, key=lambda n: n.node_role != "observer") for file in node.files]


def _match(run_dir: Path, path: str, wanted: re.Pattern[str], unwanted: str) -> Evidence | None:
    if not (run_dir / path).is_file():
        raise HarnessError(
            f"{run_dir / path} is gone, and a claim expects a line in it.",
            "Old runs without their logs can be compared again, but not judged.",
        )
    for number, raw in beginnings(run_dir / path, most=_MOST_BYTES + 1):
        line = raw.decode("utf-8", "replace") if len(raw) <= _MOST_BYTES else ""
        if line and wanted.search(line) and not (unwanted and unwanted in line):
            return Evidence(path, number, cut(line.strip(), _EXCERPT))
    return None
