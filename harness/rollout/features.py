"""What finalising the features of another Kafka changes, and what going back then means, said before; pure."""

from __future__ import annotations

from collections.abc import Iterator

from harness.base.errors import HarnessError
from harness.model.features import METADATA_VERSION, Downgrade, FeatureChange, FeaturePlan, KafkaFeatures, MetadataLevel

_REFUSES = "FeatureControlManager.updateMetadataVersion"
_CHANGES = "MetadataVersion.didMetadataChange"
_STARTS = "QuorumFeatures"


def check_levels(base: KafkaFeatures, candidate: KafkaFeatures) -> None:
    """See that the candidate's nodes start in a cluster that base has formatted. Raises HarnessError."""
    for name, level in base.first.items():
        lowest, highest = candidate.supported.get(name, (0, 0))
        if level and not lowest <= level <= highest:
            raise HarnessError(
                f"A cluster of Kafka {base.version} has {name} at {base.level(name, level)}, and Kafka "
                f"{candidate.version} supports {_span(candidate, name)}: its nodes would not start there."
                f"{_and_no_way(base, candidate) if name == METADATA_VERSION and level > highest else ''}",
                "Roll between releases that support each other's levels; docs/rollout.md says what finalising does.",
            )


def _span(kafka: KafkaFeatures, name: str) -> str:
    if name not in kafka.supported:
        return "no level of it above 0"
    return " to ".join(kafka.level(name, level) for level in kafka.supported[name])


def _and_no_way(base: KafkaFeatures, candidate: KafkaFeatures) -> str:
    """Return whether the level could be lowered before such a downgrade, as the end of a sentence."""
    between = _changing(base, candidate.supported[METADATA_VERSION][1], base.first[METADATA_VERSION])
    if not between:
        lower = candidate.level(METADATA_VERSION, candidate.supported[METADATA_VERSION][1])
        return f" Lower it to {lower} first: no level between changes the metadata."
    return f" Nor can it be lowered: {_listed(base, between)} changed the metadata ({_CHANGES})."


def feature_plan(base: KafkaFeatures, candidate: KafkaFeatures) -> FeaturePlan:
    """Return what is finalised when every node runs the candidate, and what is to be said before."""
    changes = tuple(_changes(base, candidate))
    before, after = base.first[METADATA_VERSION], candidate.first[METADATA_VERSION]
    changing = _changing(candidate, before, after)
    downgrade = Downgrade.UNSUPPORTED if changing else Downgrade.LOSSLESS
    told = (
        _told_of_unchanged(base, candidate)
        if not changes
        else (_told_of_now(base, candidate), _told_of_later(base, candidate, changes, changing))
    )
    return FeaturePlan(candidate.release, base.release, changes, downgrade, told)


def _changes(base: KafkaFeatures, candidate: KafkaFeatures) -> Iterator[FeatureChange]:
    for name, after in candidate.first.items():
        before = base.first.get(name, 0)
        if after > before:
            yield FeatureChange(name, candidate.level(name, before), candidate.level(name, after), before, after)


def _changing(kafka: KafkaFeatures, low: int, high: int) -> tuple[MetadataLevel, ...]:
    """Return the levels above `low` and up to `high` that change the metadata, as this Kafka's classes say."""
    return tuple(each for each in kafka.metadata_levels if low < each.level <= high and each.changes_metadata)


def _told_of_unchanged(base: KafkaFeatures, candidate: KafkaFeatures) -> tuple[str, ...]:
    level = candidate.level(METADATA_VERSION, candidate.first[METADATA_VERSION])
    return (
        f"Kafka {base.version} and {candidate.version} stand for the same features (metadata.version {level}): there "
        "is nothing to finalise, and every node can go back at any time.",
    )


def _told_of_now(base: KafkaFeatures, candidate: KafkaFeatures) -> str:
    level = base.level(METADATA_VERSION, base.first[METADATA_VERSION])
    return (
        f"Until the features are finalised the cluster stays at metadata.version {level}, which Kafka {base.version} "
        f"and {candidate.version} both support: every node can go back ({_STARTS} of both)."
    )


def _told_of_later(
    base: KafkaFeatures,
    candidate: KafkaFeatures,
    changes: tuple[FeatureChange, ...],
    changing: tuple[MetadataLevel, ...],
) -> str:
    raised = ", ".join(f"{each.name} {each.before} → {each.after}" for each in changes)
    finalised = f"Once they are finalised ({raised}), "
    if changing:
        highest = base.level(METADATA_VERSION, base.supported[METADATA_VERSION][1])
        return (
            f"{finalised}there is no way back: {_listed(candidate, changing)} changed the metadata ({_CHANGES} of "
            f"Kafka {candidate.version}), so that the active controller refuses to lower metadata.version "
            f"({_REFUSES}), and nodes of Kafka {base.version} do not start above {highest} ({_STARTS})."
        )
    return (
        f"{finalised}nodes of Kafka {base.version} do not start until they are lowered again: "
        f"kafka-features.sh downgrade --release-version {base.release}. That loses nothing of metadata.version: no "
        f"level between changes the metadata ({_CHANGES} of Kafka {candidate.version})."
    )


def _listed(kafka: KafkaFeatures, levels: tuple[MetadataLevel, ...]) -> str:
    return " and ".join(kafka.level(METADATA_VERSION, each.level) for each in levels)
