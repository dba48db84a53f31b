"""A night's folder: night.json, and a run directory for each verification."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.recordfile import RecordFile
from harness.model.verdict import VerdictRecord
from harness.nightly.night import SCHEMA, VERIFICATION, Night, NightOptions
from harness.rundir.directory import RunDirectory
from harness.rundir.packed_inputs import translated


@dataclass(frozen=True, slots=True)
class NightFolder:
    """The folder of a night, by its path."""

    path: Path

    @property
    def night(self) -> RecordFile[Night]:
        """What is declared, and how each verification ended."""
        return RecordFile(
            self.path / "night.json",
            Night,
            schema=SCHEMA,
            absent=lambda: HarnessError(
                f"{self.path} is no night: it has no night.json.", "Name a folder that `harness nightly` made."
            ),
        )

    @property
    def options(self) -> RecordFile[NightOptions]:
        """With what the night was called; a merged one has none."""
        return RecordFile(
            self.path / "options.json",
            NightOptions,
            absent=lambda: HarnessError(
                f"{self.path} cannot be gone on with: it has no options.json, as nights that were merged.",
                "Go on with the folders of its shards; retry.txt has a line for each verification that it lacks.",
            ),
            translate=lambda document: translated(document, self.path),
        )

    @property
    def resume_command(self) -> str:
        """The command line that does what this folder lacks."""
        return f"harness nightly --resume {shlex.quote(str(self.path))}"

    def run(self, verification: str) -> RunDirectory:
        """Return the run directory of a verification."""
        return RunDirectory(self.path / verification)

    @property
    def waivers(self) -> Path:
        """The waivers that the night is judged by; there need not be any."""
        return self.path / "waivers.toml"

    @property
    def page(self) -> Path:
        """The night's page."""
        return self.path / "index.html"

    @property
    def summary(self) -> Path:
        """The night in Markdown."""
        return self.path / "summary.md"

    @property
    def junit(self) -> Path:
        """The night as JUnit XML."""
        return self.path / "junit.xml"

    @property
    def retries(self) -> Path:
        """A command line for each verification that should be run again."""
        return self.path / "retry.txt"

    @property
    def seconds(self) -> Path:
        """How long each verification took: what balances the next night."""
        return self.path / "seconds.toml"

    def traceback(self, verification: str) -> Path:
        """Return where the traceback of an internal error in a verification is kept."""
        return self.path / verification / "error.txt"


def is_night(folder: Path) -> bool:
    """Whether a folder holds a night rather than one run."""
    return NightFolder(folder).night.exists


def read_night(folder: Path) -> Night:
    """Read night.json. Raises HarnessError for none, for another schema, and for names that leave the folder."""
    file = NightFolder(folder).night
    night = file.read()
    for name in (*(each.id for each in night.planned), *(each.id for each in night.ended)):
        if not VERIFICATION.fullmatch(name):
            raise HarnessError(f"{file.path} names a verification {name!r}, which is no name of a folder.")
    if unplanned := {each.id for each in night.ended} - {each.id for each in night.planned}:
        raise HarnessError(f"{file.path} says that {min(unplanned)} has ended, which nobody planned.")
    return night


def verdicts_of(folder: Path, night: Night) -> dict[str, VerdictRecord]:
    """Return the verdict of every verification of a night that came to one, by id."""
    place = NightFolder(folder)
    return {each.id: place.run(each.id).verdict.read() for each in night.ended if each.has_verdict}
