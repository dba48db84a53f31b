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


def convert(folder: Path, reporter: Reporter) -> None:
    """Convert a run directory, a night with its verifications, or a file with the history of nights, in place.

    A verification that was judged is judged again, and its report written again. Raises HarnessError for a folder that
    is none of these, and for a newer schema.
    """
    if folder.is_file():
        _convert_history(folder)
    elif NightFolder(folder).night.exists:
        _convert_night(NightFolder(folder), reporter)
    else:
        _convert_run_directory(RunDirectory(folder), reporter)
    reporter.report(f"{folder} has schema {schema1.SCHEMA}")


def _convert_night(place: NightFolder, reporter: Reporter) -> None:
    night = place.night.path
    _check_not_newer(night)
    for path in sorted(place.path.glob("*/")):
        if RunDirectory(path).declaration.exists:
            _convert_run_directory(RunDirectory(path), reporter)
    if place.waivers.is_file():
        write_text(place.waivers, schema1.waivers(place.waivers.read_text(encoding="utf-8")))
    _convert_record(night, schema1.night)
    reporter.report(f"The night's own pages are written by: harness merge {place.path} --out FOLDER")


def _convert_run_directory(directory: RunDirectory, reporter: Reporter) -> None:
    declaration = directory.declaration
    if not declaration.exists:
        declaration.read()
    _check_not_newer(declaration.path)
    _convert_rollout(directory)
    for run in (*directory.runs(), *directory.coverage_runs.runs()):
        _convert_run(run, schema1.result)
    for pattern, change in schema1.RECORDS.items():
        for path in sorted(directory.path.glob(pattern)):
            _convert_record(path, change)
    if directory.verdict.exists or directory.rollout.exists:
        _judge_again(directory, reporter)


def _convert_rollout(directory: RunDirectory) -> None:
    """Convert rollout.json, and make every rehearsal a run: it was a folder of its own."""
    rollout = directory.rollout.path
    if not rollout.is_file():
        return
    found = _document(rollout)
    if found.get("schema") != 1:
        return
    _write(directory.roll_plan.path, schema1.roll_plan(found))
    for folder in sorted(directory.path.glob("rehearsals/*")):
        run = directory.run(RunKey(folder.name, schema1.ARM_OF_ROLL, 1))
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
        _write(run.rehearsal.path, schema1.rehearsed(result))
        _convert_record(run.result.path, schema1.rehearsal)
    expectation = run.result.read().expectation
    journal = schema1.lines(_text(run.journal), lambda event: schema1.event_of_rehearsal(event, expectation))
    write_text(run.journal, journal)
    _write(run.seal.path, schema1.seal_of_rehearsal(_digest(journal)))


def _convert_run(run: RunFolder, result: Change) -> None:
    """Convert the files of a run; its seal stays right, or stays wrong where the journal was changed after the run."""
    if run.journal.is_file():
        before = _text(run.journal)
        after = schema1.lines(before, schema1.event)
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
    for number, line in enumerate(_text(path).splitlines(), 1):
        _check_old(parse_json(line), f"{path}, line {number}", path)
    write_text(path, schema1.lines(_text(path), schema1.past_night))


def _convert_record(path: Path, change: Change) -> None:
    document = _document(path)
    try:
        converted = change(document)
    except (AttributeError, KeyError, TypeError) as error:
        raise HarnessError(f"{path} is damaged: it is not what schema 1 knows by this name.") from error
    if converted != document:
        _write(path, converted)


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
