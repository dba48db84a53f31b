"""The two builds of a verification: the control, and the candidate beside it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from harness.building.builders.base import BuildHost, host_compiler, open_builder
from harness.building.configdef import prepare_probe
from harness.building.raft_builds import Bench, Toolchain, build_series, given_jar, keep_sources, release_build
from harness.kafka.distribution import distribution_of, locked_distribution
from harness.kafka.git import GitSource, url_and_ref
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import Series, load_patch, load_series
from harness.kafka.release_lines import line_of
from harness.kafka.series import series_folder
from harness.kafka.tree import Source
from harness.model.arms import Build
from harness.model.request import Request
from harness.rundir.directory import RunDirectory
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox


def build_pair(
    request: Request,
    version: str,
    flag_key: str,
    directory: RunDirectory,
    toolbox: Toolbox,
    report: Callable[[str], None],
) -> tuple[Build, Build]:
    """Make the control and the candidate of a request; the flag `flag_key` is looked up in both.

    Raises HarnessError for a jar that is none of this Kafka, and for sources that do not compile.
    """
    host = BuildHost(toolbox, line_of(version).class_files, report)
    kafka = distribution_of(request.base_dist, version, toolbox.downloads)
    compiler = host_compiler(request.builder, host)  # which a probe needs whatever builds the jar
    bench = Bench(directory, prepare_probe(compiler, toolbox.node_java(), kafka.jars, toolbox.cache), flag_key)
    if request.base_jar:
        base = given_jar(bench, "base", request.base_jar, kafka)
    else:
        base = release_build(bench, "base" if request.base_dist else "stock", kafka)
    if not request.jar:
        return base, _patched(request, bench, host, kafka.version)
    candidate = given_jar(bench, "jar", request.jar, kafka)
    if request.sources:
        keep_sources(request.sources, directory.build(candidate.name))
    return base, candidate


def _patched(request: Request, bench: Bench, host: BuildHost, version: str) -> Build:
    lock, downloads = read_lock(version), host.toolbox.downloads
    released, sources = locked_distribution(lock, downloads), downloads.fetch(lock.one(Purpose.SOURCES))
    series = series_to_build(request, version)
    with ExitStack() as held:
        builder = open_builder(request.builder, host, held)
        tools = Toolchain(builder, released, sources, host.target)
        return build_series(bench, tools, "patched", source_of(request.git, tools), series)


def series_to_build(request: Request, version: str) -> Series:
    """Return the series of a Kafka version, with the patches that the user adds behind it."""
    series = load_series(series_folder(version, request.series))
    return replace(series, patches=(*series.patches, *(load_patch(p.parent, p.name) for p in request.patches)))


def source_of(git: str, tools: Toolchain) -> Source:
    """Return where the sources come from: a git repository (URL@REF), or the release. Raises HarnessError."""
    return GitSource(*url_and_ref(git)) if git else MavenSources(tools.released.version, tools.released_sources)
