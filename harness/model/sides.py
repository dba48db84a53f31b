"""The two sides of a comparison: which Kafka each is, and where the raft jar in it comes from; pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.model.arms import PATCHED
from harness.model.request import DEFAULT_KAFKA, NO_CLAIMS, NO_SERIES, Request

_BASE = {"base", "stock"}
_KAFKA, _BASE_KAFKA = "--kafka", "--base-kafka"
JAR, KAFKA, BUILT = "jar", "kafka", "built"

ReleaseAt = Callable[[Path], str]  # the release of the Kafka in a folder or an archive


@dataclass(frozen=True, slots=True)
class Side:
    """One side: a Kafka of a `version`, that at a `place` or else Apache's locked release, with one raft jar in it.

    That is the finished `jar`; or, where it is `built`, one compiled from `git` (URL@REF, or the released sources) with
    the patches of `series` (a name, empty for the only one of its version, or `none`); or the Kafka's own. `option` is
    that by which another release would be named.
    """

    place: Path | None
    version: str
    jar: Path | None = None
    built: bool = False
    git: str = ""
    series: str = ""
    option: str = field(default=_KAFKA, compare=False)

    @property
    def origin(self) -> str:
        """Where its raft jar comes from: `jar` (given), `patched`, `built` (without patches), `kafka` (its own)."""
        if self.jar:
            return JAR
        if not self.built:
            return KAFKA
        return BUILT if self.series == NO_SERIES else PATCHED

    @property
    def is_stock(self) -> bool:
        """Whether it is Apache's release as it is."""
        return self.place is None and self.origin == KAFKA


@dataclass(frozen=True, slots=True)
class Sides:
    """Base, the control, and the candidate that is held against it."""

    base: Side
    candidate: Side

    @property
    def base_name(self) -> str:
        """What base's build is called."""
        return "stock" if self.base.is_stock else "base"

    @property
    def candidate_name(self) -> str:
        """What the candidate's build is called."""
        return self.candidate.origin


def sides_of(request: Request, release_at: ReleaseAt) -> Sides:
    """Return what a request compares.

    The candidate has a Kafka of its own where `--dist` names it, or `--kafka` beside a base of another name; else it is
    base's with one raft jar replaced. Raises HarnessError for words that contradict each other.
    """
    _check_one_origin(request)
    base_release = _release(request.base_dist, request.base_kafka, _BASE_KAFKA, release_at)
    named_base = base_release or request.base_kafka
    own = _release(request.dist, request.kafka_version, _KAFKA, release_at) or _own_version(request, named_base)
    if own:
        base = Side(request.base_dist, named_base or own)
        candidate = Side(request.dist, own)
    else:
        base = Side(request.base_dist, named_base or request.kafka_version or DEFAULT_KAFKA)
        candidate = base
    return Sides(_base_jar(request, base), _candidate_jar(request, candidate, own=bool(own)))


def _release(place: Path | None, named: str, option: str, release_at: ReleaseAt) -> str:
    """Return the release of the Kafka at a place, whatever was added to it. Raises HarnessError for another's."""
    if place is None:
        return ""
    found = release_at(place)
    if named and not _begins(named, found):
        raise HarnessError(f"{place} is Kafka {found}, not {named}.", f"Leave out {option}, or name another.")
    return found


def _begins(version: str, release: str) -> bool:
    return version == release or version.startswith((f"{release}-", f"{release}."))


def _own_version(request: Request, base: str) -> str:
    """Return the version of the candidate's own Kafka; empty where --kafka only says of what release base is.

    So it does beside a Kafka at a place into which a raft jar is put; without one it names Apache's of that release.
    """
    version = request.kafka_version
    if not version or not base:
        return ""
    gets_a_jar = request.jar or request.series or request.git or request.patches
    is_apaches = bool(request.base_dist) and version == base and not gets_a_jar
    return version if request.base_kafka or not _begins(version, base) or is_apaches else ""


def _base_jar(request: Request, side: Side) -> Side:
    built = bool(request.base_git or request.base_series)
    series = request.base_series or (NO_SERIES if built else "")
    option = _BASE_KAFKA if request.base_kafka or request.dist else _KAFKA
    return replace(side, jar=request.base_jar, built=built, git=request.base_git, series=series, option=option)


def _candidate_jar(request: Request, side: Side, *, own: bool) -> Side:
    wanted = request.git or request.series or request.patches or not (own or _base_alone(request))
    built = not request.jar and bool(wanted)
    return replace(side, jar=request.jar, built=built, git=request.git, series=request.series)


def _base_alone(request: Request) -> bool:
    """Whether base is asked alone, of which nothing is claimed: then nothing needs to be built."""
    return bool(request.arms) and {*request.arms} <= _BASE and request.claims == NO_CLAIMS


def _check_one_origin(request: Request) -> None:
    """Raise HarnessError where a side is to have two raft jars; a series beside --jar is what that is held against."""
    named = {
        "--jar": (request.jar, "--git", request.git),
        "--base-jar": (request.base_jar, "--base-git", request.base_git),
    }
    for option, (jar, other, git) in named.items():
        if jar and git:
            raise HarnessError(
                f"{option} is a finished jar, and {other} builds one.", f"Leave out {option} or {other}."
            )
    if request.base_jar and request.base_series:
        raise HarnessError("--base-jar is a finished jar, and --base-series builds one.", "Leave out one of them.")
