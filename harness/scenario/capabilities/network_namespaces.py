"""Network namespaces: a network of a node's own, in which links can be cut."""

from __future__ import annotations

from harness.cluster.runtime.namespace_runtime import why_not
from harness.scenario.capabilities.base import capability


@capability(
    fix="Run as root, or allow users their namespaces (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu also "
    "kernel.apparmor_restrict_unprivileged_userns=0); in a container, with --privileged."
)
def network_namespaces() -> str:
    """Network namespaces of the run's own, with links that can be cut."""
    return why_not()
