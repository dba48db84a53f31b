"""The two builds of a verification: the control, and the candidate beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.building.build import Bench, Toolchain, build_series, given_jar, keep_sources, release_build
from harness.building.builders import GRADLE_BUILDERS, Builder, choose_builder, ecj_of
from harness.building.configdef import prepare_probe
from harness.kafka.distribution import Distribution, distribution_of, locked_distribution
from harness.kafka.git import GitSource, url_and_ref
from harness.kafka.lines import line_of
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import Series, load_patch, load_series
from harness.kafka.series import series_folder
from harness.kafka.tree import Source
from harness.model.arms import Build
from harness.model.request import Request
from harness.rundir.directory import RunDirectory
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox


def build_pair(
    request: Request, version: str, flag_key: str, directory: RunDirectory, toolbox: Toolbox, say: Callable[[str], None]
) -> tuple[Build, Build]:
    """Make the control and the candidate of a request; both are asked for the key `flag_key`.

    Raises HarnessError for a jar that is none of this Kafka, and for sources that do not compile.
    """
    kafka = distribution_of(request.base_dist, version, toolbox.downloads)
    builder = _compiler(request.builder, version, toolbox)
    probe = prepare_probe(builder, toolbox.node_java(), kafka.jars, toolbox.cache)
    bench = Bench(directory, probe, flag_key)
    if request.base_jar:
        base = given_jar(bench, "base", request.base_jar, kafka)
    else:
        base = release_build(bench, "base" if request.base_dist else "stock", kafka)
    if not request.jar:
        return base, _patched(request, bench, builder, kafka, toolbox, say)
    candidate = given_jar(bench, "jar", request.jar, kafka)
    if request.sources:
        keep_sources(request.sources, directory.build(candidate.name))
    return base, candidate


def _compiler(name: str, version: str, toolbox: Toolbox) -> Builder:
    """Return this host's compiler, which a probe needs whatever builds the jar."""
    own = "auto" if name in GRADLE_BUILDERS else name
    return choose_builder(own, lambda: ecj_of(toolbox), line_of(version).class_files, toolbox.java_home)


def _patched(
    request: Request, bench: Bench, builder: Builder, kafka: Distribution, toolbox: Toolbox, say: Callable[[str], None]
) -> Build:
    from harness.building.containers.choosing import gradle_builder  # half a second that a given jar need not wait

    lock = read_lock(kafka.version)
    released, sources = locked_distribution(lock, toolbox.downloads), toolbox.downloads.fetch(lock.one(Purpose.SOURCES))
    series = series_to_build(request, kafka.version)
    with gradle_builder(request.builder, toolbox.cache, offline=toolbox.offline, hear=say) as gradle:
        tools = Toolchain(gradle or builder, released, sources, line_of(released.version).class_files)
        return build_series(bench, tools, "patched", source_of(request.git, tools), series)


def series_to_build(request: Request, version: str) -> Series:
    """Return the series of a Kafka version, with the patches that the user adds behind it."""
    series = load_series(series_folder(version, request.series))
    return replace(series, patches=(*series.patches, *(load_patch(p.parent, p.name) for p in request.patches)))


def source_of(git: str, tools: Toolchain) -> Source:
    """Return where the sources come from: a git repository (URL@REF), or the release. Raises HarnessError."""
    return GitSource(*url_and_ref(git)) if git else MavenSources(tools.released.version, tools.released_sources)
