"""How long nobody led after a leader that was stopped had resigned, from what nodes log of themselves; pure.

It tells the voters that its epoch ends (EndQuorumEpoch, KIP-595), and the first of them stands at once. Who waits for a
fetch time-out instead takes 1.5 s or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.cluster.conformance.history import History
from harness.cluster.conformance.observations import LEADER, RESIGNED, Transitioned

_LOGGED_LATE = 0.05  # nodes log milliseconds, and the harness notes the signal once it is sent


@dataclass(frozen=True, slots=True)
class OrderlyStop:
    """A node was asked to stop and ended by itself; times in seconds since the Unix epoch."""

    node: int
    began: float
    ended: float


def handovers(history: History, stops: Sequence[OrderlyStop]) -> Iterator[float]:
    """Yield the seconds from the resignation of each stopped leader until another leads; nothing where none does."""
    steps = list(history.of(Transitioned))
    for stop in stops:
        for resigned in (each for each in steps if _is_end_of_office(each, stop)):
            led = (each for each in steps if each.state.kind == LEADER and each.state.epoch > resigned.state.epoch)
            if (next_at := min((each.place.at for each in led), default=0.0)) > 0:
                yield max(next_at - resigned.place.at, 0.0)


def _is_end_of_office(step: Transitioned, stop: OrderlyStop) -> bool:
    is_meanwhile = stop.began - _LOGGED_LATE <= step.place.at <= stop.ended + _LOGGED_LATE
    return is_meanwhile and step.place.node == stop.node and step.state.kind == RESIGNED
