"""What a user asked for on the command line, as one record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.cluster.jvm import Profile
from harness.proof.records import TestScope

NO_CLAIMS = "none"
DEFAULT_KAFKA = "3.9.1"


@dataclass(frozen=True, slots=True)
class Request:
    """The options of `harness verify`, `prove` and `build`; empty or None where the user said nothing.

    `patches` are applied on top of the series (mutants).
    """

    kafka_version: str = ""
    jar: Path | None = None
    base_jar: Path | None = None
    base_dist: Path | None = None
    git: str = ""
    claims: str = ""
    sources: Path | None = None
    tests: TestScope = TestScope.RELATED
    waivers: Path | None = None
    patches: tuple[Path, ...] = ()
    config: Path | None = None
    arms: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    suite: str = "bootstrap"
    repeats: int = 1
    jobs: int = 2
    java_home: Path | None = None
    builder: str = "auto"
    profile: Profile = Profile.FAST
    offline: bool = False
    argv: tuple[str, ...] = ()
