"""What one proof is about: the jars, and everything that it takes to compare and test them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness.audit.claims_file import ClaimSet, load_claims, outcomes_only
from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.building.builders.base import BuildHost, compilers_at_hand
from harness.building.builders.ecj import ecj_of
from harness.building.compiling import Builder
from harness.building.given import other_release
from harness.kafka.distribution import Distribution, locked_distribution
from harness.kafka.lock import locked_as, locked_versions, read_lock
from harness.kafka.release_lines import Line, line_of, same_line
from harness.kafka.release_tests import tests_of_release
from harness.kafka.series import series_folder
from harness.kafka.versions import order_of
from harness.model.arms import RELEASE, Build, replaced_jar
from harness.model.declaration import Declaration
from harness.model.proof import TestScope
from harness.model.request import Request
from harness.model.setup import Setup
from harness.proof.dropin import ProofTools, prepare_tools
from harness.proof.junit import LaterRelease, OtherRelease
from harness.rundir.directory import RunDirectory
from harness.stages.arm_kafka import kafka_of
from harness.toolbox.downloads import Downloads
from harness.toolbox.java import JavaRuntime
from harness.toolbox.lockfile import Lock, Purpose
from harness.toolbox.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Release:
    """A locked release: the Kafka that its sources compile against, and the sources jar of its raft module."""

    distribution: Distribution
    sources: Path


@dataclass(frozen=True, slots=True)
class ProofCase:
    """What one proof is about, and everything it is made with; the jars are those in the run directory.

    `base` is what the candidate's jar takes the place of: base's, or that of the candidate's own Kafka where that is
    another than base's; then `before` is base's jar, which only says what changed.
    `built_series` is the folder of the series that the candidate was built from here, None for any other.
    `simulate` is how long to simulate, as it was given. `java` is what nodes run on. `compilers` are those at hand, ecj
    last. `release` is the locked release where base's jar is that release's own, else None. `tests` are the jars of
    upstream's tests, empty where that version's are not pinned; `other` is the release that the jar names where that
    is not the nodes', with its tests, or in words why they cannot be run; `later` are locked releases after the nodes'
    own, whose tests are fetched only when one fails. `binding`: the candidate is made as its
    series makes it. `fresh`: nothing is taken over from an earlier proof of the very same.
    """

    directory: RunDirectory
    line: Line
    cache: Path
    java: JavaRuntime
    setup: Setup
    scope: TestScope
    simulate: str
    base: Build
    candidate: Build
    built_series: Path | None
    distribution: Distribution
    claims: ClaimSet
    compilers: tuple[Builder, ...]
    tools: ProofTools
    release: Release | None
    tests: tuple[Path, ...]
    other: OtherRelease | str | None
    later: tuple[LaterRelease, ...]
    binding: bool
    before: Path | None = None
    fresh: bool = False

    @property
    def base_jar(self) -> Path:
        """Base's jar."""
        return (self.directory.path / self.base.jar).absolute()

    @property
    def jar(self) -> Path:
        """The candidate's jar."""
        return (self.directory.path / self.candidate.jar).absolute()

    @property
    def sources(self) -> Path | None:
        """The candidate's own sources, where the build (or the user) had them."""
        kept = self.directory.build(self.candidate.name).sources
        return kept if kept.is_dir() else None


def proof_case(
    directory: RunDirectory, base: Build, candidate: Build, toolbox: Toolbox, reporter: Reporter
) -> ProofCase:
    """Fetch everything first: what may wait for the network does so before anything is judged. Raises HarnessError."""
    declaration, setup = directory.declaration.read(), directory.setup.read()
    version, downloads, request = candidate.kafka_version, toolbox.downloads, directory.request.read()
    lock = read_lock(locked_as(candidate)) if locked_as(candidate) in locked_versions() else None
    distribution = kafka_of(candidate, request, toolbox)
    ecj, line = ecj_of(toolbox), line_of(version)
    one_kafka = candidate.kafka.is_same(base.kafka)
    replaced = base if one_kafka else _own_raft_jar(base, candidate, distribution)
    return ProofCase(
        directory=directory,
        line=line,
        cache=toolbox.cache,
        java=toolbox.node_java(),
        setup=setup,
        scope=request.tests,
        simulate=request.simulate,
        base=replaced,
        candidate=candidate,
        built_series=series_folder(version, request.series) if candidate.series else None,
        distribution=distribution,
        claims=claims_upheld(declaration, setup),
        compilers=compilers_at_hand(BuildHost(toolbox, line.class_files, reporter.report)),
        tools=prepare_tools(ecj, toolbox, distribution),
        release=_release(lock, downloads) if lock and is_released_jar(replaced, lock) else None,
        tests=downloads.fetch_all(lock.of(Purpose.TESTS)) if lock and _needs_tests(request) else (),
        other=_other_release(directory.path / candidate.jar, distribution.version, line, request.tests, downloads),
        later=_later_releases(distribution.version, line, downloads),
        binding=declaration.binding,
        before=None if one_kafka else (directory.path / base.jar).absolute(),
        fresh=request.fresh,
    )


def _needs_tests(request: Request) -> bool:
    return request.tests is not TestScope.NONE or bool(request.simulate)


def _own_raft_jar(base: Build, candidate: Build, kafka: Distribution) -> Build:
    """Return the raft jar that a candidate's own Kafka has by itself: its jar has to fit in there, not in base's."""
    own = candidate.kafka
    return replace(
        candidate,
        name=f"Kafka {own.version}",
        jar=str(kafka.raft_jar),
        jar_sha256=replaced_jar(base, candidate),
        builder=RELEASE,
        series=(),
        note="",
    )


def claims_upheld(declaration: Declaration, setup: Setup) -> ClaimSet:
    """Return the claims that the proof holds the jar to; what a series promises of its source binds its own builds.

    A claims file that no series brings is the user's own, and binds as a whole.
    """
    claims = load_claims(Path(setup.claims)) if setup.claims else ClaimSet("kafka-raft", "", "", ())
    return claims if declaration.binding or not setup.series else outcomes_only(claims)


def is_released_jar(build: Build, lock: Lock) -> bool:
    """Whether a build's jar is that of the locked release, wherever it came from: by its bytes."""
    return any(artifact.sha256 == build.jar_sha256 for artifact in lock.of(Purpose.RUNTIME))


def _release(lock: Lock, downloads: Downloads) -> Release:
    return Release(locked_distribution(lock, downloads), downloads.fetch(lock.one(Purpose.SOURCES)))


def _other_release(
    jar: Path, version: str, line: Line, scope: TestScope, downloads: Downloads
) -> OtherRelease | str | None:
    release = other_release(jar, version)
    if not release or scope is TestScope.NONE:
        return None
    try:
        jars = tests_of_release(release, line.lock, downloads)
        return OtherRelease(release, jars, is_later=order_of(release) > order_of(version))
    except HarnessError as error:
        return f"The tests of Kafka {release}, which the jar names, were not run: {error} Try `harness lock {release}`."


def _later_releases(version: str, line: Line, downloads: Downloads) -> tuple[LaterRelease, ...]:
    later = [each for each in locked_versions() if same_line(each, version) and order_of(each) > order_of(version)]
    fetches = {each: partial(tests_of_release, each, line.lock, downloads) for each in sorted(later, key=order_of)}
    return tuple(LaterRelease(release, fetch) for release, fetch in fetches.items())
