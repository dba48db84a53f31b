"""Differences between the logs of two arms."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.base.json_schema import Count
from harness.model.runs import Evidence

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")  # log4j's, mildest first
WORSE = LEVELS[LEVELS.index("WARN") :]  # of lines that can hold a candidate back
CUT = " … [cut]"  # ends an excerpt of an event that was too long to be kept whole


def severity(level: str) -> int:
    """Return how bad a level is; one that log4j does not know is worst."""
    return LEVELS.index(level.upper()) if level.upper() in LEVELS else len(LEVELS)


class FindingKind(StrEnum):
    """How a template differs across a contrast."""

    NEW = "new"
    VANISHED = "vanished"
    RATE = "rate"
    LEVEL = "level"
    ORDER = "order"
    VALUE = "value"
    SHIFT = "shift"


class Significance(StrEnum):
    """How a difference compares with the noise, which is what runs of one arm differ by."""

    BEYOND = "beyond the noise"
    WITHIN = "within the noise"
    UNKNOWN = "unknown"  # too few runs to know


@dataclass(frozen=True, slots=True)
class StockRate:
    """How often base's jar logs something: in `seen` of `runs` runs of the scenario, `most` times in one of them.

    `runs` are those that noise was learned from before, and base's own beside the candidate. `elsewhere` counts the
    runs that logged it in another scenario, or by other nodes. `unmatched` says that what the candidate logs is more
    than what any of them all comes near to, `flood` that one run logs far more than any such run, nor, of another Kafka
    than base's, than any that is known of that Kafka itself.
    """

    runs: Count
    seen: Count
    most: Count
    elsewhere: Count = 0
    unmatched: bool = False
    flood: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One family of log templates that differs between two arms in one scenario.

    `node_kind` is `voter` or `observer`. Counts are summed over all repeats and nodes of the arm; `base_runs` and
    `candidate_runs` are those of each repeat, and where the level differs only those at `level`.
    `phase` is where the difference is largest. `detail` is what counts do not show, in words. `fdr` is the false
    discovery rate of a rate that could be tested.
    Of a value, `template` is the statement with `{}` where the value stands, and what is counted are the lines with
    values that the other arm does not write. `base_lasting` and `candidate_lasting` say whether in every run of the
    arm such lines still came in its last stretch. `logged_by` says what the nodes were that logged it in `phase`.
    `stock` is what was known of base's jar beforehand, None where that was too little to judge by.
    `base_excerpt` and `candidate_excerpt` are real log lines (empty where the arm has none). `statement` is the file
    and line of the sources that wrote them (`org/apache/…/X.java:12`), empty where it is not known.
    """

    kind: FindingKind
    template: str
    scenario: str
    node_kind: str
    phase: str
    level: str
    logger: str
    base_count: Count
    candidate_count: Count
    base_excerpt: str
    candidate_excerpt: str
    evidence: tuple[Evidence, ...]
    statement: str = ""
    significance: Significance = Significance.UNKNOWN
    fdr: float | None = None
    base_runs: tuple[Count, ...] = ()
    candidate_runs: tuple[Count, ...] = ()
    detail: str = ""
    base_lasting: bool = False
    candidate_lasting: bool = False
    logged_by: str = ""
    stock: StockRate | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """The log differences between two arms: base/off (is the flag inert?), off/on (effect), base/on (rollout).

    `renamed` says in sentences what the candidate's version logs in other words, or by another class, than base's: it
    was compared as the same. `of_two_kafkas` says that base and the candidate are Kafkas of two releases: then
    floods alone decide.
    """

    base: str
    candidate: str
    findings: tuple[Finding, ...]
    renamed: tuple[str, ...] = ()
    of_two_kafkas: bool = False
