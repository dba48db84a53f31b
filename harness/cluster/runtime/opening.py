"""Which runtime a cluster gets, and work that is done in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from harness.base.processes import be_ready_to_spawn
from harness.cluster.runtime.base import Runtime
from harness.cluster.runtime.loopback_runtime import OnLoopback
from harness.cluster.runtime.namespace_runtime import InNamespaces
from harness.cluster.runtime.network import HARNESS, Network
from harness.cluster.topology import Topology
from harness.model.setup import NodeRuntime

_T = TypeVar("_T")


# What nodes in containers lack, by the names of capabilities.
_NOT_IN_CONTAINERS = {
    "network_namespaces": "nodes in containers share the host's network, in which nothing can be cut",
    "fake_clock": "a container's image has no libfaketime",
}


def cannot_give(kind: NodeRuntime, needs: Iterable[str]) -> str:
    """Return what a scenario needs and nodes of this kind lack, with the remedy; empty when nothing."""
    lacking = (_NOT_IN_CONTAINERS.get(each, "") for each in needs if kind is NodeRuntime.CONTAINER)
    return next((f"{reason}. Leave --runtime out for this scenario." for reason in lacking if reason), "")


def in_runtime(kind: NodeRuntime, topology: Topology, work: Callable[[Runtime], _T]) -> _T:
    """Do something in the runtime that a topology asks for, and end the runtime, whatever comes of it.

    In a network of its own the work is done by a thread of the harness's host there, as is all that it starts.
    Raises HarnessError when the runtime cannot be made, or leaves something behind.
    """
    if kind is NodeRuntime.CONTAINER:
        from harness.cluster.runtime.container_runtime import containers  # takes half a second to load

        with containers() as runtime:
            return work(runtime)
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
