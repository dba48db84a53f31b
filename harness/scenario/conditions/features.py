"""Whether the cluster has a feature (KIP-584): what a release brings counts only once it is finalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster import probes
from harness.cluster.protocol import Unreachable
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class FeatureIsOn:
    """A feature is finalised at level 1 or above, or is not."""

    name: ClassVar[str] = "feature_is_on"
    feature: str
    wanted: bool

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the cluster {'has' if self.wanted else 'does not have'} {self.feature}"

    def sample(self, world: World) -> Sample:
        """Ask any broker."""
        for address in world.cluster.brokers.values():
            try:
                level = probes.finalised_features(address).get(self.feature, 0)
            except Unreachable:
                continue
            return Sample((level > 0) is self.wanted, {"level": level})
        return Sample(False, testable=False)


@condition
def has_feature(feature: str) -> FeatureIsOn:
    """The cluster has a feature, by its finalised level: for stretches of a plan that need it."""
    return FeatureIsOn(feature, True)


@condition
def lacks_feature(feature: str) -> FeatureIsOn:
    """The cluster does not have a feature: its release does not know it, or it is at level 0."""
    return FeatureIsOn(feature, False)
