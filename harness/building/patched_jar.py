"""The released raft module with patches laid over it: a jar as somebody might hand it over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from harness.building.builders.base import AUTO, BuildHost, open_builder
from harness.building.configdef import prepare_probe
from harness.building.raft_builds import Bench, Toolchain, build_series
from harness.kafka.distribution import as_declared, locked_distribution
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import Patch, Series
from harness.kafka.release_lines import line_of
from harness.rundir.directory import RunDirectory
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

_NAME = "jar"


def patched_jar(
    version: str,
    patches: Sequence[Patch],
    folder: Path,
    toolbox: Toolbox,
    report: Callable[[str], None],
    builder: str = AUTO,
) -> Path:
    """Compile a version's released sources with patches into `folder`, unless that was done; return the jar.

    Raises HarnessError when a patch does not fit or the tools cannot be had, CompileError when it does not compile.
    """
    directory = RunDirectory(folder)
    made = directory.build(_NAME)
    if made.record.exists:
        return made.jar(version)
    lock, host = read_lock(version), BuildHost(toolbox, line_of(version).class_files, report)
    released = locked_distribution(lock, toolbox.downloads)
    sources = toolbox.downloads.fetch(lock.one(Purpose.SOURCES))
    with ExitStack() as held:
        compiler = open_builder(builder, host, held)
        probe = prepare_probe(compiler, toolbox.node_java(), released.jars, toolbox.cache)
        build_series(
            Bench(directory, probe, "", as_declared(released, None)),
            Toolchain(compiler, released, sources, host.target),
            _NAME,
            MavenSources(version, sources),
            Series(_NAME, version, tuple(patches)),
        )
    return made.jar(version)
