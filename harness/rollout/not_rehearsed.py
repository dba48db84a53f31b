"""What the rehearsals of a rollout do not show, and the strongest reason against their answer; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from harness.base.text import listed
from harness.model.features import Downgrade, FeaturePlan
from harness.model.rollout import Rehearsal, RolloutOutcome, RollPlan
from harness.rollout.nodes import STATIC, parse_topology
from harness.rollout.rehearsals import KINDS, rehearsals_of
from harness.rollout.rollout_verdict import outcome_of, ran_the_candidate

_DATA = (
    "How long your replicas take to catch up: the nodes were processes of one host, with little data and one Java, and "
    "their server.properties are the same before and after."
)
_CLIENTS = "Clients other than librdkafka's."


def left_out(features: FeaturePlan | None, rehearsals: Sequence[Rehearsal]) -> tuple[str, ...]:
    """Return the rehearsals that there are for these builds and that have no result."""
    known = {each.name for each in rehearsals}
    return tuple(name for name in rehearsals_of((), features) if name not in known)


def not_rehearsed(
    plan: RollPlan, features: FeaturePlan | None, lacking: Sequence[str], not_compared: str, *, whole_kafkas: bool
) -> tuple[str, ...]:
    """Return in sentences what nobody tried: the rehearsals that are `lacking`, then what no rehearsal can show.

    `not_compared` says why the logs of the roll were not compared, empty where they were.
    """
    return (
        *(f"{name}: {KINDS[name].question}" for name in lacking),
        *([not_compared] if not_compared else []),
        *_of_your_cluster(plan),
        *_of_voters(plan, features),
        *(_of_features(features) if whole_kafkas else ()),
        _DATA,
        _CLIENTS,
    )


def _of_your_cluster(plan: RollPlan) -> Iterator[str]:
    if plan.security:
        yield "Your own certificates and their host names, your users, an authorizer and its ACLs."
    else:
        yield "TLS, SASL, an authorizer and its ACLs: no --command-config was given."


def _of_voters(plan: RollPlan, features: FeaturePlan | None) -> Iterator[str]:
    """Voters are in the configuration or in the log (KIP-853); a fleet from before Kafka 3.9 has them in the former."""
    if parse_topology(plan.topology).static_voters:
        yield "Voters that stand in the metadata log (kraft.version 1): here controller.quorum.voters named them."
        return
    made = ", which finalising all features may make them for good" if features and features.changes else ""
    yield (
        f"Voters that stand in controller.quorum.voters (kraft.version 0): here they were those of the metadata log"
        f"{made} (--topology {plan.topology}{STATIC} rehearses them)."
    )


def _of_features(features: FeaturePlan | None) -> Iterator[str]:
    yield "A cluster that runs base at lower feature levels than those of its release."
    if features and features.changes and features.downgrade is Downgrade.LOSSLESS:
        yield "The way back once the features are finalised and lowered again: predicted and checked, but not rolled."


def against(outcome: RolloutOutcome, rehearsals: Sequence[Rehearsal], lacking: Sequence[str]) -> str:
    """Return the strongest reason against the answer; `lacking` are the rehearsals that were left out."""
    tried = (each for each in rehearsals if ran_the_candidate(each))
    passed = [each.name for each in tried if outcome_of(each) is RolloutOutcome.PASSED]
    match outcome:
        case RolloutOutcome.PASSED:
            if lacking:
                return f"{listed(lacking)} {'was' if len(lacking) == 1 else 'were'} not rehearsed."
            return "Each rehearsal ran once: a fault that shows only in some rolls may have been missed."
        case RolloutOutcome.STOPPED:
            fine = f"Nothing speaks against the candidate in {listed(passed)}. " if passed else ""
            return f"{fine}Each rehearsal ran once, so a single unlucky roll would look the same."
        case RolloutOutcome.INCONCLUSIVE:
            if not passed:
                return "None: nothing was decided in the candidate's favour."
            return f"Nothing that could be decided speaks against the candidate: {listed(passed)}."
        case never:
            assert_never(never)
