"""Whether a jar that is wrong on purpose is noticed, by what, and after how little."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness.base.progress import Reporter
from harness.engine.planned_run import PlannedRun
from harness.model.detection import Caught, Detection, DetectionKey, Part
from harness.model.proof import Proof, TestScope
from harness.model.request import Request
from harness.model.runs import Verdict
from harness.model.verdict import Reason, ReasonSource, VerdictRecord
from harness.rundir.directory import RunDirectory
from harness.stages.arm_kafka import parts_of_arms
from harness.stages.declared_once import declare_once
from harness.stages.half_rounds import remove_half_rounds
from harness.stages.judge import judge_run
from harness.stages.lent_base import LentBase
from harness.stages.prove import prove
from harness.stages.resume import check_builds_and_java
from harness.stages.rounds import Round, against, gaps, plan_rounds, stage_of
from harness.stages.rules_digest import judging_digest, making_digest
from harness.stages.run import ask_again, carry_out, declared_runs, stands
from harness.stages.verify import compare_logs
from harness.toolbox.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Suspect:
    """A jar to be noticed: its run directory, the request that verifies it, and what is known before it is run."""

    about: Detection
    folder: Path
    request: Request


@dataclass(frozen=True, slots=True)
class Detector:
    """What a jar is held against, and by which parts of a verification: all but `without`."""

    base: LentBase
    without: tuple[Part, ...]
    toolbox: Toolbox
    reporter: Reporter

    def detect(self, suspect: Suspect) -> Detection:
        """Return what notices a jar: at its first HOLD nothing more is done.

        What was found before of the same jar by the same rules stands. Raises HarnessError, CompileError among them.
        """
        directory = RunDirectory(suspect.folder)
        about = replace(suspect.about, without=self.without)
        scope = TestScope.NONE if Part.TESTS in self.without else suspect.request.tests
        declare_once(suspect.folder, replace(suspect.request, tests=scope), self.toolbox, self.reporter)
        _drop_what_others_found(directory, self.without)
        known = directory.detection.read_if_exists()
        if known is None:
            known = self._proved(about, directory) or self._run(about, directory)
            directory.detection.write(known)
        return replace(about, caught=known.caught, undecided=known.undecided)

    def _proved(self, about: Detection, directory: RunDirectory) -> Detection | None:
        if {*self.without} >= {*Part} and not directory.request.read().simulate:
            return None
        caught = catching(prove(directory.path, self.toolbox, self.reporter), self.without)
        return replace(about, caught=caught) if caught else None

    def _run(self, about: Detection, directory: RunDirectory) -> Detection:
        declared, request = directory.declaration.read(), directory.request.read()
        check_builds_and_java(directory.path, declared, self.toolbox)
        parts = parts_of_arms(declared.arms, request, self.toolbox, self.reporter.report)
        cells = declared_runs(declared, directory, parts)
        names = [scenario.name for scenario in declared.scenarios]
        left: list[Reason] = []
        for each in plan_rounds(names, self.base.scenarios, request.jobs, about.expected):
            self._run_round(each, [cell for cell in cells if cell.key.scenario in each.scenarios], directory, request)
            reasons = judge_run(directory).reasons
            if found := against(reasons, each):
                return replace(about, caught=tuple(map(_caught, found)))
            left += gaps(reasons, each)
        return replace(about, undecided=left[0].sentence if left else "")

    def _run_round(self, each: Round, cells: Sequence[PlannedRun], directory: RunDirectory, request: Request) -> None:
        for control in (cell for cell in cells if cell.role.is_control):
            if not each.beside:
                self.base.lend(control, directory.path)
            elif self.base.has_lent(control.key, directory.path):  # costs need a base that runs beside
                shutil.rmtree(directory.run(control.key).of_scenario, ignore_errors=True)  # spares among them
        if each.beside:
            remove_half_rounds(cells, directory, partial(stands, directory.path), self.reporter)
        mine = [cell for cell in cells if each.beside or not cell.role.is_control]
        carry_out(mine, directory.path, request.jobs, self.reporter, "runs on live clusters")
        ask_again(mine, directory, request.jobs, self.reporter)
        if each.logs:
            compare_logs(directory.path, self.toolbox, self.reporter)


def catching(proof: Proof, without: Sequence[Part] = ()) -> tuple[Caught, ...]:
    """Return the parts of a proof that block, each with the first thing it said, and simulations; pure."""
    stages = (
        (Part.PROOF, "drop-in", [f"{d.rule}: {d.detail}" for d in proof.differences if d.blocks]),
        (Part.PROOF, "source", [f"{a.question}: {a.detail}" for a in proof.audit if a.blocks]),
        (Part.TESTS, "tests", [f"{f.class_name}.{f.name}" for f in proof.tests.failed if f.blocks]),
    )
    simulated = proof.simulation.blockers if proof.simulation else ()
    return (
        *(Caught(stage, said[0]) for part, stage, said in stages if said and part not in without),
        *(Caught("simulation", said) for said in simulated[:1]),
    )


def caught_in(record: VerdictRecord) -> tuple[Caught, ...]:
    """Return all that holds a candidate back in a verdict, in the words of a table of mutants; pure."""
    held = (each for each in record.reasons if each.weight is Verdict.HOLD and each.source is not ReasonSource.PROOF)
    return (*(catching(record.proof) if record.proof else ()), *map(_caught, held))


def _caught(reason: Reason) -> Caught:
    return Caught(stage_of(reason), reason.sentence, reason.cell.scenario if reason.cell else "")


def _drop_what_others_found(directory: RunDirectory, without: Sequence[Part]) -> None:
    """Remove what was found by other rules, of another jar, or by other parts; runs made by today's rules stay."""
    key = _key(directory, without)
    before = directory.detection_key.read_if_exists()
    if before == key:
        return
    for path in (directory.detection.path, directory.logs.comparison.path):
        path.unlink(missing_ok=True)
    if before is None or (before.jar, before.making) != (key.jar, key.making):
        shutil.rmtree(directory.path / "runs", ignore_errors=True)
    directory.detection_key.write(key)


def _key(directory: RunDirectory, without: Sequence[Part]) -> DetectionKey:
    declared = directory.declaration.read()
    jar = next(arm.build.jar_sha256 for arm in declared.arms if arm.build.name == declared.candidate)
    names = tuple(scenario.name for scenario in declared.scenarios)
    return DetectionKey(jar, making_digest(), judging_digest(), names, tuple(without))
