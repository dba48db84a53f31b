"""Every key of server.properties that a build knows, by the ConfigDef of the whole server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from harness.building.builders.base import BuildHost, host_compiler
from harness.building.configdef import ConfigKey, prepare_probe, read_keys
from harness.kafka.distribution import Distribution
from harness.kafka.release_lines import line_of
from harness.toolbox.toolbox import Toolbox


def server_keys(
    kafka: Distribution, raft_jar: Path, builder: str, toolbox: Toolbox, report: Callable[[str], None]
) -> Mapping[str, ConfigKey]:
    """Return the keys that a server with this raft jar knows, by name; none where its line does not say by what class.

    Raises HarnessError when the jar's configuration cannot be loaded.
    """
    line = line_of(kafka.version)
    owner = line.main_classes.config
    if not owner:
        return {}
    compiler = host_compiler(builder, BuildHost(toolbox, line.class_files, report))
    probe = prepare_probe(compiler, toolbox.node_java(), kafka.jars, toolbox.cache)
    return {key.name: key for key in read_keys(probe, raft_jar, kafka.others, owner)}
