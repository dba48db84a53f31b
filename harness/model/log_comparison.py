"""Of which results the node logs were compared: compared.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.json_schema import Sha256


@dataclass(frozen=True, slots=True)
class LogComparison:
    """What a log diff was about: digests of results by their path in the run directory; `failed` says why it failed,
    empty when it did not.
    """

    results: Mapping[str, Sha256]
    failed: str = ""
