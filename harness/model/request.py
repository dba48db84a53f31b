"""What a user asked for on the command line, as one record."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from harness.cluster.jvm import Profile
from harness.model.proof import TestScope

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
    coverage: bool = True
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


def located(request: Request) -> Request:
    """Return the request with absolute paths: it may be gone on with from another folder."""
    values: dict[str, Any] = {field.name: getattr(request, field.name) for field in fields(request)}
    paths: dict[str, Any] = {name: value.absolute() for name, value in values.items() if isinstance(value, Path)}
    patches = tuple(path.absolute() for path in request.patches)
    return replace(request, **paths, patches=patches, claims=_located(request.claims), git=_located_git(request.git))


def _located(claims: str) -> str:
    return claims if claims in ("", NO_CLAIMS) else str(Path(claims).absolute())


def _located_git(git: str) -> str:
    url, at, ref = git.rpartition("@")
    return f"{Path(url).absolute()}@{ref}" if at and url and Path(url).is_dir() else git
