"""`harness convert`: folders that an earlier harness wrote, brought to today's names."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.json import parse_json
from harness.base.progress import Reporter
from harness.base.recordfile import check_schema
from harness.model.runs import RunKey
from harness.nightly.folder import NightFolder
from harness.rundir import schema1
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import RunFolder
from harness.stages import judge as judge_stage

Change = Callable[[Any], Any]
_NAME_ONE = "Name a run directory, a night or a history file."


def convert(folder: Path, reporter: Reporter) -> None:
    """Convert a run directory, a night with its verifications, or a file with the history of nights, in place.

    A verification that was judged is judged again, and its report written again. Raises HarnessError for a folder that
    is none of these, for a newer schema, for what is damaged, and for what cannot be read or written.
    """
    check_kind(folder)
    try:
        _convert(folder, reporter)
    except OSError as error:
        raise HarnessError(f"{error.filename or folder} cannot be converted: {error.strerror or error}.") from error
    reporter.report(f"{folder} has schema {schema1.SCHEMA}")


def check_kind(folder: Path) -> None:
    """Raise HarnessError for what is no run directory, no night and no file."""
    if not folder.exists():
        raise HarnessError(f"{folder} does not exist.", _NAME_ONE)
    if not (folder.is_file() or NightFolder(folder).night.exists or RunDirectory(folder).declaration.exists):
        raise HarnessError(f"{folder} is no run directory: it has no run.json.", _NAME_ONE)


def _convert(folder: Path, reporter: Reporter) -> None:
    if folder.is_file():
        _convert_history(folder)
    elif NightFolder(folder).night.exists:
        _convert_night(NightFolder(folder), reporter)
    else:
        _convert_run_directory(RunDirectory(folder), reporter)


def _convert_night(place: NightFolder, reporter: Reporter) -> None:
    night = place.night.path
    _check_not_newer(night)
    for path in sorted(place.path.glob("*/")):
        if RunDirectory(path).declaration.exists:
            _convert_run_directory(RunDirectory(path), reporter)
    if place.waivers.is_file():
        write_text(place.waivers, schema1.converted(schema1.waivers, _text(place.waivers), place.waivers))
    _convert_record(night, schema1.night)
    reporter.report(f"The night's own pages are written by: harness merge {place.path} --out FOLDER")


def _convert_run_directory(directory: RunDirectory, reporter: Reporter) -> None:
    _check_not_newer(directory.declaration.path)
    _check_rehearsals(directory)
    _convert_rollout(directory)
    for run in (*directory.runs(), *directory.coverage_runs.runs()):
        _convert_run(run, schema1.result)
    for pattern, change in schema1.RECORDS.items():
        for path in sorted(directory.path.glob(pattern)):
            _convert_record(path, change)
    if directory.verdict.exists or directory.rollout.exists:
        _judge_again(directory, reporter)


def _check_rehearsals(directory: RunDirectory) -> None:
    """Raise HarnessError for rehearsals that cannot become runs."""
    rehearsals = _rehearsals(directory)
    if rehearsals and not directory.rollout.exists:
        raise HarnessError(
            f"{directory.path} is a rollout that was cut short: it has rehearsals and no rollout.json, which says their"
            " plan.",
            "Begin it again with `harness rollout`.",
        )
    for folder in rehearsals:
        run = _run_of(directory, folder).path
        if run.is_file() or (run.is_dir() and any(run.iterdir())):
            raise HarnessError(f"{run} is occupied: {folder} is to be there.", "Move it away, and convert again.")


def _rehearsals(directory: RunDirectory) -> list[Path]:
    return sorted(path for path in directory.path.glob("rehearsals/*") if path.is_dir())


def _run_of(directory: RunDirectory, rehearsal: Path) -> RunFolder:
    return directory.run(RunKey(rehearsal.name, schema1.ARM_OF_ROLL, 1))


def _convert_rollout(directory: RunDirectory) -> None:
    """Convert rollout.json, and make every rehearsal a run: it was a folder of its own."""
    rollout = directory.rollout.path
    if not rollout.is_file():
        return
    found = _document(rollout)
    before = _document(directory.declaration.path)
    schema1.converted(lambda document: schema1.rollout(document, before), found, rollout)
    if found.get("schema") != 1:
        return
    _write(directory.roll_plan.path, schema1.roll_plan(found))
    for folder in _rehearsals(directory):
        run = _run_of(directory, folder)
        run.path.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(run.path)
    shutil.rmtree(directory.path / "rehearsals", ignore_errors=True)
    for run in directory.runs():
        _convert_record(run.logs.path, lambda nodes: [schema1.node_logs(each) for each in nodes])
        _convert_rehearsal(run)
    _convert_record(directory.declaration.path, lambda document: schema1.rehearsals_declared(document, found))
    declared = _document(directory.declaration.path)
    _convert_record(rollout, lambda document: schema1.rollout(document, declared))


def _convert_rehearsal(run: RunFolder) -> None:
    """Convert the files of a rehearsal, and seal it: from now on a change is noticed."""
    if not (run.result.exists and run.journal.is_file()):
        return
    result = _document(run.result.path)
    if schema1.is_rehearsal(result):
        _write(run.rehearsal.path, schema1.converted(schema1.rehearsed, result, run.result.path))
        _convert_record(run.result.path, schema1.rehearsal)
    expectation = run.result.read().expectation
    journal = schema1.lines(
        _text(run.journal), lambda event: schema1.event_of_rehearsal(event, expectation), run.journal
    )
    write_text(run.journal, journal)
    _write(run.seal.path, schema1.seal_of_rehearsal(_digest(journal)))


def _convert_run(run: RunFolder, result: Change) -> None:
    """Convert the files of a run; its seal stays right, or stays wrong where the journal was changed after the run."""
    if run.journal.is_file():
        before = _text(run.journal)
        after = schema1.lines(before, schema1.event, run.journal)
        if run.seal.exists:
            _convert_record(run.seal.path, lambda document: _resealed(document, before, after))
        write_text(run.journal, after)
    if run.result.exists:
        _convert_record(run.result.path, result)


def _resealed(document: Any, before: str, after: str) -> Any:
    """Return a seal of schema 2 for the journal `after`, if it sealed the journal as it was found."""
    seal = schema1.seal(document)
    return {**seal, "journal": _digest(after)} if seal["journal"] == _digest(before) else seal


def _judge_again(directory: RunDirectory, reporter: Reporter) -> None:
    """Replace what was made of the results: it says everything in the words of its day."""
    directory.verdict.path.unlink(missing_ok=True)
    try:
        judge_stage.judge_either(directory.path, reporter)
        judge_stage.report_either(directory.path, reporter)
    except HarnessError as error:
        reporter.report(f"{directory.path} was not judged again: {error}")


def _convert_history(path: Path) -> None:
    text = _text(path)
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        _check_old(_night_of(line, f"{path}, line {number}"), f"{path}, line {number}", path)
    write_text(path, schema1.lines(text, schema1.past_night, path))


def _night_of(line: str, where: str) -> Any:
    try:
        return parse_json(line)
    except HarnessError as error:
        raise HarnessError(f"{where} is no night of a history. {error.message}", _NAME_ONE) from error


def _convert_record(path: Path, change: Change) -> None:
    document = _document(path)
    made = schema1.converted(change, document, path)
    if made != document:
        _write(path, made)


def _write(path: Path, document: Any) -> None:
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def _check_not_newer(path: Path) -> None:
    _check_old(_document(path), path, path.parent)


def _check_old(document: Any, where: object, folder: Path) -> None:
    """Raise HarnessError for what has another schema than 1 or today's."""
    if not isinstance(document, dict) or document.get("schema") != 1:
        check_schema(document, schema1.SCHEMA, where, folder)


def _document(path: Path) -> Any:
    try:
        return parse_json(path.read_bytes())
    except HarnessError as error:
        raise HarnessError(f"{path} is damaged. {error.message}") from error


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
