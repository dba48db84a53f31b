"""How well differences are told from noise: real runs of one build against each other, and with changes put in.

    python benchmarks/contrasts.py RUN_DIR [ARM] [SPLITS]

RUN_DIR holds at least eight runs of each scenario on one arm (`harness build --arms base --repeats 8`, `harness run`).
They are shared out at random: three are base, three the candidate, the rest a third arm. First nothing is changed:
every finding beyond the noise is false. Then the candidate's log files get, at random places, five new lines, three
that vanish, two that are logged ten times as often and one that changes places with its neighbour, besides other
ports, ids and times, which mean nothing. What is put in was drawn by other seeds than those the method was made with.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pyarrow as pa

from harness.logs.blocks import PARTIAL, Source, cut, partials
from harness.logs.contrasts import contrast
from harness.logs.diff import counts_of, exposures, node_logs
from harness.logs.events import Reading
from harness.logs.families import family
from harness.logs.layout import compile_layout
from harness.logs.masks import template_of
from harness.logs.pipeline import FileCounts, join
from harness.model import Finding, FindingKind, NodeLogs, Significance

SEED = 20261121
ARMS = {**dict.fromkeys(range(3), "base"), **dict.fromkeys(range(3, 6), "candidate")}
HEADER = re.compile(r"^(\[20\d\d-\S+ \S+\] (\w+) )(.*?)( \([\w.$]+\))$")
NEW = (
    "[RaftManager id=1] Dropped a batch of {} records that nobody asked for (org.apache.kafka.raft.KafkaRaftClient)",
    "[QuorumController id=2] Rebuilt the voter cache after {} ms (org.apache.kafka.controller.QuorumController)",
    "[BrokerLifecycleManager id=3] Deferred the heartbeat to broker {} (kafka.server.BrokerLifecycleManager)",
    "[MetadataLoader id=0] Skipped image {} as a newer one is loaded (org.apache.kafka.image.loader.MetadataLoader)",
    "[SocketServer listenerType=CONTROLLER, nodeId=1] Throttled connection {} (kafka.network.SocketServer)",
)

Key = tuple[FindingKind, str]


@dataclass(frozen=True)
class Score:
    """What was put in, what of it was found, and what else was told."""

    wanted: set[Key]
    found: set[Key]

    @property
    def false(self) -> set[Key]:
        return self.found - self.wanted


def shared(nodes: Sequence[NodeLogs], chance: random.Random) -> list[NodeLogs]:
    """Return the nodes with their runs shared out to three arms."""
    repeats = sorted({node.repeat for node in nodes})
    chance.shuffle(repeats)
    place = {repeat: (ARMS.get(at, "third"), at) for at, repeat in enumerate(repeats)}
    return [replace(n, arm=place[n.repeat][0], repeat=place[n.repeat][1]) for n in nodes]


def read(nodes: Iterable[NodeLogs], texts: dict[str, list[str]]) -> dict[str, FileCounts]:
    """Count the templates of all files, as a worker would, from their lines."""
    files = {}
    for node in nodes:
        reading = Reading(compile_layout(node.pattern), node.phases)
        for name in node.files:
            data = pa.scalar("".join(f"{line}\n" for line in texts[name]).encode(), pa.large_binary())
            rows = pl.concat([PARTIAL.to_frame(), *partials(cut(0, data), {0: Source(name, reading)})])
            counted = join(name, rows, reading)
            files[name] = replace(counted, counts=counted.counts.with_columns(statement=pl.lit("")))
    return files


def beyond(nodes: Sequence[NodeLogs], texts: dict[str, list[str]]) -> set[Key]:
    """Return what is told to be beyond the noise, each family once."""
    files = read(nodes, texts)
    counts = [count for node in nodes for count in counts_of(node, files)]
    found = contrast("base", "candidate", counts, exposures(nodes, files)).findings
    return {(each.kind, _told(each)) for each in found if each.significance is Significance.BEYOND}


def _told(finding: Finding) -> str:
    """Return the family; of two that changed places the first by name, since either may be told."""
    return min(finding.template, finding.says.partition(": ")[2] or finding.template)


def family_of(line: str) -> str:
    """Return what the diff compares of a line; empty for one that is no whole event."""
    parsed = HEADER.match(line)
    return family(template_of(parsed[3])) if parsed else ""


def changed(
    nodes: Sequence[NodeLogs], texts: dict[str, list[str]], chance: random.Random
) -> tuple[dict[str, list[str]], set[Key]]:
    """Return the texts with the candidate's changed, and what was changed."""
    scenario = chance.choice(sorted({node.scenario for node in nodes}))
    here = [node for node in nodes if node.scenario == scenario and node.node_role == "voter"]
    every = [name for node in here for name in node.files]
    families = {name: [family_of(line) for line in texts[name]] for name in every}
    counted = {name: Counter(families[name]) for name in every}
    logged = set.intersection(*(set(each) for each in counted.values())) - {""}
    steady = sorted(f for f in logged if len({c[f] for c in counted.values()}) == 1 and "values:" not in f)
    gone = chance.sample(steady, 3)
    often = chance.sample(sorted(f for f in logged if min(c[f] for c in counted.values()) >= 5 and f not in gone), 2)
    swapped = _neighbours(families, texts, set(steady) - {*gone, *often}, chance)
    wanted = {(FindingKind.VANISHED, each) for each in gone} | {(FindingKind.RATE, each) for each in often}
    wanted |= {(FindingKind.NEW, family(template_of(each.format(7).rpartition(" (")[0]))) for each in NEW}
    wanted |= {(FindingKind.ORDER, min(swapped))}
    out = dict(texts)
    for name in [name for node in here if node.arm == "candidate" for name in node.files]:
        lines = _swap(texts[name], families[name], swapped)
        kept = [line for line in lines if family_of(line) not in gone]
        kept = [line for line in kept for _ in range(10 if family_of(line) in often else 1)]
        for each in NEW:
            for _ in range(chance.randint(1, 4)):
                at = chance.choice([n for n, line in enumerate(kept) if HEADER.match(line)])
                head = HEADER.match(kept[at])
                assert head
                kept.insert(at, f"{head[1].rsplit(' ', 2)[0]} INFO {each.format(chance.randint(2, 900))}")
        out[name] = [_renumbered(line, chance) for line in kept]
    return out, wanted


def _neighbours(
    families: dict[str, list[str]], texts: dict[str, list[str]], allowed: set[str], chance: random.Random
) -> tuple[str, str]:
    """Return two families that stand side by side, in this order and from one logger, at every node of every run."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for name, known in families.items():
        first = {each: at for at, each in reversed(list(enumerate(known)))}
        for one, other in pairwise(known):
            beside = one in allowed and other in allowed and one != other and first[other] == first[one] + 1
            if beside and _logger(texts[name][first[one]]) == _logger(texts[name][first[other]]):
                seen[one, other] += 1
    return chance.choice(sorted(pair for pair, count in seen.items() if count >= len(families)))


def _logger(line: str) -> str:
    return line.rpartition("(")[2]


def _swap(lines: list[str], families: list[str], pair: tuple[str, str]) -> list[str]:
    at = families.index(pair[0])
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


def _renumbered(line: str, chance: random.Random) -> str:
    """Return a line with another port and other ids: noise that no template may show."""
    return re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda _: str(chance.randint(20000, 29999)), line)


def main(run_dir: Path, arm: str, splits: int) -> None:
    nodes = [node for node in node_logs(run_dir) if node.arm == arm]
    texts = {n: (run_dir / n).read_text("utf-8", "replace").splitlines() for node in nodes for n in node.files}
    alarms, scores = [], []
    for split in range(splits):
        chance = random.Random(SEED + split)
        ours = shared(nodes, chance)
        alarms.append(beyond(ours, texts))
        put_in, wanted = changed(ours, texts, chance)
        scores.append(Score(wanted, beyond(ours, put_in)))
        told = scores[-1]
        print(
            f"split {split}: {len(alarms[-1])} false without changes; with them {len(told.found & told.wanted)} of "
            f"{len(told.wanted)} found, {len(told.false)} false, missed {sorted(told.wanted - told.found)}, "
            f"false {sorted(told.false - alarms[-1])}"
        )
    right = sum(len(s.found & s.wanted) for s in scores)
    print(
        f"{splits} pairs of one build: {sum(map(bool, alarms))} with a finding, {sum(map(len, alarms))} findings in all"
    )
    print(f"changes: recall {right / sum(len(s.wanted) for s in scores):.3f}, ", end="")
    print(f"precision {right / max(sum(len(s.found) for s in scores), 1):.3f}")


if __name__ == "__main__":
    run = Path(sys.argv[1])
    main(run, sys.argv[2] if len(sys.argv) > 2 else "stock", int(sys.argv[3]) if len(sys.argv) > 3 else 20)
