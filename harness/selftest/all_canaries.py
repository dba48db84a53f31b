"""All canaries, with what the live ones need."""

from __future__ import annotations

from collections.abc import Callable

from harness.kafka.distribution import distribution_of
from harness.model.request import DEFAULT_KAFKA, Request
from harness.selftest.canaries_without_nodes import still_canaries
from harness.selftest.canary import Canary
from harness.selftest.live_canaries import LiveCanaries
from harness.selftest.noise_canary import noise_canary
from harness.stages.node_parts import prepare_node_parts
from harness.toolbox.toolbox import Toolbox


def canaries(toolbox: Toolbox, report: Callable[[str], None]) -> tuple[Canary, ...]:
    """Return every canary, those without nodes first. Raises HarnessError when Kafka cannot be had."""
    kafka = distribution_of(None, DEFAULT_KAFKA, toolbox)
    live = LiveCanaries(prepare_node_parts(Request(), kafka, toolbox, report), kafka.raft_jar, kafka.version)
    return (*still_canaries(), noise_canary(), *live.canaries())
