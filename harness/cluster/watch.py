"""The watch of a running cluster: every node's state and the quorum, several times a second."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.cluster.cluster import Cluster
from harness.cluster.probes import Quorum
from harness.kafka.release_lines import Mode

LOOK_EVERY_SECONDS = 0.2
_KEEP = 200


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the cluster at a monotonic time; `own_log_bytes` are sizes of observers' metadata logs on disk."""

    at: float
    quorum: Quorum
    own_log_bytes: dict[int, int]


def windowed(looks: Sequence[Look], window: float) -> list[Look]:
    """Return the looks (oldest first) of the `window` seconds up to the newest, and the one before them.

    Looks are counted, not seconds: on a slow host they come seldom, and two of them still show progress. Pure.
    """
    within = sum(look.at > looks[-1].at - window for look in looks)
    return list(looks[-(within + 1) :]) if looks else []


class Watcher:
    """Looks at the cluster in a thread of its own until stopped; `on_fault` is called when the watch itself fails."""

    def __init__(self, cluster: Cluster, on_look: Callable[[Look], None], on_fault: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._on_look = on_look
        self._on_fault = on_fault
        self._looks: deque[Look] = deque(maxlen=_KEEP)
        self._stop = threading.Event()
        self._looking = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="watcher", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Stop looking; returns when no look is under way."""
        self._stop.set()
        self._thread.join()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Look no more until this is left: a measured window is no place for it."""
        with self._looking:
            yield

    def recent(self, since: float) -> list[Look]:
        """Return the looks taken after a monotonic time, oldest first."""
        return [look for look in list(self._looks) if look.at > since]

    def _watch(self) -> None:
        """Look until stopped; a watch that failed must not pass for a lost observer."""
        try:
            while not self._stop.wait(LOOK_EVERY_SECONDS):
                with self._looking:
                    self._look()
        except Exception as error:
            self._on_fault(f"the watch of the cluster failed: {type(error).__name__}: {error}")

    def _look(self) -> None:
        self._cluster.look()
        began = time.monotonic()
        quorum = self._cluster.quorum()
        follows = self._cluster.topology.mode is Mode.KRAFT  # in ZooKeeper mode there is no such log
        sizes = {node.id: node.own_log_bytes() for node in self._cluster.running if follows and not node.is_voter}
        look = Look(began, quorum, sizes)
        self._looks.append(look)
        self._on_look(look)
