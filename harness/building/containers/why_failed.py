"""Why a build in a container failed, where it is not the compiler that has the word; pure."""

from __future__ import annotations

import re

from harness.base.errors import HarnessError
from harness.containers.failures import NO_SPACE, CommandEnd

_KILLED = 137  # 128 and SIGKILL
_TERMINATED = 143
# Gradle leaves the exception's name out.
_HEAP = re.compile(r"java\.lang\.OutOfMemoryError|^Java heap space$|^GC overhead limit exceeded$", re.MULTILINE)
_MISSING = re.compile(
    r"(?:Could not find|No cached version of) ([\w.-]+:[\w.-]+:[\w.-]+?)(?:\.?\s|$|\.jar)", re.MULTILINE
)


def why_failed(ended: CommandEnd, memory: int, timeout: float) -> HarnessError | None:
    """Return what ended the build other than its sources; None when it succeeded, or the compiler has the word.

    `memory` is the container's limit in bytes, `timeout` the time limit in seconds.
    """
    if ended.exit_code == 0:
        return None
    gib = f"{memory / 2**30:.1f} GiB"
    if ended.timed_out:
        return _failed(f"did not end within {timeout:.0f} s", "Try again when the host is quiet.")
    if ended.out_of_memory or _HEAP.search(ended.output):
        return _failed(f"ran out of memory (its limit is {gib})", "See that the host has as much free, and try again.")
    if NO_SPACE in ended.output:
        return _failed("found no space left on the disk", "Free some where the engine keeps its containers.")
    if ended.exit_code in (_KILLED, _TERMINATED):
        return _failed("was killed from outside", "Find out who stops containers on this host, and try again.")
    missing = _MISSING.search(ended.output)
    if missing:
        return _failed(
            f"needs {missing.group(1)}, which is not among the jars at hand",
            "A build without network has the locked jars alone: check the lock, or what the sources import.",
        )
    return None


def _failed(why: str, hint: str) -> HarnessError:
    return HarnessError(f"The build in the container {why}.", hint)
