"""What the nodes of one Kafka are made of: prepared once, for whatever runs on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.base.errors import HarnessError
from harness.building.builders.base import BuildHost, host_compiler
from harness.building.java_programs import compiled_probe
from harness.cluster.formatting import NoStartError
from harness.cluster.node_figures import REPORTER_SOURCE
from harness.cluster.prepare import NodeParts, make_node_parts
from harness.kafka.completeness import lacking_others
from harness.kafka.distribution import Distribution
from harness.kafka.release_lines import check_java, line_of
from harness.model.request import Request
from harness.toolbox.toolbox import Toolbox


def prepare_node_parts(
    request: Request, kafka: Distribution, toolbox: Toolbox, report: Callable[[str], None]
) -> NodeParts:
    """Prepare what the nodes of a Kafka are made of, with the Java, the profile and the builder of a request.

    Raises HarnessError, also where nodes of it do not start.
    """
    line = line_of(kafka.version)
    check_java(line, toolbox.node_java())
    compiler = host_compiler(request.builder, BuildHost(toolbox, line.class_files, report))
    try:
        node_parts = make_node_parts(
            toolbox.node_java().java, kafka.others, kafka.raft_jar, request.profile, line, toolbox.cache, report
        )
    except NoStartError as error:
        raise HarnessError(f"{kafka.description} does not start: {error.message}", _to_mend(kafka)) from error
    return replace(node_parts, reporter=compiled_probe(compiler, REPORTER_SOURCE, kafka.jars, toolbox.cache))


def _to_mend(kafka: Distribution) -> str:
    if names := lacking_others(kafka):
        return f"Apache's release of its version has {', '.join(names)} in libs/, and this has not: add it."
    return "See that it is whole, and all of one release and one Scala; `harness doctor` shows the Java that is used."
