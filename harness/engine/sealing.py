"""What a run was made with, and digests of what it left: by it a result is used again, or refused (seal.json)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.base.json import from_json, to_json
from harness.cluster.install import Install
from harness.engine.planned_run import PlannedRun
from harness.model.events import OutcomeDecided
from harness.model.runs import RunResult
from harness.model.seal import RunInputs, Seal
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal
from harness.rundir.parts import RunFolder, shutdown_log
from harness.scenario.steps import described

_DIGITS = 12


def inputs_of(cell: PlannedRun) -> RunInputs:
    """Return what a cell is declared to be run with."""
    return RunInputs(
        plan=_plan_digest(cell),
        jar=cell.install.sha256,
        other_jars=tuple(_jars_of(other, cell.install) for _, other in sorted(cell.others.items())),
        java=cell.java,
        profile=str(cell.node_parts.profile),
        repeat=cell.key.repeat,
        beside=_beside(cell.install.beside),
        harness=cell.harness,
    )


def seal_of(cell: PlannedRun, folder: RunFolder, result: RunResult) -> Seal:
    """Return the seal of a run that has ended in `folder` with a result."""
    return Seal(inputs_of(cell), sha256_of(folder.journal), _digests_of_logs(folder), _result_digest(result))


def _digests_of_logs(folder: RunFolder) -> Mapping[str, str]:
    """Return the digests of the logs that a run left, and of the list of them."""
    if not folder.logs.exists:
        return {}
    files = (name for node in folder.logs.read() for file in node.files for name in (file, shutdown_log(file)))
    named = {folder.evidence(folder.logs.path).path, *files}
    return {file: sha256_of(path) for file in sorted(named) if (path := folder.root / file).is_file()}


def differences(inputs: RunInputs, declared: RunInputs) -> str:
    """Return in words how what a run was made with differs from what is declared; empty when it does not. Pure."""
    pairs = zip(asdict(inputs).items(), asdict(declared).values(), strict=True)
    return "; ".join(
        f"its {name} was {_short(name, was)}, declared is {_short(name, now)}"
        for (name, was), now in pairs
        if was != now and not (name == "harness" and not was)
    )


def mismatch(root: Path, cell: PlannedRun) -> str:
    """Return why the result that lies below `root` cannot stand for a cell; empty when it can."""
    try:
        return differences(check_result(RunDirectory(root).run(cell.key)).inputs, inputs_of(cell))
    except HarnessError as error:
        return error.message.rstrip(".")


def check_result(run: RunFolder) -> Seal:
    """Return a run's seal when its result is whole, and journal and logs are those that were written with it.

    A log that is gone is no forged one: what it held is missing, and the log diff says so.

    Raises HarnessError that names the file and says what is wrong with it.
    """
    seal, result, journal = run.seal.read(), run.result.read(), run.journal
    if not journal.is_file() or sha256_of(journal) != seal.journal:
        raise _refused(run, journal, "is not the journal that was written in this run: it was changed afterwards")
    _check_logs(run, seal)
    if result.key != run.key:
        raise _refused(run, run.result.path, f"is the result of another run: it names {result.key.folder}")
    if recorded_outcome(journal) != (result.outcome, result.expectation, result.reason):
        raise _refused(run, run.result.path, f"says {result.outcome}, and the outcome in {journal.name} differs")
    if seal.result and seal.result != _result_digest(result):
        raise _refused(run, run.result.path, "is not the result that this run was given: it was changed afterwards")
    return seal


def check_logs(run_dir: Path) -> None:
    """Check that the logs of a run directory are those that were written in its runs. Raises HarnessError.

    Of a run without a seal nobody can tell.
    """
    for run in RunDirectory(run_dir).runs():
        if run.seal.exists:
            _check_logs(run, run.seal.read())


def _check_logs(run: RunFolder, seal: Seal) -> None:
    for file, digest in seal.logs.items():
        path = run.root / file
        if path.is_file() and sha256_of(path) != digest:
            raise _refused(run, path, "is not the log that was written in this run: it was changed afterwards")


def check_results(run_dir: Path) -> None:
    """Check every result of a run directory before anything is said of them. Raises HarnessError: which, and why."""
    for run in RunDirectory(run_dir).runs():
        if run.result.exists:
            check_result(run)


def recorded_outcome(journal: Path) -> tuple[str, str, str]:
    """Return outcome, expectation and reason that a journal ends with; empty ones when it has no outcome."""
    outcomes = [entry.event for entry in read_journal(journal) if isinstance(entry.event, OutcomeDecided)]
    last = outcomes[-1] if outcomes else OutcomeDecided("", "", "")
    return last.outcome, last.expectation, last.reason


def _jars_of(other: Install, install: Install) -> str:
    """Return the digest of what another build replaces: its raft jar, or where it is another Kafka all its jars."""
    return (
        other.sha256 if other.beside == install.beside else _digest(f"{other.sha256} {_beside(other.beside)}".encode())
    )


def _beside(jars: Mapping[str, str]) -> str:
    text = "".join(f"{name} {digest}\n" for name, digest in sorted(jars.items()))
    return _digest(text.encode()) if text else ""


def _result_digest(result: RunResult) -> str:
    """Return the digest of a result as it is read back, where each figure has its declared type."""
    read_back = from_json(RunResult, to_json(replace(result, origin=None)))
    return _digest(to_json(read_back).encode())


def _plan_digest(cell: PlannedRun) -> str:
    scenario = cell.scenario
    steps = tuple(described(cell.plan().everything, cell.settings_in_force))
    text = to_json((steps, scenario.topology, scenario.budget, dict(cell.settings), cell.node_parts.line))
    return _digest(text.encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _short(name: str, value: object) -> str:
    return str(value)[:_DIGITS] if name in ("plan", "jar", "other_jars", "beside", "harness") else str(value)


def _refused(run: RunFolder, path: Path, why: str) -> HarnessError:
    again = RunDirectory(run.root).resume_command
    return HarnessError(f"{path} {why}.", f"Remove {run.path} and run that again: {again}")
