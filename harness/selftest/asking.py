"""All canaries, with what the live ones stand on."""

from __future__ import annotations

from collections.abc import Callable

from harness.model.request import DEFAULT_KAFKA
from harness.model.setup import Setup
from harness.selftest.cases import Canary
from harness.selftest.live import Stand
from harness.selftest.still import still_canaries
from harness.stages.ground import distribution_of
from harness.stages.run import lay_ground
from harness.toolbox.toolbox import Toolbox

_SETUP = Setup(java_home="", base_dist="", profile="fast", flag_key="", jobs=1)


def canaries(toolbox: Toolbox, say: Callable[[str], None]) -> tuple[Canary, ...]:
    """Return every canary, those without nodes first. Raises HarnessError when Kafka cannot be had."""
    kafka = distribution_of(_SETUP, DEFAULT_KAFKA, toolbox.downloads)
    stand = Stand(lay_ground(_SETUP, DEFAULT_KAFKA, toolbox, say), kafka.raft_jar, kafka.version)
    return (*still_canaries(), *stand.canaries())
