"""Mutants: jars that are wrong on purpose, and what notices each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.building.builders.base import AUTO
from harness.building.patched_jar import patched_jar
from harness.building.raft_builds import CompileError
from harness.kafka.patching import Patch
from harness.model.detection import Caught, Detection, Ground, Part
from harness.model.options import arguments_of
from harness.model.request import DEFAULT_KAFKA, Request
from harness.rundir.directory import RunDirectory
from harness.stages.detecting import Detector, Suspect
from harness.stages.detection_table import sentence, summary, table
from harness.stages.lent_base import prepare_base
from harness.stages.mutant_folder import MutantFolder
from harness.stages.rules_digest import digest_of_texts, judging_digest, making_digest
from harness.toolbox.toolbox import Toolbox

RESULTS = "mutants.json"
BUILD = "build"  # what notices a jar that does not compile
_BASE, _JARS, _ROWS = "base", "jars", "rows"  # folders of a table
_CONTROL = "nothing-is-wrong"


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where a table is made, what jars are patches of, and the request that verifies each."""

    out: Path
    ground: Ground
    request: Request
    toolbox: Toolbox
    reporter: Reporter

    def suspect(self, about: Detection, patches: Sequence[Patch]) -> Suspect:
        """Return a jar with patches on it, in a folder of its own that another patch of this name does not share.

        Raises HarnessError when a patch does not fit, CompileError when it does not compile.
        """
        texts = [patch.path.read_text(encoding="utf-8") for patch in patches]
        name = f"{about.name}-{digest_of_texts(texts)[:8]}"
        if self.ground is Ground.SERIES:
            request = replace(self.request, patches=tuple(patch.path for patch in patches))
        else:
            version = self.request.kafka_version or DEFAULT_KAFKA
            builder = self.request.builder
            folder = self.out / _JARS / (name if builder == AUTO else f"{name}-{builder}")
            jar = patched_jar(version, patches, folder, self.toolbox, self.reporter.report, builder)
            request = replace(self.request, jar=jar)
        return Suspect(about, self.out / _ROWS / name, request)

    def detector(self, control: Suspect, without: Sequence[Part]) -> Detector:
        """Return what notices jars; base is run on every scenario first, and a sound jar must not be noticed.

        Raises HarnessError when it is.
        """
        self.reporter.stage("runs of base, which are lent to every jar")
        base = prepare_base(self.out / _BASE, control.request, self.toolbox, self.reporter)
        detector = Detector(base, tuple(without), self.toolbox, self.reporter)
        self.reporter.stage("a jar in which nothing is wrong, which nothing may notice")
        found = detector.detect(control)
        for caught in found.caught[:1]:
            held = f"A jar in which nothing is wrong is held back by {caught.stage}: {caught.said}"
            raise HarnessError(held, "Fix that first: every jar would look noticed.")
        if found.undecided:
            self.reporter.report(f"a jar in which nothing is wrong could not be decided: {found.undecided}")
        return detector

    def control(self) -> Suspect:
        """Return the jar in which nothing is wrong."""
        return self.suspect(Detection(_CONTROL, "nothing"), ())


def is_table(folder: Path) -> bool:
    """Return whether a table was begun in a folder, however little of it is there."""
    return RunDirectory(folder / _BASE).request.exists or any((folder / _JARS).glob(f"{_CONTROL}-*"))


def detect(folder: MutantFolder, workshop: Workshop, without: Sequence[Part] = ()) -> tuple[Detection, ...]:
    """Build and verify every mutant of a folder; write mutants.json and mutants.md after each, with what earlier calls
    found of others.

    A jar is done with at its first HOLD. What was found before of the same jar by the same rules is not asked again.
    Raises HarnessError when a jar in which nothing is wrong is held back.
    """
    found: list[Detection] = []
    kept = _found_by_other_calls(folder, workshop, without)
    detector = workshop.detector(workshop.control(), without)
    for number, mutant in enumerate(folder.mutants, 1):
        workshop.reporter.stage(f"mutant {number} of {len(folder.mutants)}: {mutant.patch.subject}")
        about = Detection(mutant.name, mutant.patch.subject, mutant.expected)
        found.append(detect_one(about, mutant.patch, workshop, detector))
        workshop.reporter.report(sentence(found[-1]))
        _write((*found, *kept), workshop.out)
    workshop.reporter.report(summary(found))
    return tuple(found)


def detect_one(about: Detection, patch: Patch, workshop: Workshop, detector: Detector) -> Detection:
    """Return what notices the jar with a patch; a fault of harness or host leaves it undecided."""
    about = replace(about, without=detector.without, asked=asked_by(workshop.request))
    try:
        return detector.detect(workshop.suspect(about, [patch]))
    except CompileError as error:
        return replace(about, caught=(Caught(BUILD, error.message),))
    except HarnessError as error:
        return replace(about, undecided=error.message)


def asked_by(request: Request) -> tuple[str, ...]:
    """Return the words that choose the scenarios of a request, as they are typed."""
    return arguments_of(Request(scenarios=request.scenarios, suite=request.suite, seeds=request.seeds))


def _found_by_other_calls(folder: MutantFolder, workshop: Workshop, without: Sequence[Part]) -> tuple[Detection, ...]:
    """Return the rows of a table about mutants that are not asked now: asked the same, by today's rules."""
    asked_now = {mutant.name for mutant in folder.mutants}
    rules, kept = (making_digest(), judging_digest()), dict[str, Detection]()
    for row in map(RunDirectory, sorted((workshop.out / _ROWS).glob("*"))):
        key, found = row.detection_key.read_if_exists(), row.detection.read_if_exists()
        if not key or not found or found.name in asked_now or found.name not in folder.names:
            continue
        if (key.making, key.judging, key.without, found.asked) == (*rules, tuple(without), asked_by(workshop.request)):
            kept[found.name] = found
    return tuple(kept.values())


def _write(found: Sequence[Detection], out: Path) -> None:
    write_text(out / RESULTS, to_json(tuple(found)))
    write_text(out / "mutants.md", table(found))
