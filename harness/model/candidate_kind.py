"""What a candidate is known to be, which decides what it is held to."""

from __future__ import annotations

from enum import StrEnum


class CandidateKind(StrEnum):
    """What is known of a candidate's jar.

    `SERIES`: it was built here from a patch series, or declares everything that one adds. `CLAIMED`: somebody's jar
    with a claims file. `UNKNOWN`: somebody's jar, or a whole Kafka, without claims; the question is whether anything is
    worse.
    """

    SERIES = "series"
    CLAIMED = "claimed"
    UNKNOWN = "unknown"
