"""Run directories that tables come back to: declared once, and anew when what they are declared from has changed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from harness.base.files import write_text
from harness.base.progress import Reporter
from harness.model.request import Request
from harness.rundir.directory import RunDirectory
from harness.stages.build import build
from harness.stages.inputs import read_inputs
from harness.stages.rules_digest import digest_of, digest_of_texts
from harness.toolbox.toolbox import Toolbox

_LEVEL = Request()


def declare_once(folder: Path, request: Request, toolbox: Toolbox, reporter: Reporter, rules: str = "") -> None:
    """Build what is to be run, unless the folder has that of the same request, scenarios, series and `rules`.

    Which tests are run of a jar, and how many clusters side by side, changes nothing of what is built. Raises
    HarnessError, CompileError among them.
    """
    directory, note = RunDirectory(folder), folder / "made-from"
    made_from = digest_of_texts((rules, _made_from(request, toolbox)))
    before = directory.request.read_if_exists()
    is_same = before is not None and _question(before) == _question(request)
    if is_same and directory.declaration.exists and note.is_file() and note.read_text(encoding="utf-8") == made_from:
        directory.request.write(request)
        return
    shutil.rmtree(folder, ignore_errors=True)
    directory.request.write(request)
    write_text(note, made_from)
    build(folder, toolbox, reporter)


def _question(request: Request) -> Request:
    return replace(request, tests=_LEVEL.tests, jobs=_LEVEL.jobs, offline=_LEVEL.offline)


def _made_from(request: Request, toolbox: Toolbox) -> str:
    """Return a digest of what a request only names: the scenarios of its suite, the files of its series."""
    inputs = read_inputs(request, toolbox)
    series = [Path(inputs.setup.series)] if inputs.setup.series else []
    return digest_of_texts((*(scenario.name for scenario in inputs.scenarios), digest_of(series)))
