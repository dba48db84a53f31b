"""Every key of server.properties that the two builds of a verification know, by the ConfigDef of the whole server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from harness.building.builders.base import BuildHost, host_compiler
from harness.building.configdef import prepare_probe, read_keys
from harness.kafka.distribution import distribution_of
from harness.kafka.release_lines import line_of
from harness.model.request import Request
from harness.toolbox.toolbox import Toolbox


def server_keys(
    request: Request, version: str, raft_jars: Iterable[Path], toolbox: Toolbox, report: Callable[[str], None]
) -> frozenset[str]:
    """Return the keys that a server with any of these raft jars knows; none where its line does not say by what class.

    Raises HarnessError when a jar's configuration cannot be loaded.
    """
    line = line_of(version)
    if not line.main_classes.config:
        return frozenset()
    kafka = distribution_of(request.base_dist, version, toolbox.downloads)
    compiler = host_compiler(request.builder, BuildHost(toolbox, line.class_files, report))
    probe = prepare_probe(compiler, toolbox.node_java(), kafka.jars, toolbox.cache)
    owner = line.main_classes.config
    return frozenset(key.name for jar in raft_jars for key in read_keys(probe, jar, kafka.others, owner))
