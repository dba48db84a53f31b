"""How long is long enough: bounds computed from the nodes' own time-outs, so that "for ever" has a number."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

_FETCH_TIMEOUT = "controller.quorum.fetch.timeout.ms"
_REQUEST_TIMEOUT = "controller.quorum.request.timeout.ms"
_RECONNECT_BACKOFF = "reconnect.backoff.max.ms"
# The leader appends a no-op every 500 ms (the default of metadata.max.idle.interval.ms in every release line, which
# --config must leave alone): an observer that follows advances within three of them and a look.
THREE_NO_OPS_SECONDS = 3 * 0.5
FOLLOW_WINDOW_SECONDS = THREE_NO_OPS_SECONDS + 0.2
_MARGIN = 1.4
_SHOWS_SECONDS = 4.0
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}

Settings = Mapping[str, str]


def seconds(duration: str) -> float:
    """Parse `500ms`, `30s` or `3m`. Raises ValueError."""
    match = _DURATION.fullmatch(str(duration))
    if match is None:
        raise ValueError(f"{duration!r} is not a duration; write 500ms, 30s or 3m")
    return float(match[1]) * _UNITS[match[2]]


@dataclass(frozen=True, slots=True)
class RecoveryBound:
    """How long an observer may take to find the next leader, once there is one.

    Its fetch time-out, one request time-out per voter, the longest reconnect back-off and the oracle's window, and
    40 % on top: 15 s by default. A connection that is refused, as on loopback, costs far less than its time-out.
    """

    voters: int

    def seconds(self, settings: Settings) -> float:
        """Return the bound under these server properties (see `in_force`), in whole seconds."""
        once = int(settings[_FETCH_TIMEOUT]) + int(settings[_RECONNECT_BACKOFF])
        waits = (once + self.voters * int(settings[_REQUEST_TIMEOUT])) / 1000
        return math.ceil(_MARGIN * (waits + FOLLOW_WINDOW_SECONDS))


@dataclass(frozen=True, slots=True)
class FetchTimeouts:
    """So many fetch time-outs, and four seconds in which it shows: what a quorum does when its nodes fall silent.

    A leader whom no majority fetches from gives up after 1.5 of them (LeaderState.timeUntilCheckQuorumExpires), a
    follower whose leader is silent stands for election after one; split votes back off for up to a second each
    (controller.quorum.election.backoff.max.ms). A look at voters that hang takes a second.
    """

    times: float

    def seconds(self, settings: Settings) -> float:
        """Return the bound under these server properties (see `in_force`), in whole seconds."""
        return math.ceil(self.times * int(settings[_FETCH_TIMEOUT]) / 1000 + _SHOWS_SECONDS)


AN_ELECTION = FetchTimeouts(4)
Bound = RecoveryBound | FetchTimeouts
Within = float | Bound


def seconds_of(within: Within, settings: Settings) -> float:
    """Return a bound in seconds under these server properties (see `in_force`)."""
    return within if isinstance(within, float | int) else within.seconds(settings)


def in_force(settings: Settings, defaults: Mapping[str, int]) -> Settings:
    """Return server properties with Kafka's defaults (milliseconds) for time-outs that they do not set to a number."""
    known = {key: settings.get(key, "").strip() for key in defaults}
    return {**settings, **{key: value if value.isdigit() else str(defaults[key]) for key, value in known.items()}}
