"""JaCoCo's agent in the nodes of a run: narrowed to the classes that changed, sending to the run's collector."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.cluster.address import Address
from harness.cluster.node import Launch
from harness.coverage.collector import Collector

# No name of another shape gets into the agent's options; the group is the outermost class.
_CLASS_FILE = re.compile(r"((?:\w+/)*\$*\w+)(?:\$[\w$]*)?\.class")


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent's jar, and the outermost classes (`org/apache/kafka/raft/QuorumConfig`) that it instruments."""

    jar: Path
    classes: tuple[str, ...]

    def flag(self, address: Address) -> str:
        """Return the JVM flag that starts it; the nested classes of each class are instrumented with it."""
        names = (name.replace("/", ".") for name in self.classes)
        includes = ":".join(f"{name}:{name}$*" for name in names)
        return f"-javaagent:{self.jar}=output=tcpclient,address={address.host},port={address.port},includes={includes}"


def outermost_class(entry: str) -> str:
    """Return the class around a jar's class file, or that class itself; empty for what is no ordinary class file."""
    found = _CLASS_FILE.fullmatch(entry)
    return found.group(1) if found else ""


@contextmanager
def collecting(agent: Agent, launch: Launch, data: Path) -> Iterator[Launch]:
    """Give how nodes are started so that the file `data` gets their execution data."""
    with Collector(data, launch.host) as collector:
        flags = (*launch.extra_flags, agent.flag(collector.address))
        yield replace(launch, extra_flags=flags, before_kill=collector.dump)
