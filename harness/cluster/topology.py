"""How many nodes there are, and what each of them is; pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topology:
    """How many voters (controllers, brokers too when `combined`) and broker-only nodes (observers) there are."""

    controllers: int
    observers: int
    combined: bool = True

    @property
    def voter_ids(self) -> tuple[int, ...]:
        """Voters are 0 … controllers-1."""
        return tuple(range(self.controllers))

    @property
    def observer_ids(self) -> tuple[int, ...]:
        """Observers follow the voters."""
        return tuple(range(self.controllers, self.controllers + self.observers))

    @property
    def node_ids(self) -> tuple[int, ...]:
        """All nodes: voters, then observers."""
        return (*self.voter_ids, *self.observer_ids)

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """Nodes that hold partitions."""
        return self.node_ids if self.combined else self.observer_ids


def describe_topology(topology: Topology) -> str:
    """Return the topology in words."""
    brokers = f"broker{'s' if topology.observers != 1 else ''}"
    if topology.combined:
        first = f"{topology.controllers} nodes that are controller and broker"
        return f"{first}, {topology.observers} more {brokers}"
    return f"{topology.controllers} controllers and {topology.observers} {brokers}"
