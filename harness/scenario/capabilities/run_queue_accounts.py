"""The kernel's account of how long a thread waited for a processor: it sets a starved host apart from a slow build."""

from __future__ import annotations

from pathlib import Path

from harness.scenario.capabilities.base import capability

_ACCOUNT = Path("/proc/self/schedstat")


@capability(fix="Use a kernel with CONFIG_SCHED_INFO: without it a host that starves a node goes unnoticed.")
def run_queue_accounts() -> str:
    """The kernel's account of waits for a processor (schedstat)."""
    try:
        return "" if len(_ACCOUNT.read_text().split()) == 3 else f"{_ACCOUNT} has another form"
    except OSError as error:
        return f"{_ACCOUNT} cannot be read: {error.strerror}"
