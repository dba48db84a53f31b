"""Network namespaces: a network of a node's own, in which links can be cut."""

from __future__ import annotations

from harness.cluster.runtime.namespace_runtime import what_to_do, why_not
from harness.scenario.capabilities.base import capability


@capability(fix=what_to_do)
def network_namespaces() -> str:
    """Network namespaces of the run's own, with links that can be cut."""
    return why_not()
