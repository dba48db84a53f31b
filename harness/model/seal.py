"""What a run was made with, and the digests of its journal, its logs and its result: seal.json (docs/resume.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RunInputs:
    """Everything that decides what a run shows, apart from the host.

    `plan` is the digest of the steps in words, the topology, the budget and the server properties; `jar` is the raft
    jar's, `other_jars` are those that the plan may install (of another Kafka one digest of all its jars). `java` is the
    runtime as run.json declares it, `profile` the JVM settings. `beside` is the digest of all jars beside the raft jar
    by name and digest, empty where nobody knew them. `harness` is the digest of what of the harness decides how a run
    goes; empty in folders of before, which may have been made by any.
    """

    plan: str
    jar: str
    other_jars: tuple[str, ...]
    java: str
    profile: str
    repeat: int
    beside: str = ""
    harness: str = ""


@dataclass(frozen=True, slots=True)
class Seal:
    """What a run was made with, and the SHA-256 of its journal, of its result, and of each log by its path.

    Paths are relative to the run directory; the list of logs is among them. Folders of before have none of these, nor
    the digest of the result (without its origin, which a verification that takes it over adds).
    A rehearsal of schema 1 had no seal: the one that its conversion gave it has an empty plan, as nobody knows what it
    was made with, and the digest of the journal as it was found then.
    """

    inputs: RunInputs
    journal: str
    logs: Mapping[str, str] = field(default_factory=dict)
    result: str = ""

    @property
    def is_of_a_conversion(self) -> bool:
        """Whether `harness convert` made it, and not the run."""
        return not self.inputs.plan
