"""Raising a feature of the cluster (KIP-584): what the active controller answers."""

from __future__ import annotations

from datetime import timedelta

from kio.schema.errors import ErrorCode
from kio.static.primitive import i8, i16, i32Timedelta

from harness.cluster.address import Address
from harness.cluster.protocol import Wire, ask
from harness.cluster.voter_changes import Answer

_TIMEOUT_SECONDS = 5.0
_UPGRADE = 1  # FeatureUpdate.UpgradeType.UPGRADE


def update_feature(wire: Wire, address: Address, feature: str, level: int) -> Answer:
    """Ask the active controller to raise a feature to a level (UpdateFeatures); return the first error, if any.

    Raises Unreachable.
    """
    of = wire.schemas("update_features", address)
    update = of.FeatureUpdateKey(feature=feature, max_version_level=i16(level), upgrade_type=i8(_UPGRADE))
    request = of.UpdateFeaturesRequest(
        timeout=i32Timedelta.parse(timedelta(seconds=_TIMEOUT_SECONDS)), feature_updates=(update,), validate_only=False
    )
    answer = ask(address, request, timeout=_TIMEOUT_SECONDS)
    said = next((each for each in (answer, *answer.results) if each.error_code is not ErrorCode.none), answer)
    return Answer(said.error_code.name, said.error_message or "")
