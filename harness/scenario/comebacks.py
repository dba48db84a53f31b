"""Nodes that stop while the plan goes on, and are started once both their end and their time have come."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock


class Comebacks:
    """The nodes of a run that are on their way down and up again, each in a thread of its own."""

    def __init__(self) -> None:
        self._stopping: dict[int, tuple[ThreadPoolExecutor, Future[bool]]] = {}
        self._starting: dict[int, Future[None]] = {}
        self._lock = Lock()
        self._called_off = False

    def begin(self, node: int, stop: Callable[[], bool]) -> None:
        """Have a thread stop a node; `stop` says whether it ended by itself."""
        thread = ThreadPoolExecutor(1, thread_name_prefix=f"node {node} stops")
        self._stopping[node] = thread, thread.submit(stop)

    def start_after(self, node: int, start: Callable[[bool], None]) -> bool:
        """Have that thread start the node once it has ended, and go on; return False for one that was not stopped.

        `start` gets whether it ended by itself.
        """
        if node not in self._stopping:
            return False
        thread, ended = self._stopping.pop(node)
        self._starting[node] = thread.submit(self._start, ended, start)
        thread.shutdown(wait=False)  # what it was given is done first
        return True

    def wait(self, node: int) -> bool:
        """Wait until a node was started; return False for one that is not to be. Raises what its thread raised."""
        if node not in self._starting:
            return False
        self._starting.pop(node).result()
        return True

    def call_off(self) -> None:
        """Start no node from here on: none outlives the run. A start that has begun is done when this returns."""
        with self._lock:
            self._called_off = True
        for thread, _ in self._stopping.values():
            thread.shutdown(wait=False)

    def _start(self, ended: Future[bool], start: Callable[[bool], None]) -> None:
        by_itself = ended.result()
        with self._lock:
            if not self._called_off:
                start(by_itself)
