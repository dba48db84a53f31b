"""How long nobody stood for election after a leader that was stopped had resigned, by what nodes log; pure.

It tells the voters that its epoch ends (EndQuorumEpoch, KIP-595), and the first of them stands at once: within 0.16 s
in 120 stops of six releases. Who waits for a fetch time-out instead takes 1.5 s or more. When one is elected says less:
a voter whose log is behind stands first as often as another, and is voted for by nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.cluster.conformance.history import History
from harness.cluster.conformance.observations import CANDIDATE, LEADER, PROSPECTIVE, RESIGNED, Transitioned

_LOGGED_LATE = 0.05  # nodes log milliseconds, and the harness notes the signal once it is sent
_STANDS = (PROSPECTIVE, CANDIDATE, LEADER)


@dataclass(frozen=True, slots=True)
class OrderlyStop:
    """A node was asked to stop and ended by itself; times in seconds since the Unix epoch."""

    node: int
    began: float
    ended: float


def waits_for_successors(history: History, stops: Sequence[OrderlyStop]) -> Iterator[float]:
    """Yield the seconds from the resignation of each stopped leader until another stands; nothing where none does."""
    steps = list(history.of(Transitioned))
    for stop in stops:
        for resigned in (each.place.at for each in steps if _is_end_of_office(each, stop)):
            stands = (each.place.at for each in steps if each.place.node != stop.node and each.state.kind in _STANDS)
            if (first := min((at for at in stands if at >= resigned), default=0.0)) > 0:
                yield first - resigned


def _is_end_of_office(step: Transitioned, stop: OrderlyStop) -> bool:
    is_meanwhile = stop.began - _LOGGED_LATE <= step.place.at <= stop.ended + _LOGGED_LATE
    return is_meanwhile and step.place.node == stop.node and step.state.kind == RESIGNED
