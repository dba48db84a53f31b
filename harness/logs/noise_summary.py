"""Noise in sentences: from how many runs it is known, and what base's jar warns of; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from harness.model.findings import WORSE
from harness.model.stock_noise import StockLine, StockNoise, StockPlace, StockRun


def describe_noise(noise: StockNoise) -> Iterator[str]:
    """Yield the runs of each scenario, then what each kind of node warns of, the most frequent first."""
    runs: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for run in noise.runs:
        plan = f", plan {run.plan[:12]}" if run.plan else ""
        runs[run.scenario, run.topology, run.profile + plan, _kafka(run)].append(run.day)
    for (scenario, topology, profile, kafka), days in sorted(runs.items()):
        yield f"{scenario} ({topology}, {profile}): {len(days)} runs of {kafka}, {min(days)} to {max(days)}"
    for place in noise.places:
        yield f"{place.scenario}, {place.node_role}:"
        yield from sorted((_sentence(place, line) for line in place.lines if _warns(line)), reverse=True)


def _kafka(run: StockRun) -> str:
    own = (
        f", in a Kafka that is no release (jars {run.jars_sha256[:12]})" if run.jars_sha256 and not run.released else ""
    )
    return f"{run.kafka_version}, jar {run.jar_sha256[:12]}{own}"


def _warns(line: StockLine) -> bool:
    return line.level in WORSE and not line.word


def _sentence(place: StockPlace, line: StockLine) -> str:
    counts = [int(number) for number in line.counts.split()]
    counts = counts * len(place.runs) if len(counts) == 1 else counts
    seen = sum(count > 0 for count in counts)
    text = " ".join(line.text.split())
    return f"  {seen:3} of {len(counts)} runs, at most {max(counts):4} times  {line.level:5} {text}"
