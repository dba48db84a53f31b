"""Network namespaces: a network of a node's own, in which links can be cut."""

from __future__ import annotations

import shutil
import subprocess

from harness.base.processes import bare_environment
from harness.scenario.capabilities.base import capability

_SECONDS = 5


@capability(fix="Run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1); install iproute2.")
def network_namespaces() -> str:
    """Network namespaces of the run's own."""
    program = shutil.which("unshare")
    if program is None:
        return "there is no program unshare"
    command = [program, "--user", "--map-root-user", "--net", "true"]
    try:
        done = subprocess.run(
            command, env=bare_environment(), capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stderr.strip() or f"unshare ended with {done.returncode}" if done.returncode else ""
