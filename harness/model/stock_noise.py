"""What base's jars log by chance, learned from many runs of them: a file for each release line, and the copy of it that
a run directory was judged by.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.json_schema import Sha256

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class StockRun:
    """A run that noise was learned from, known by the digest of its journal (`id`).

    `topology` counts its nodes by kind (`1 observer, 3 voters`). `released` says whether all of it was Apache's own
    release, `outcome` what the run showed, `day` when it ran (UTC). `jars_sha256` is the digest of the digests of all
    jars of its Kafka, empty where those were not recorded: there `released` is said of the raft jar alone. `plan`
    is what its seal says of the plan and the server properties (`RunInputs.plan`), empty where that was not recorded.
    """

    id: Sha256
    scenario: str
    topology: str
    profile: str
    kafka_version: str
    jar_sha256: Sha256
    released: bool
    java: str
    outcome: str
    day: str
    jars_sha256: str = ""
    plan: str = ""


@dataclass(frozen=True, slots=True)
class StockLine:
    """A message type that nodes of one kind logged, or with `word` a value that one of its statements wrote.

    `counts` says how often in each run of the place, as numbers between spaces; a single number was the same in all.
    """

    level: str
    logger: str
    text: str
    counts: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class StockPlace:
    """What one kind of node logged in runs of one scenario; `runs` are their ids, in the order of the counts."""

    scenario: str
    node_role: str
    runs: tuple[Sha256, ...]
    lines: tuple[StockLine, ...]


@dataclass(frozen=True, slots=True)
class StockNoise:
    """What runs of one release line (`3.9`) logged, and where that is known from."""

    schema: int
    line: str
    runs: tuple[StockRun, ...] = ()
    places: tuple[StockPlace, ...] = ()
