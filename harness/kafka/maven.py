"""Released sources: a `-sources.jar` laid out as a Kafka checkout, so that a patch made for one fits the other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.base.archives import extract, open_archive
from harness.kafka.repository import commit_all, create_repository
from harness.kafka.tree import SourceTree

_JAVA = "raft/src/main/java"
_GENERATED = "raft/src/generated/java"  # where Kafka's own build writes the message classes
_RESOURCES = "raft/src/main/resources"
_AT_THE_TOP = ("LICENSE", "NOTICE")


@dataclass(frozen=True, slots=True)
class MavenSources:
    """The raft module's released sources of one Kafka version, in a jar on this machine."""

    version: str
    jar: Path

    def checkout(self, into: Path) -> SourceTree:
        """Lay the sources out in a fresh git repository with one commit and the version as tag.

        The commit's id depends on the jar's content alone. Raises HarnessError for a jar that is not sane.
        """
        _lay_out(self.jar, into)
        repository = create_repository(into)
        commit = commit_all(repository, f"kafka-raft {self.version} as released")
        repository.git.tag(self.version)
        return SourceTree(into, self.version, commit, f"released sources of kafka-raft {self.version}")


def lay_out_generated(jar: Path, into: Path) -> None:
    """Add the released generated message classes to a checkout, which has none until Gradle has run."""
    _lay_out(jar, into, only=_GENERATED)


def place_of(entry: str) -> str:
    """Return where an entry of a sources jar lies in a checkout; empty for what a checkout has not."""
    if entry.endswith("/") or entry.startswith("META-INF/"):
        return ""
    if entry in _AT_THE_TOP:
        return entry
    path = PurePosixPath(entry)
    if path.suffix != ".java":
        return f"{_RESOURCES}/{path}"
    return f"{_GENERATED if path.parent.name == 'generated' else _JAVA}/{path}"


def _lay_out(jar: Path, into: Path, only: str = "") -> None:
    with open_archive(jar) as archive:
        for entry in archive.infolist():
            place = place_of(entry.filename)
            if place and place.startswith(only):
                extract(archive, entry, into / place)
