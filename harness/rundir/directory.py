"""The run directory that all stages of a verification or a rollout read from and write into."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.files import PARTIAL
from harness.base.locks import sweep
from harness.base.recordfile import RecordFile
from harness.model import declaration, rollout, time_book, verdict
from harness.model.declaration import Declaration
from harness.model.detection import Detection, DetectionKey
from harness.model.features import FeaturePlan
from harness.model.host import HostSpeed
from harness.model.request import Request
from harness.model.rollout import RolloutVerdict, RollPlan
from harness.model.runs import RunKey, RunResult
from harness.model.setup import Setup
from harness.model.sparklines import Sparklines
from harness.model.time_book import TimeBook
from harness.model.verdict import VerdictRecord
from harness.rundir.packed_inputs import translated
from harness.rundir.parts import (
    CRASH,
    JOURNAL,
    NODE_LOG,
    RESULT,
    BuildFolder,
    LogsFolder,
    ProofFolder,
    RunFolder,
    UpgradeFolder,
)

_NIGHT = "night.json"  # harness.nightly.folder
_BEGIN = "Begin with `harness verify`, or with `harness build --out DIR`."
_JUDGE_AGAIN = "Run `harness judge` again."
# What a verdict rests on, in the order in which the stages write it.
_BEFORE_THE_RUNS = (
    "run.json",
    "setup.json",
    "builds/*/build.json",
    "builds/*/build.log",
    "builds/*/*.jar",
    "proof/*/*.json",
    "proof/*/junit/*.xml",
    "proof/*/simulation/*.log",
    "logs/noise.json.gz",
)
_OF_A_RUN = (RESULT, JOURNAL, CRASH, f"nodes/*/{NODE_LOG}*")
_AFTER_THE_RUNS = ("logs/findings.json",)


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """A run directory, by its path."""

    path: Path

    @property
    def request(self) -> RecordFile[Request]:
        """The options as they were given: by them a build that was cut short is begun again."""
        return RecordFile(
            self.path / "request.json",
            Request,
            absent=lambda: self._no_run_directory("request.json"),
            remedy=f"It has the options as they were given: begin anew with `{self.command}`.",
            translate=self._translated,
        )

    @property
    def setup(self) -> RecordFile[Setup]:
        """How the jar is proved and the nodes of every run are set up."""
        return RecordFile(
            self.path / "setup.json",
            Setup,
            absent=lambda: HarnessError(f"{self.path} has no setup.json.", _BEGIN),
            remedy=self._build_again("it and run.json"),
            translate=self._translated,
        )

    @property
    def declaration(self) -> RecordFile[Declaration]:
        """What was declared before the first run, and the time each stage took since; the build writes it last."""
        return RecordFile(
            self.path / "run.json",
            Declaration,
            schema=declaration.SCHEMA,
            absent=lambda: self._no_run_directory("run.json"),
            remedy=self._build_again("it"),
            translate=self._translated,
        )

    @property
    def resume_command(self) -> str:
        """The command line that does what this folder lacks."""
        return f"{self.command} --resume {shlex.quote(str(self.path))}"

    @property
    def command(self) -> str:
        """The command that makes a folder such as this."""
        return "harness rollout" if self.roll_plan.exists else "harness verify"

    @property
    def host(self) -> RecordFile[HostSpeed]:
        """How fast the host was before the first run."""
        return RecordFile(self.path / "host.json", HostSpeed)

    @property
    def times(self) -> RecordFile[TimeBook]:
        """When what went on, where somebody asked."""
        return RecordFile(self.path / "time.json", TimeBook, schema=time_book.SCHEMA)

    def build(self, name: str) -> BuildFolder:
        """Return the folder of a build."""
        return BuildFolder(self.path / "builds" / name)

    def proof(self, build: str) -> ProofFolder:
        """Return the folder of what was proved of a build."""
        return ProofFolder(self.path / "proof" / build)

    def run(self, key: RunKey) -> RunFolder:
        """Return the folder of a run."""
        return RunFolder(self.path, key.folder)

    def runs(self) -> list[RunFolder]:
        """Return every run's folder, in the order of their paths."""
        found = sorted(path for path in self.path.glob("runs/*/*/*") if path.is_dir())
        return [RunFolder(self.path, path.relative_to(self.path).as_posix()) for path in found]

    def results(self) -> list[RunResult]:
        """Return the results of all runs in the folder, by scenario, arm and repeat.

        Raises HarnessError for one that names another run than its folder: it was moved or copied there.
        """
        return sorted((_own_result(run) for run in self.runs() if run.result.exists), key=lambda result: result.key)

    @property
    def coverage_runs(self) -> RunDirectory:
        """The runs that measure coverage, in a directory of their own: nothing that judges looks there."""
        return RunDirectory(self.path / "coverage")

    @property
    def logs(self) -> LogsFolder:
        """The results of the log diff."""
        return LogsFolder(self.path / "logs")

    @property
    def upgrade(self) -> UpgradeFolder:
        """What changes for an operator, where base and candidate are different Kafkas."""
        return UpgradeFolder(self.path / "upgrade")

    @property
    def crosscheck(self) -> Path:
        """What `harness build --cross-check` found."""
        return self.path / "crosscheck.json"

    @property
    def crosscheck_builds(self) -> RunDirectory:
        """The builds that a cross-check compares, in a directory of their own."""
        return RunDirectory(self.path / "crosscheck")

    @property
    def sparklines(self) -> RecordFile[Sparklines]:
        """What became of the cells in earlier nights; a run that is no part of a night has none."""
        return RecordFile(self.path / "history.json", Sparklines)

    @property
    def verdict(self) -> RecordFile[VerdictRecord]:
        """The verdict with everything it rests on."""
        return RecordFile(
            self.path / "verdict.json",
            VerdictRecord,
            schema=verdict.SCHEMA,
            absent=lambda: self._not_judged("verdict.json"),
            remedy=_JUDGE_AGAIN,
        )

    @property
    def report(self) -> Path:
        """The report of a verification or of a rollout."""
        return self.path / "report.html"

    @property
    def junit(self) -> Path:
        """The runs, or the rehearsals of a rollout, as JUnit XML."""
        return self.path / "junit.xml"

    @property
    def summary(self) -> Path:
        """The verdict in Markdown."""
        return self.path / "summary.md"

    @property
    def roll_plan(self) -> RecordFile[RollPlan]:
        """The options of a rollout beyond its builds; a verification has none."""
        return RecordFile(
            self.path / "roll-plan.json",
            RollPlan,
            remedy="It has the options of the rollout as they were given: begin anew with `harness rollout`.",
        )

    @property
    def features(self) -> RecordFile[FeaturePlan]:
        """What is finalised after a rollout of whole Kafkas; where only a raft jar is replaced there is none."""
        return RecordFile(self.path / "features.json", FeaturePlan, remedy="Begin anew with `harness rollout`.")

    @property
    def rollout(self) -> RecordFile[RolloutVerdict]:
        """What a rollout's rehearsals showed, and what that comes to."""
        return RecordFile(
            self.path / "rollout.json",
            RolloutVerdict,
            schema=rollout.SCHEMA,
            absent=lambda: self._not_judged("rollout.json"),
            remedy=_JUDGE_AGAIN,
        )

    @property
    def runbook(self) -> Path:
        """What an operator does."""
        return self.path / "runbook.md"

    @property
    def runbook_script(self) -> Path:
        """The same as a script that an operator runs."""
        return self.path / "runbook.sh"

    @property
    def detection(self) -> RecordFile[Detection]:
        """What noticed a jar that is wrong on purpose; only in a table of mutants."""
        return RecordFile(self.path / "detection.json", Detection)

    @property
    def detection_key(self) -> RecordFile[DetectionKey]:
        """By which rules that was found."""
        return RecordFile(self.path / "detection-key.json", DetectionKey)

    def evidence(self, runs: Iterable[RunFolder]) -> list[Path]:
        """Return the files that a verdict rests on, by stage; `runs` are those that count."""
        of_runs = (f"{run.name}/{pattern}" for run in runs for pattern in _OF_A_RUN)
        patterns = (*_BEFORE_THE_RUNS, *of_runs, *_AFTER_THE_RUNS)
        return [path for pattern in patterns for path in self._files(pattern)]

    def remove_unfinished(self) -> None:
        """Remove what a killed stage left half-written; only for who owns the run directory."""
        sweep(self.path)
        for path in list(self.path.rglob(f"{PARTIAL}*")):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        for folder in self.logs.path.glob("spark-*"):
            shutil.rmtree(folder, ignore_errors=True)
        if self.request.exists and not self.declaration.exists:  # builds count once they are declared
            shutil.rmtree(self.path / "builds", ignore_errors=True)

    def _translated(self, document: Any) -> Any:
        return translated(document, self.path)

    def _files(self, pattern: str) -> list[Path]:
        return sorted(path for path in self.path.glob(pattern) if path.is_file() and not path.is_symlink())

    def _not_judged(self, lacks: str) -> HarnessError:
        if not self.declaration.exists:
            return self._no_run_directory(lacks)
        return HarnessError(f"{self.path} has no {lacks}.", f"Judge it first: harness judge {self.path}")

    def _build_again(self, remove: str) -> str:
        """How to have again what the build writes."""
        return f"Remove {remove}, and have it built again: {self.resume_command}" if self.request.exists else _BEGIN

    def _no_run_directory(self, lacks: str) -> HarnessError:
        if not self.path.exists():
            return HarnessError(f"{self.path} does not exist.", _BEGIN)
        if (self.path / _NIGHT).is_file():
            return HarnessError(
                f"{self.path} is a night, which holds a run directory for each of its verifications.",
                f"Name one of these; the night's pages are made by: harness merge {self.path} --out FOLDER",
            )
        begun = lacks != "request.json" and self.request.exists
        resume = f"Its build was cut short. Go on with: {self.resume_command}"
        return HarnessError(f"{self.path} is no run directory: it has no {lacks}.", resume if begun else _BEGIN)


def _own_result(run: RunFolder) -> RunResult:
    result = run.result.read()
    if result.key.folder != run.name:
        raise HarnessError(
            f"{run.result.path} is the result of another run: it names {result.key.folder}.",
            "Move it back to its folder, or remove it and run that cell again.",
        )
    return result
