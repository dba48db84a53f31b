"""The two builds of a verification: the control, and the candidate beside it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.building.builders.base import BuildHost, host_compiler, open_builder
from harness.building.configdef import prepare_probe
from harness.building.raft_builds import Bench, Toolchain, build_series, given_jar, keep_sources, release_build
from harness.kafka.distribution import as_declared, distribution_of, locked_distribution
from harness.kafka.git import GitSource, url_and_ref
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import Series, load_patch, load_series
from harness.kafka.release_lines import line_of
from harness.kafka.series import series_folder
from harness.kafka.tree import Source
from harness.model.arms import Build
from harness.model.request import NO_SERIES
from harness.model.sides import Side, Sides
from harness.rundir.directory import RunDirectory
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where builds are made and with what: `builder` is its name, `flag_key` is looked up in every jar.

    `sources` is the checkout that a given candidate was built from, and `patches` come on top of its series.
    """

    directory: RunDirectory
    builder: str
    flag_key: str
    toolbox: Toolbox
    report: Callable[[str], None]
    sources: Path | None = None
    patches: tuple[Path, ...] = ()


def build_pair(sides: Sides, place: Workplace) -> tuple[Build, Build]:
    """Make the control and the candidate.

    Raises HarnessError for a jar that is none of its Kafka, and for sources that do not compile.
    """
    base = _build(sides.base, sides.base_name, replace(place, patches=()))
    candidate = _build(sides.candidate, sides.candidate_name, place)
    two_refs = sides.base.git and sides.candidate.git and sides.base.git != sides.candidate.git
    if two_refs and base.jar_sha256 == candidate.jar_sha256:
        raise HarnessError(
            "Both refs give the same jar of the raft module: whatever they change otherwise would not be tested.",
            "Build the whole Kafka of the candidate (./gradlew releaseTarGz), and name it by --dist.",
        )
    if sides.candidate.jar and place.sources:
        keep_sources(place.sources, place.directory.build(candidate.name))
    return base, candidate


def _build(side: Side, name: str, place: Workplace) -> Build:
    host = BuildHost(place.toolbox, line_of(side.version).class_files, place.report)
    compiler = host_compiler(place.builder, host)  # a probe needs it whatever builds the jar; told first
    kafka = distribution_of(side.place, side.version, place.toolbox)
    probe = prepare_probe(compiler, place.toolbox.node_java(), kafka.jars, place.toolbox.cache)
    bench = Bench(place.directory, probe, place.flag_key, as_declared(kafka, side.place))
    if side.jar:
        return given_jar(bench, name, side.jar, kafka)
    return _compiled(side, name, bench, host, place) if side.built else release_build(bench, name, kafka)


def _compiled(side: Side, name: str, bench: Bench, host: BuildHost, place: Workplace) -> Build:
    lock, downloads = read_lock(side.version), host.toolbox.downloads
    released, sources = locked_distribution(lock, downloads), downloads.fetch(lock.one(Purpose.SOURCES))
    series = series_to_build(side, place.patches)
    with ExitStack() as held:
        builder = open_builder(place.builder, host, held)
        tools = Toolchain(builder, released, sources, host.target, side.option)
        return build_series(bench, tools, name, source_of(side.git, tools), series)


def series_to_build(side: Side, patches: tuple[Path, ...] = ()) -> Series | None:
    """Return the series that a side is built with, the user's patches behind it; None for the sources alone."""
    if side.series == NO_SERIES:
        return None
    series = load_series(series_folder(side.version, side.series))
    return replace(series, patches=(*series.patches, *(load_patch(p.parent, p.name) for p in patches)))


def source_of(git: str, tools: Toolchain) -> Source:
    """Return where the sources come from: a git repository (URL@REF), or the release. Raises HarnessError."""
    return GitSource(*url_and_ref(git)) if git else MavenSources(tools.released.version, tools.released_sources)
