"""Runs of base that many jars are held against: made once, lent to the run directory of each."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import move_folder
from harness.base.locks import scratch
from harness.base.progress import Reporter
from harness.engine.planned_run import PlannedRun
from harness.engine.sealing import mismatch
from harness.model.arms import Role
from harness.model.request import Request
from harness.model.runs import RunKey
from harness.rundir.directory import RunDirectory
from harness.stages import run as run_stage
from harness.stages.declared_once import declare_once
from harness.stages.kept import origin_now
from harness.stages.rules_digest import making_digest
from harness.toolbox.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class LentBase:
    """A run directory with runs of base alone; `scenarios` are those that base decided, and that can be lent."""

    directory: RunDirectory
    scenarios: frozenset[str]

    def lend(self, cell: PlannedRun, run_dir: Path) -> None:
        """Put a run of base into another run directory, unless that has it, and note there where it comes from: no
        costs are compared with it.

        Raises HarnessError when it was made otherwise than the other directory declares.
        """
        borrowed = RunDirectory(run_dir).run(cell.key)
        if not self.has_lent(cell.key, run_dir):
            shutil.rmtree(borrowed.path, ignore_errors=True)
            self._copy(cell.key, run_dir)
        if why := mismatch(run_dir, cell):
            raise HarnessError(f"{borrowed.path} cannot be lent: {why}.", f"Remove {self.directory.path}.")

    def _copy(self, key: RunKey, run_dir: Path) -> None:
        """Copy a run whole or not at all: what Ctrl-C left of one would be taken for it."""
        lent, borrowed = self.directory.run(key), RunDirectory(run_dir).run(key)
        with scratch(run_dir) as folder:
            copy = RunDirectory(folder).run(key)
            shutil.copytree(lent.path, copy.path, copy_function=os.link)
            origin = origin_now(self.directory.path, lent.seal.read().journal)
            copy.result.write(replace(copy.result.read(), origin=origin))
            borrowed.path.parent.mkdir(parents=True, exist_ok=True)
            move_folder(copy.path, borrowed.path)

    def has_lent(self, key: RunKey, run_dir: Path) -> bool:
        """Whether a run directory's run of base is the one that is lent."""
        own, lent = RunDirectory(run_dir).run(key), self.directory.run(key)
        return own.seal.exists and lent.seal.exists and own.seal.read().journal == lent.seal.read().journal


def prepare_base(folder: Path, request: Request, toolbox: Toolbox, reporter: Reporter) -> LentBase:
    """Run every scenario of a request on base alone, unless that was done by today's rules."""
    declare_once(folder, replace(request, arms=(str(Role.BASE),)), toolbox, reporter, making_digest())
    run_stage.run(folder, toolbox, reporter)
    return LentBase(RunDirectory(folder), _decided(RunDirectory(folder)))


def _decided(directory: RunDirectory) -> frozenset[str]:
    """Return the scenarios in which every run was decided; a spare is of another number than the run that is lent."""
    undecided = {result.scenario for result in directory.results() if not result.outcome.is_decided}
    return frozenset(result.scenario for result in directory.results()) - undecided
