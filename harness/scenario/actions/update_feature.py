"""Raising a feature of the cluster (KIP-584)."""

from __future__ import annotations

import time
from dataclasses import dataclass

from harness.cluster.feature_updates import update_feature as ask_to_update
from harness.cluster.voter_changes import Answer
from harness.scenario.refs import current_leader
from harness.scenario.verbs import action
from harness.scenario.world import World

_WITHIN_SECONDS = 12.0
_RETRY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class UpdateFeature:
    """Ask the active controller to raise a feature, again while it refuses.

    Voters must have told the leader first what they support (UpdateRaftVoter), which takes up to three fetch time-outs.
    """

    feature: str
    level: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"ask for {self.feature} {self.level} (UpdateFeatures)"

    def perform(self, world: World) -> None:
        """Journal the last answer: a refusal is for the plan to judge, by what it expects. Raises Unreachable."""
        deadline, answer = time.monotonic() + _WITHIN_SECONDS, self._ask(world)
        while not answer.is_done and time.monotonic() < deadline and not world.is_over():
            time.sleep(_RETRY_SECONDS)
            answer = self._ask(world)
        world.note(f"UpdateFeatures of {self.feature} to {self.level}: {answer}")

    def _ask(self, world: World) -> Answer:
        cluster, leader = world.cluster, current_leader().find(world)
        return ask_to_update(cluster.wire, cluster.controllers[leader], self.feature, self.level)


@action
def update_feature(feature: str, level: int) -> UpdateFeature:
    """Ask the active controller to raise a feature (UpdateFeatures), for some seconds; the answer is journaled."""
    return UpdateFeature(feature, level)
