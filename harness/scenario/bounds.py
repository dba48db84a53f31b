"""How long is long enough: bounds computed from the nodes' own time-outs, so that "for ever" has a number."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

# Defaults of Kafka 3.9.1 (QuorumConfig, KRaftConfigs, CommonClientConfigs), in milliseconds.
_FETCH_TIMEOUT = ("controller.quorum.fetch.timeout.ms", 2000)
_REQUEST_TIMEOUT = ("controller.quorum.request.timeout.ms", 2000)
_RECONNECT_BACKOFF_MAX_SECONDS = 1.0
# The leader appends a no-op every 500 ms (metadata.max.idle.interval.ms, which --config must leave alone): an observer
# that follows advances within three of them and a look.
FOLLOW_WINDOW_SECONDS = 3 * 0.5 + 0.2
_MARGIN = 1.4
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}

Settings = Mapping[str, str]


def seconds(duration: str) -> float:
    """Parse `500ms`, `30s` or `3m`. Raises ValueError."""
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise ValueError(f"{duration!r} is no duration; write 500ms, 30s or 3m")
    return float(match[1]) * _UNITS[match[2]]


@dataclass(frozen=True, slots=True)
class RecoveryBound:
    """How long an observer may take to find the next leader, once there is one.

    Its fetch time-out, one request time-out per voter, the longest reconnect back-off and the oracle's window, and
    40 % on top: 15 s by default. A connection that is refused, as on loopback, costs far less than its time-out.
    """

    voters: int

    def seconds(self, settings: Settings) -> float:
        """Return the bound under these server properties, in whole seconds."""
        waits = _seconds(settings, _FETCH_TIMEOUT) + self.voters * _seconds(settings, _REQUEST_TIMEOUT)
        return math.ceil(_MARGIN * (waits + _RECONNECT_BACKOFF_MAX_SECONDS + FOLLOW_WINDOW_SECONDS))


Within = float | RecoveryBound


def seconds_of(within: Within, settings: Settings) -> float:
    """Return a bound in seconds under these server properties."""
    return within.seconds(settings) if isinstance(within, RecoveryBound) else within


def _seconds(settings: Settings, key_and_default: tuple[str, int]) -> float:
    key, default = key_and_default
    value = settings.get(key, "").strip()
    return (int(value) if value.isdigit() else default) / 1000
