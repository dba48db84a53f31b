"""Which runtime a cluster gets, and work that is done in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from harness.base.processes import be_ready_to_spawn
from harness.cluster.runtime.base import Runtime
from harness.cluster.runtime.loopback_runtime import OnLoopback
from harness.cluster.runtime.namespace_runtime import InNamespaces
from harness.cluster.runtime.network import HARNESS, Network
from harness.cluster.topology import Topology

_T = TypeVar("_T")


def in_runtime(topology: Topology, work: Callable[[Runtime], _T]) -> _T:
    """Do something in the runtime that a topology asks for, and end the runtime, whatever comes of it.

    In a network of its own the work is done by a thread of the harness's host there, as is all that it starts.
    Raises HarnessError when the runtime cannot be made, or leaves something behind.
    """
    if not topology.network:
        return _closing(OnLoopback(), work)
    be_ready_to_spawn()  # a thread for the whole process must not be born in a network that ends
    network = Network(topology.host_ids)
    return _closing(InNamespaces(network), lambda runtime: network.places[HARNESS].aside(lambda: work(runtime)))


def _closing(runtime: Runtime, work: Callable[[Runtime], _T]) -> _T:
    try:
        return work(runtime)
    finally:
        runtime.close()
