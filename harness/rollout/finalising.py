"""Finalising the features of a cluster that was rolled, and asking what a downgrade would then come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from harness.cluster import probes
from harness.cluster.address import Address
from harness.cluster.protocol import Unreachable
from harness.model.features import Downgrade, FeaturePlan
from harness.rollout.commands import Tools, try_call
from harness.rollout.script_calls import Asked, ScriptCall
from harness.scenario.steps import Sample
from harness.scenario.world import World

FEATURES_SCRIPT = "kafka-features.sh"
FINALISED_AT = "features finalised"  # among the marks of a world


@dataclass(frozen=True, slots=True)
class Finalising:
    """What is finalised, and the candidate's own commands to do so."""

    plan: FeaturePlan
    tools: Tools


def upgrade_call(plan: FeaturePlan) -> ScriptCall:
    """Return the command that finalises the features."""
    return ScriptCall(FEATURES_SCRIPT, Asked.BROKERS, f"upgrade --release-version {plan.release}")


def downgrade_call(plan: FeaturePlan) -> ScriptCall:
    """Return the command that says whether the features could be lowered to base's, and changes nothing."""
    return ScriptCall(FEATURES_SCRIPT, Asked.BROKERS, f"downgrade --release-version {plan.release_before} --dry-run")


def describe_call() -> ScriptCall:
    """Return the command that says at which levels features are finalised."""
    return ScriptCall(FEATURES_SCRIPT, Asked.BROKERS, "describe")


def levels_of(plan: FeaturePlan) -> tuple[dict[str, int], dict[str, int]]:
    """Return the levels of features before and after they are finalised."""
    return ({each.name: each.level_before for each in plan.changes}, {c.name: c.level_after for c in plan.changes})


@dataclass(frozen=True, slots=True)
class FinaliseFeatures:
    """Finalise the features by Kafka's own command, after it was said what going back then means."""

    finalising: Finalising

    @property
    def description(self) -> str:
        """The action as a clause."""
        plan = self.finalising.plan
        return f"run {upgrade_call(plan).text()}, all this being known: {' '.join(plan.told)}"

    def perform(self, world: World) -> None:
        """Run it, and note it when it fails."""
        world.marks[FINALISED_AT] = world.step_began
        tried = try_call(self.finalising.tools, upgrade_call(self.finalising.plan), world)
        world.write(tried)
        if not tried.agrees:
            world.note(f"`{tried.command}` failed (exit {tried.exit_code}): {tried.output}")


@dataclass(frozen=True, slots=True)
class TryDowngrade:
    """Ask the controllers, without changing anything, whether the features could be lowered to base's again."""

    finalising: Finalising

    @property
    def description(self) -> str:
        """The action as a clause."""
        plan = self.finalising.plan
        return f"see by {downgrade_call(plan).text()} whether going back is {plan.downgrade}, as predicted"

    def perform(self, world: World) -> None:
        """Run it, and note it when the answer is not what was said before."""
        plan = self.finalising.plan
        refused = () if plan.downgrade is Downgrade.LOSSLESS else tuple(levels_of(plan)[0])
        tried = try_call(self.finalising.tools, downgrade_call(plan), world, refused)
        world.write(tried)
        if not tried.agrees:
            world.note(
                f"it was said that going back is {plan.downgrade} once the features are finalised, and "
                f"`{tried.command}` says otherwise (exit {tried.exit_code}): {tried.output}"
            )


@dataclass(frozen=True, slots=True)
class NoteNoWayBack:
    """Where the roll was stopped after the features were finalised, base is put on no node any more."""

    plan: FeaturePlan
    description: str = "note whether there still is a way back"

    def perform(self, world: World) -> None:
        """Note that there is none; where every node still names base's levels, as when it was refused, there is."""
        if FINALISED_AT not in world.marks:
            return
        if FeaturesAre(levels_of(self.plan)[0]).sample(world).ok:
            del world.marks[FINALISED_AT]
        else:
            world.note("the roll was stopped with the features finalised: base is put on no node any more")


@dataclass(frozen=True, slots=True)
class FeaturesAre:
    """Every node says that features are finalised at these levels; one that it does not name is at 0."""

    name: ClassVar[str] = "features_are"
    levels: Mapping[str, int]

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"every node says that {', '.join(f'{name} is {level}' for name, level in self.levels.items())}"

    def sample(self, world: World) -> Sample:
        """Ask every node."""
        problems = {str(node.id): self._problem(node.config.listeners[0]) for node in world.cluster.nodes.values()}
        wrong = [f"node {node} {problem}" for node, problem in problems.items() if problem]
        return Sample(not wrong, problems, problem="; ".join(wrong))

    def _problem(self, address: Address) -> str:
        try:
            seen = probes.finalised_features(address)
        except Unreachable as error:
            return f"does not answer: {error}"
        wrong = {name: seen.get(name, 0) for name, level in self.levels.items() if seen.get(name, 0) != level}
        return f"says {', '.join(f'{name} {level}' for name, level in wrong.items())}" if wrong else ""
