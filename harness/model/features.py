"""Which features a Kafka has, what finalising them changes in a cluster, and what going back then means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

METADATA_VERSION = "metadata.version"


@dataclass(frozen=True, slots=True)
class MetadataLevel:
    """A level of metadata.version; `changes_metadata` says that records before it may not be what they are after it.

    From `MetadataVersion.didMetadataChange` (KIP-778).
    """

    level: int
    name: str
    changes_metadata: bool


@dataclass(frozen=True, slots=True)
class KafkaFeatures:
    """What the classes of one Kafka say.

    `release` is its newest metadata version that is ready for production. `supported` are the lowest and the highest
    level of each feature with which its nodes start (`QuorumFeatures`), `first` the levels that the release stands for:
    a cluster that it formats begins with them, and `kafka-features.sh upgrade --release-version` sets them (KIP-1022).
    """

    version: str
    release: str
    supported: Mapping[str, tuple[int, int]]
    first: Mapping[str, int]
    metadata_levels: tuple[MetadataLevel, ...]

    def level(self, feature: str, number: int) -> str:
        """Return a level as people write it: `4.0-IV3 (25)` of metadata.version, else the number."""
        names = {each.level: each.name for each in self.metadata_levels}
        return f"{names[number]} ({number})" if feature == METADATA_VERSION and number in names else str(number)


class Downgrade(StrEnum):
    """What going back means once the features are finalised."""

    LOSSLESS = "lossless"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """A feature that finalising raises; levels as people write them."""

    name: str
    before: str
    after: str
    level_before: int
    level_after: int


@dataclass(frozen=True, slots=True)
class FeaturePlan:
    """What is finalised after a roll, and what is said of it before: features.json.

    `release` is what `kafka-features.sh` is given to finalise, `release_before` what to go back. `told` are sentences
    with their sources. Without `changes` there is nothing to finalise.
    """

    release: str
    release_before: str
    changes: tuple[FeatureChange, ...]
    downgrade: Downgrade
    told: tuple[str, ...]
