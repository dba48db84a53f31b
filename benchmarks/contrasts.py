"""How well differences are told from noise: real runs of one build against each other, and with changes put in.

    python benchmarks/contrasts.py RUN_DIR [ARM] [SPLITS]

RUN_DIR holds many runs of each scenario on one arm (`harness build --arms base --repeats 20`, `harness run`). They are
shared out at random: three are base, three the candidate, and from the rest noise is learned. With eight runs the rest
is too few for that, and nothing is known but what is compared. First nothing is changed: every finding beyond the noise
is false. Then the candidate's log files get, at random places, five new lines, three
that vanish, two that are logged ten times as often, one that changes places with its neighbour, three other values (a
key of the configuration, a word in a gap of a statement, a word in brackets) and one that comes eight seconds later,
besides other ports, ids and times, which mean nothing. What is put in was drawn by other seeds than those the method
was made with.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from harness.logs.compare.contrasts import contrast
from harness.logs.compare.observing import observe, stocks
from harness.logs.compare.template_families import family
from harness.logs.log_diff import counts_of, node_logs
from harness.logs.log_lengths import exposures
from harness.logs.read.blocks import LogFile, whole
from harness.logs.read.event_counts import Reading
from harness.logs.read.layout import compile_layout
from harness.logs.read.library import Origins, library
from harness.logs.read.masks import template_of
from harness.logs.read.pipeline import FileCounts, join
from harness.model.findings import Finding, FindingKind, Significance
from harness.model.node_logs import NodeLogs
from harness.rundir.directory import RunDirectory

SEED = 20261122
LEARNED = "learned"
ARMS = {**dict.fromkeys(range(3), "base"), **dict.fromkeys(range(3, 6), "candidate")}
HEADER = re.compile(r"^(\[20\d\d-\S+ \S+\] (\w+) )(.*?)( \([\w.$]+\))$")
NEW = (
    "[RaftManager id=1] Dropped a batch of {} records that nobody asked for (org.apache.kafka.raft.KafkaRaftClient)",
    "[QuorumController id=2] Rebuilt the voter cache after {} ms (org.apache.kafka.controller.QuorumController)",
    "[BrokerLifecycleManager id=3] Deferred the heartbeat to broker {} (kafka.server.BrokerLifecycleManager)",
    "[MetadataLoader id=0] Skipped image {} as a newer one is loaded (org.apache.kafka.image.loader.MetadataLoader)",
    "[SocketServer listenerType=CONTROLLER, nodeId=1] Throttled connection {} (kafka.network.SocketServer)",
)

# Of each sort one is drawn: what stands before a value in a line, the value, what the candidate writes instead.
VALUES = (
    (
        ("unclean.leader.election.enable = ", "false", "true"),
        ("auto.create.topics.enable = ", "true", "false"),
        ("num.network.threads = ", "3", "7"),
        ("log.cleanup.policy = ", "[delete]", "[compact]"),
    ),
    (
        ("Transition from STARTING to ", "STARTED", "RECOVERY"),
        ("Waiting for the socket server to be ", "started", "bound"),
        ("Updated ", "connection-accept-rate", "connection-close-rate"),
        ("Registered signal handlers for ", "TERM, INT, HUP", "TERM, INT"),
    ),
    (
        ("isMigratingZkBroker=", "false", "true"),
        ("inControlledShutdown=", "false", "true"),
        ("leaderRecoveryState=", "RECOVERED", "RECOVERING"),
        ("fetchingSnapshot=", "Optional.empty", "Optional.present"),
    ),
)
LATER = 8.0  # seconds
LONG = 14.0  # seconds that a phase must last for a line in it to come later
VERSION = "3.9.1"

Texts = Mapping[str, list[str]]


@dataclass(frozen=True)
class Truth:
    """A change that was put in, and whether a finding tells of it."""

    sort: str
    name: str
    tells: Callable[[Finding], bool]


@dataclass(frozen=True)
class Score:
    """What was put in, what of it was found, and what else was told."""

    wanted: Sequence[Truth]
    told: Sequence[Finding]

    @property
    def found(self) -> list[Truth]:
        return [truth for truth in self.wanted if any(map(truth.tells, self.told))]

    @property
    def false(self) -> set[tuple[str, str]]:
        """What was told and not put in, each family once."""
        return {(f.kind.value, f.template) for f in self.told if not any(truth.tells(f) for truth in self.wanted)}


def shared(nodes: Sequence[NodeLogs], chance: random.Random) -> list[NodeLogs]:
    """Return the nodes with their runs shared out to three arms."""
    repeats = sorted({node.repeat for node in nodes})
    chance.shuffle(repeats)
    place = {repeat: (ARMS.get(at, LEARNED), at) for at, repeat in enumerate(repeats)}
    return [replace(n, arm=place[n.repeat][0], repeat=place[n.repeat][1]) for n in nodes]


def read(nodes: Iterable[NodeLogs], texts: Texts, origins: Origins) -> dict[str, FileCounts]:
    """Count the templates of all files, as a worker would, from their lines."""
    files = {}
    for node in nodes:
        reading = Reading(compile_layout(node.pattern), node.phases, node.names)
        for name in node.files:
            data = pa.scalar("".join(f"{line}\n" for line in texts[name]).encode(), pa.large_binary())
            counted = join(name, whole(data, LogFile(name, reading)), reading)
            files[name] = replace(counted, counts=origins.with_origins(counted.counts, reading))
    return files


def beyond(nodes: Sequence[NodeLogs], files: Mapping[str, FileCounts]) -> list[Finding]:
    """Return what is told to be beyond the noise."""
    counts = list(counts_of(nodes, files))
    own = [count for count in counts if count.where.arm != LEARNED]
    seconds = exposures([node for node in nodes if node.arm != LEARNED], files)
    before = [run for (arm, *_), run in observe([count for count in counts if count.where.arm == LEARNED]).items()]
    stock = stocks(own, [("base", "candidate")], {"base": before})["base", "candidate"]
    found = contrast("base", "candidate", own, seconds, None, stock).findings
    return [each for each in found if each.significance is Significance.BEYOND]


def family_of(line: str, names: Mapping[str, str]) -> str:
    """Return what the diff compares of a line; empty for one that is no whole event."""
    known = re.compile("|".join(map(re.escape, names)) or "$^")
    parsed = HEADER.match(known.sub(lambda found: names[found[0]], line))
    return family(template_of(parsed[3])) if parsed else ""


def changed(
    nodes: Sequence[NodeLogs], texts: Texts, chance: random.Random
) -> tuple[dict[str, list[str]], list[NodeLogs], list[Truth]]:
    """Return the texts with the candidate's changed, the nodes that logged them, and what was changed."""
    scenario = chance.choice(sorted({node.scenario for node in nodes}))
    here = [node for node in nodes if node.scenario == scenario and node.node_role == "voter"]
    every = [name for node in here for name in node.files]
    families = {name: [family_of(line, node.names) for line in texts[name]] for node in here for name in node.files}
    counted = {name: Counter(families[name]) for name in every}
    logged = set.intersection(*(set(each) for each in counted.values())) - {""}
    steady = sorted(f for f in logged if len({c[f] for c in counted.values()}) == 1 and "values:" not in f)
    gone = chance.sample(steady, 3)
    frequent = sorted(f for f in logged if min(c[f] for c in counted.values()) >= 5 and f not in gone)
    often = chance.sample(frequent, min(2, len(frequent)))
    swapped = _neighbours(families, texts, set(steady) - {*gone, *often}, chance)
    values = [value for sort in VALUES if (value := _value(sort, families, texts, gone, chance))]
    late = _late(here, families, texts, {*gone, *often, *(swapped or ())}, chance)
    wanted = [
        *(Truth("gone", each, _is_gone(each)) for each in gone),
        *(Truth("often", each, _is(FindingKind.RATE, each)) for each in often),
        *(Truth("new", each, _is(FindingKind.NEW, family(template_of(_message(each))))) for each in NEW),
        *([Truth("order", min(swapped), _is_order(min(swapped)))] if swapped else []),
        *(Truth("value", "".join(each), _is_value(*each[1:])) for each in values),
        *(Truth("shift", each, _is_late(each)) for _, each in late),
    ]
    out = dict(texts)
    theirs = [node for node in here if node.arm == "candidate"]
    for node, name in [(each, name) for each in theirs for name in each.files]:
        lines = texts[name]
        for phase, each in late:
            lines = _delayed(lines, families[name], each, next(p.start for p in node.phases if p.name == phase))
        lines = _swap(lines, families[name], swapped) if swapped else lines
        kept = [line for line in lines if family_of(line, node.names) not in gone]
        kept = [line for line in kept for _ in range(10 if family_of(line, node.names) in often else 1)]
        for each in NEW:
            for _ in range(chance.randint(1, 4)):
                at = chance.choice([n for n, line in enumerate(kept) if HEADER.match(line)])
                head = HEADER.match(kept[at])
                assert head
                number = chance.randint(10, 900)  # that of no broker, whose kind would be told
                kept.insert(at, f"{head[1].rsplit(' ', 2)[0]} INFO {each.format(number)}")
        for before, was, now in values:
            kept = [line.replace(before + was, before + now) for line in kept]
        out[name] = [_renumbered(line, node.names, chance) for line in kept]
    return out, theirs, wanted


def _message(new: str) -> str:
    return new.format(7).rpartition(" (")[0]


def _is(kind: FindingKind, template: str) -> Callable[[Finding], bool]:
    return lambda finding: finding.kind is kind and finding.template == template


def _is_late(late: str) -> Callable[[Finding], bool]:
    """A line comes later, or what it says is now what a node says last of it."""

    def tells(finding: Finding) -> bool:
        last = finding.template.endswith(" (a node's last)") and _is_gone(late)(finding)
        return last or _is(FindingKind.SHIFT, late)(finding)

    return tells


def _is_order(first: str) -> Callable[[Finding], bool]:
    """Of two lines that changed places either may be told: they are known by the first by name."""
    return lambda f: f.kind is FindingKind.ORDER and first == min(f.template, f.detail.partition(": ")[2])


def _is_gone(gone: str) -> Callable[[Finding], bool]:
    """A line is gone, or if the same statement has others the value that it wrote."""

    def tells(finding: Finding) -> bool:
        text = finding.template.removesuffix(" (a node's last)")
        parts = [re.escape(part) for part in re.split(r"…|\{\}", text)]
        value = finding.kind is FindingKind.VALUE and re.search(".*?".join(parts), gone) is not None
        return value or _is(FindingKind.VANISHED, gone)(finding)

    return tells


def _is_value(was: str, now: str) -> Callable[[Finding], bool]:
    def tells(finding: Finding) -> bool:
        sides = finding.detail.partition("; candidate: ")
        return finding.kind is FindingKind.VALUE and was in sides[0] and now in sides[2]

    return tells


def _value(
    sort: Sequence[tuple[str, str, str]], families: Texts, texts: Texts, gone: Sequence[str], chance: random.Random
) -> tuple[str, str, str] | None:
    """Return a value that every node of every run writes, in a line that stays."""

    def written(value: tuple[str, str, str], name: str) -> bool:
        lines = zip(families[name], texts[name], strict=True)
        return any(value[0] + value[1] in line and each not in gone for each, line in lines)

    known = [value for value in sort if all(written(value, name) for name in families)]
    return chance.choice(known) if known else None


def _late(
    here: Sequence[NodeLogs], families: Texts, texts: Texts, other: set[str], chance: random.Random
) -> list[tuple[str, str]]:
    """Return a long phase and a family that each run logs in it, soon after its beginning and once at each node."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    spoilt = set()
    for node in here:
        for phase in node.phases[1:]:
            lines = [(f, text) for n in node.files for f, text in zip(families[n], texts[n], strict=True) if f]
            after = [(f, _at(text) - phase.start) for f, text in lines if phase.start <= _at(text) < phase.end]
            times = Counter(f for f, _ in after)
            for each, seconds in after:
                found[phase.name, each].add(node.repeat)
                if times[each] > 1 or seconds + LATER > phase.end - phase.start or phase.end - phase.start < LONG:
                    spoilt.add((phase.name, each))
    runs = len({node.repeat for node in here})
    spoilt |= {each for each in found if each[1] in other}
    known = sorted(each for each, repeats in found.items() if len(repeats) == runs and each not in spoilt)
    return [chance.choice(known)] if known else []


def _at(line: str) -> float:
    return datetime.strptime(line[1:24], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC).timestamp()


def _delayed(lines: list[str], families: list[str], late: str, start: float) -> list[str]:
    def delayed(line: str) -> str:
        at = datetime.strptime(line[1:24], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC) + timedelta(seconds=LATER)
        return f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03}{line[24:]}"

    pairs = zip(lines, families, strict=True)
    return [delayed(line) if each == late and _at(line) >= start else line for line, each in pairs]


def _neighbours(
    families: dict[str, list[str]], texts: dict[str, list[str]], allowed: set[str], chance: random.Random
) -> tuple[str, str] | None:
    """Return two families that stand side by side, in this order and from one logger, at every node of every run."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for name, known in families.items():
        first = {each: at for at, each in reversed(list(enumerate(known)))}
        for one, other in set(pairwise(known)):
            beside = one in allowed and other in allowed and one != other and first[other] == first[one] + 1
            if beside and _logger(texts[name][first[one]]) == _logger(texts[name][first[other]]):
                seen[one, other] += 1
    known = sorted(pair for pair, count in seen.items() if count >= len(families))
    return chance.choice(known) if known else None


def _logger(line: str) -> str:
    return line.rpartition("(")[2]


def _swap(lines: list[str], families: list[str], pair: tuple[str, str]) -> list[str]:
    at = families.index(pair[0])
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


def _renumbered(line: str, names: Mapping[str, str], chance: random.Random) -> str:
    """Return a line with other ports, but for known addresses: noise that no template may show."""
    return re.sub(
        r"127\.0\.0\.1:\d+",
        lambda found: found[0] if found[0] in names else f"127.0.0.1:{chance.randint(20000, 29999)}",
        line,
    )


def main(run_dir: Path, arm: str, splits: int) -> None:
    nodes = [node for node in node_logs(RunDirectory(run_dir)) if node.arm == arm]
    texts = {n: (run_dir / n).read_text("utf-8", "replace").splitlines() for node in nodes for n in node.files}
    origins = Origins(library(VERSION))
    files = read(nodes, texts, origins)
    alarms, scores = [], []
    for split in range(splits):
        chance = random.Random(SEED + split)
        ours = shared(nodes, chance)
        alarms.append(Score((), beyond(ours, files)).false)
        put_in, theirs, wanted = changed(ours, texts, chance)
        scores.append(Score(wanted, beyond(ours, files | read(theirs, put_in, origins))))
        told = scores[-1]
        missed = sorted(f"{truth.sort} {truth.name}" for truth in wanted if truth not in told.found)
        print(
            f"split {split}: {len(alarms[-1])} false without changes {sorted(alarms[-1])}; with them "
            f"{len(told.found)} of {len(wanted)} found, {len(told.false)} false, missed {missed}, "
            f"false {sorted(told.false - alarms[-1])}",
            flush=True,
        )
    print(
        f"{splits} pairs of one build: {sum(map(bool, alarms))} with a finding, {sum(map(len, alarms))} findings in all"
    )
    put, right = (Counter(t.sort for s in scores for t in getattr(s, name)) for name in ("wanted", "found"))
    print("recall " + ", ".join(f"{sort} {right[sort]}/{put[sort]}" for sort in put))
    # Shifts are told only where they cannot be missed: their recall is a figure of its own.
    others = [sum(count for sort, count in of.items() if sort != "shift") for of in (right, put)]
    print(f"changes but shifts: recall {others[0] / others[1]:.3f}, ", end="")
    print(f"precision {right.total() / (right.total() + sum(len(s.false) for s in scores)):.3f}")


if __name__ == "__main__":
    run = Path(sys.argv[1])
    main(run, sys.argv[2] if len(sys.argv) > 2 else "stock", int(sys.argv[3]) if len(sys.argv) > 3 else 20)
