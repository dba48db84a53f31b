"""The end of a run: every node is asked to stop (SIGTERM), and it is noted which did not end by itself.

Brokers go first, while there is a quorum that lets them go; then the voters, at once. A voter that is left without a
majority cannot end in order on any build: it is killed, and nothing is said of it. So is a broker that takes its time
after something went wrong: an observer that lost its quorum hangs on every build. What nodes log meanwhile is kept
apart from their logs of the plan, as `shutdown.log`: who ends first is a matter of chance.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.waiting import wait_until
from harness.cluster.cluster import Cluster
from harness.cluster.node import STOP_TIMEOUT_SECONDS, Node
from harness.model.runs import AT_THE_END, Shutdown
from harness.rundir.parts import SHUTDOWN_LOG

# For brokers of a run in which something went wrong: too short for anything to be said of one that is late.
SHORT_PATIENCE_SECONDS = 1.5


def end_nodes(
    cluster: Cluster, passed: bool, is_slow: Callable[[], bool], patience: float = STOP_TIMEOUT_SECONDS
) -> tuple[Shutdown, ...]:
    """Stop every running node within `patience` seconds for each group, and say how each took it.

    A node of a healthy cluster ends within two seconds; voters among which leadership changes meanwhile take up to the
    five that KafkaRaftClientDriver allows them, and eight were seen. Some that hang among others that end are told by
    how much longer they took, so that they are waited for well beyond that.

    Of brokers that are late where the run has not `passed`, and of nodes that are late while `is_slow` says that the
    host holds them back, nothing is said.
    """
    running = cluster.running
    with _logs_apart(node for node in cluster.nodes.values() if node.is_alive):
        word = cluster.topology.observer_word
        brokers = [node for node in running if not node.is_voter]
        if passed:
            found = _end_group(brokers, word, patience, is_slow)
        else:
            found = _end_group(brokers, word, SHORT_PATIENCE_SECONDS, lambda: True)
        voters = [node for node in running if node.is_voter]
        majority = len(cluster.topology.voter_ids) // 2 + 1
        return (*found, *_end_group(voters, "voter", patience, is_slow, majority))


def shutdown_of(node: Node, *, role: str, ended: bool, seconds: float, phase: str) -> Shutdown:
    """Return how a node took SIGTERM."""
    failed = ended and not node.ended_in_order and not node.was_stopped_while_starting
    return Shutdown(node.id, role, ended, round(seconds, 2), phase, failed)


def _end_group(
    nodes: list[Node], role: str, patience: float, is_excused: Callable[[], bool], least: int = 1
) -> list[Shutdown]:
    """Stop nodes, and say how each took it; of the last ones nothing is said when fewer than `least` are left."""
    began = time.monotonic()
    asked = [node for node in nodes if node.terminate()]
    found: dict[int, Shutdown] = {}

    def all_are_noted() -> bool:
        for node in asked:
            if node.id not in found and node.exit_code is not None:
                seconds = time.monotonic() - began
                found[node.id] = shutdown_of(node, role=role, ended=True, seconds=seconds, phase=AT_THE_END)
        return len(asked) - len(found) < least

    in_time = wait_until(all_are_noted, patience)
    counts = not in_time and not is_excused()
    for node in asked:
        if counts and node.id not in found:
            found[node.id] = shutdown_of(node, role=role, ended=False, seconds=patience, phase=AT_THE_END)
        node.finish_stopping(keep_threads=counts)
    return list(found.values())


@contextmanager
def _logs_apart(nodes: Iterable[Node]) -> Iterator[None]:
    """Move what nodes log meanwhile, from the next whole line on, to a file of its own."""
    sizes = {node.log_file: node.log_file.stat().st_size for node in nodes if node.log_file.is_file()}
    try:
        yield
    finally:
        for log, size in sizes.items():
            _cut(log, size)


def _cut(log: Path, size: int) -> None:
    with log.open("rb") as stream:
        stream.seek(max(size - 1, 0))
        stream.readline()
        end = stream.tell()
        with log.with_name(SHUTDOWN_LOG).open("wb") as rest:  # a flood may be larger than memory
            shutil.copyfileobj(stream, rest)
    os.truncate(log, end)
