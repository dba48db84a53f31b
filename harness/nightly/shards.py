"""Which machine runs what: even by time, and stable when the matrix grows; pure.

Rendezvous hashing gives each verification an order of shards that depends on nothing else; a bound on every shard's
load makes it take the next one where its first is full. So a new verification moves only those that it crowds out.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence

from harness.base.errors import HarnessError
from harness.model.request import Request
from harness.scenario.bounds import seconds

_SLACK = 1.15  # a shard may take so many times its even part, for the sake of moving little
_STAGES = 90.0  # seconds of a verification around its runs: build, proof, Spark
_SIDE_BY_SIDE = 2
_RUN = {"fast": 30.0, "production": 45.0}  # seconds of one run, so many side by side, on two cores


def parse_shard(text: str) -> tuple[int, int]:
    """Return i and n of `i/n`. Raises HarnessError."""
    left, slash, right = text.partition("/")
    if not (slash and left.isdecimal() and right.isdecimal() and 1 <= int(left) <= int(right) <= 1000):
        raise HarnessError(f"--shard {text} is not one of the parts 1/n to n/n.", "Write --shard 2/4, for example.")
    return int(left), int(right)


def estimate(request: Request, suites: Mapping[str, int]) -> float:
    """Return the seconds that a verification is taken to last before anybody knows; `suites` counts scenarios."""
    scenarios = len(request.scenarios) or suites.get(request.suite, 1)
    one = _RUN[request.profile] + (seconds(request.soak) / _SIDE_BY_SIDE if request.soak else 0.0)
    simulated = seconds(request.simulate) if request.simulate else 0.0
    return _STAGES + one * request.repeats * scenarios * (len(request.arms) or 3) + simulated


def assign(lasting: Mapping[str, float], shards: int) -> dict[str, int]:
    """Return the shard, from 1, of every verification; `lasting` is what each is taken to last, by id."""
    weights = {name: _rounded(known) for name, known in lasting.items()}
    bound = max(_SLACK * sum(weights.values()) / shards, max(weights.values(), default=0.0))
    loads = [0.0] * shards
    placed = {}
    for name in sorted(weights, key=lambda name: (-weights[name], name)):
        shard = _first_with_room(_preferred(name, shards), loads, bound - weights[name])
        loads[shard] += weights[name]
        placed[name] = shard + 1
    return placed


def _rounded(seconds: float) -> float:
    """Round to a power of √2: a night that takes a little longer moves nothing."""
    return float(2 ** (round(2 * math.log2(max(seconds, 1.0))) / 2))


def _preferred(name: str, shards: int) -> list[int]:
    return sorted(range(shards), key=lambda shard: hashlib.sha256(f"{name} {shard}".encode()).digest())


def _first_with_room(preferred: Sequence[int], loads: Sequence[float], room: float) -> int:
    fitting = (shard for shard in preferred if loads[shard] <= room)
    return next(fitting, min(preferred, key=lambda shard: loads[shard]))
