"""How bad a link must be seen to be before a plan goes on: as bad as it was made, and not worse; later good. Pure."""

from __future__ import annotations

import math

from harness.cluster.runtime.link_probes import Burst, LinkMeasure, Tries
from harness.cluster.runtime.links import Quality

LEAST_LOSS = 0.005  # what can be shown in a few seconds
_BY_CHANCE = 1e-6  # how often a sound link, or a lossy one, may look like the other
_FEWEST_TRIES = 50
_PATIENCE_SECONDS = 2.0
_PROBE_BITS = 8 * 32  # a datagram of four bytes
_LATE_SECONDS = 1.0  # the host has other work, and so has a link
_ALSO_LOST = 0.05
_ALSO_LOST_IN_A_QUEUE = 0.5
_DEVIATIONS = 5
_BURST_SECONDS = 0.5
_BURST_COUNT = 100
_PACKETS = (32, 1428)  # bytes, the smallest and the largest
_MOST_OF_RATE, _LEAST_OF_RATE = 1.1, 0.2


def tries_for(quality: Quality) -> Tries:
    """Return how many datagrams show a loss, and how far apart they are, so that they make no queue of their own."""
    count = _FEWEST_TRIES
    if quality.loss:
        count = max(count, math.ceil(math.log(_BY_CHANCE) / (2 * math.log(1 - quality.loss))))
    apart = 2 * _PROBE_BITS / quality.bits_per_second if quality.bits_per_second else 0.0
    return Tries(count, apart, _PATIENCE_SECONDS + 2 * quality.delay)


def burst_for(quality: Quality) -> Burst:
    """Return a burst that takes half a second on such a link, or as long as the smallest packets do."""
    room = int(quality.bits_per_second * _BURST_SECONDS / 8 / _BURST_COUNT)
    size = min(max(room, _PACKETS[0]), _PACKETS[1])
    return Burst(_BURST_COUNT, size, _PATIENCE_SECONDS + quality.delay)


def flaw(quality: Quality, measure: LinkMeasure, tries: Tries) -> str:
    """Return in what a link that was probed is better or worse than its quality; empty where it is as bad as that."""
    if measure.lost >= 1:
        return "nothing came back"
    took, least = f"a round trip took {1000 * measure.round_trip:.1f} ms", 2 * quality.delay
    if measure.round_trip < least:
        return f"it is still good: {took}"
    if measure.round_trip > least + _LATE_SECONDS:
        return f"it is too slow: {took}"
    if quality.loss and not measure.lost:
        return f"it is still good: none of {tries.count} was lost"
    if measure.lost > _most_lost(quality, tries):
        return f"it is too bad: {100 * measure.lost:.0f} % of {tries.count} were lost"
    return ""


def _most_lost(quality: Quality, tries: Tries) -> float:
    share = 1 - (1 - quality.loss) ** 2
    deviation = math.sqrt(share * (1 - share) / tries.count)
    return share + _DEVIATIONS * deviation + (_ALSO_LOST_IN_A_QUEUE if quality.bits_per_second else _ALSO_LOST)


def rate_flaw(quality: Quality, rate: float) -> str:
    """Return why a link that let so many bits a second of a burst through is not as narrow as it was made, or more."""
    if rate > _MOST_OF_RATE * quality.bits_per_second:
        return f"it is still good: it let {rate / 1e6:.2f} Mbit/s through"
    if rate < _LEAST_OF_RATE * quality.bits_per_second:
        return f"it is too narrow: it let {rate / 1e6:.3f} Mbit/s through"
    return ""


def still_bad(quality: Quality, measure: LinkMeasure, tries: Tries) -> str:
    """Return in what a link is still as bad as it had been made; empty where it is good again."""
    if measure.lost >= 1:
        return "nothing came back"
    if quality.delay and measure.round_trip >= 2 * quality.delay:
        return f"it is still slow: a round trip took {1000 * measure.round_trip:.1f} ms"
    if quality.loss and measure.lost:
        return f"it still loses packets: {100 * measure.lost:.0f} % of {tries.count}"
    return ""


def still_narrow(quality: Quality, rate: float) -> str:
    """Return why a link that let so many bits a second of a burst through is still narrow; empty where it is not."""
    return f"it let {rate / 1e6:.2f} Mbit/s through" if rate <= _MOST_OF_RATE * quality.bits_per_second else ""
