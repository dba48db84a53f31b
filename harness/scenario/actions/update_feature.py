"""Raising a feature of the cluster (KIP-584)."""

from __future__ import annotations

from dataclasses import dataclass

from harness.cluster.voter_changes import update_feature as ask_to_update
from harness.scenario.refs import current_leader
from harness.scenario.verbs import action
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class UpdateFeature:
    """Ask the active controller once to raise a feature."""

    feature: str
    level: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"ask for {self.feature} {self.level} (UpdateFeatures)"

    def perform(self, world: World) -> None:
        """Journal what was answered: a refusal is for the plan to judge, by what it expects. Raises Unreachable."""
        cluster, leader = world.cluster, current_leader().find(world)
        answer = ask_to_update(cluster.wire, cluster.controllers[leader], self.feature, self.level)
        world.note(f"UpdateFeatures of {self.feature} to {self.level}: {answer}", leader)


@action
def update_feature(feature: str, level: int) -> UpdateFeature:
    """Ask the active controller to raise a feature to a level (UpdateFeatures); the answer is journaled."""
    return UpdateFeature(feature, level)
