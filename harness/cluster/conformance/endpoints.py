"""For how long voters listen where the voter set does not know them: when UpdateRaftVoter is due; pure.

A voter whose endpoint changed is to tell the leader so every three fetch time-outs (KIP-853). Before 4.1 it does so
only where no request is on its way at that very moment, and a Fetch nearly always is (KAFKA-16538). So it breaks no
rule by itself: it is told, and measured beside base.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness.cluster.address import Address

PERIODS_IN_FETCH_TIMEOUTS = 3


@dataclass(frozen=True, slots=True)
class Unregistered:
    """Since when (a monotonic time) each voter is not known where it listens, and the longest that one was, in s."""

    since: Mapping[int, float] = field(default_factory=dict)
    longest: float = 0.0


def follow(
    known: Unregistered, at: float, named: Mapping[int, Address], present: Mapping[int, Address]
) -> Unregistered:
    """Take a leader's answer into account: what the voter set names, and where running voters listen.

    A voter that the set does not have at all was removed: nothing is due from it.
    """
    wrong = [node for node, address in present.items() if named.get(node, address) != address]
    since = {node: known.since.get(node, at) for node in wrong}
    return replace(known, since=since, longest=max([known.longest, *(at - began for began in since.values())]))
