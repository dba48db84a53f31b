"""What a night over the release lines showed, release by release: read from its verdicts, and put into words.

For `benchmarks/versions.py`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from harness.model.arms import RELEASE, kafkas_compared
from harness.model.kafka_inventory import Boot
from harness.model.operator_changes import OperatorChanges
from harness.model.runs import RunResult
from harness.model.verdict import VerdictRecord
from harness.rundir.directory import RunDirectory

BASE = "3.9.1"
CUT = "observer-cut"
FIXES = ("observer-held", CUT, "unregistered-endpoint")  # asked beside the suite: what a line fixed
LOST = "FAILED(observer_recovers)"
LOST_SHARE = "observer_cpu_busiest_percent"
CUT_SHARE = "observer_raft_busiest_percent"  # of the thread that asks for the leader
NOTHING = "—"


@dataclass
class Release:
    """What a night showed of one release: its runs, its boots, and how it compares with 3.9.1 (nothing of 3.9.1).

    Several verifications may have asked it different things.
    """

    version: str
    runs: list[RunResult] = field(default_factory=list)
    boots: set[Boot] = field(default_factory=set)
    beside: list[VerdictRecord] = field(default_factory=list)
    changes: OperatorChanges | None = None

    @property
    def verdict(self) -> str:
        """What its verifications came to."""
        return " and ".join(dict.fromkeys(record.verdict for record in self.beside))

    @property
    def scenarios(self) -> list[str]:
        """The scenarios that it was asked."""
        return sorted({run.scenario for run in self.runs})

    def labels(self, scenario: str) -> Counter[str]:
        """Return how its runs of a scenario ended."""
        return Counter(run.label for run in self.runs if run.scenario == scenario)

    def decided(self, scenario: str) -> set[str]:
        """Return the different endings of a scenario, of runs that showed something."""
        return {run.label for run in self.runs if run.scenario == scenario and run.outcome.is_decided}

    def figures(self, name: str) -> dict[str, float]:
        """Return a figure by scenario of the suite, as the median of its decided runs."""
        return medians((run for run in self.runs if run.outcome.is_decided and run.scenario not in FIXES), name)

    @property
    def lost_shares(self) -> dict[str, float]:
        """The processor's share of an observer of the suite that was lost, in percent of a core by scenario."""
        return medians((run for run in self.runs if run.label == LOST and run.scenario not in FIXES), LOST_SHARE)

    @property
    def cut_shares(self) -> dict[str, float]:
        """The share of a core that an observer's raft thread took that was cut off from its leader, in percent."""
        return medians((each for each in self.runs if each.outcome.is_decided and each.scenario == CUT), CUT_SHARE)


def medians(runs: Iterable[RunResult], name: str) -> dict[str, float]:
    found = defaultdict(list)
    for run in runs:
        if name in run.measures:
            found[run.scenario].append(run.measures[name])
    return {scenario: median(values) for scenario, values in sorted(found.items())}


def of_releases(record: VerdictRecord) -> bool:
    """Whether a verification is of Apache's releases as they are, beside the one that is the base of all."""
    kafkas = kafkas_compared(record.arms)
    as_released = all(arm.build.builder == RELEASE and not arm.build.kafka.place for arm in record.arms)
    return kafkas is not None and as_released and kafkas[0].version == BASE


def releases_of(folder: Path, verdicts: Mapping[str, VerdictRecord]) -> list[Release]:
    """Return every release that was asked, oldest first; `verdicts` are by their folder in the night's."""
    found: dict[str, Release] = {}
    for name, record in verdicts.items():
        versions = {arm.name: arm.build.kafka.version for arm in record.arms}
        for run in record.runs:
            found.setdefault(versions[run.arm], Release(versions[run.arm])).runs.append(run)
        upgrade = RunDirectory(folder / name).upgrade
        for inventory in (upgrade.base.read_if_exists(), upgrade.candidate.read_if_exists()):
            if inventory and inventory.version in found:
                found[inventory.version].boots.update(inventory.boots)
        candidate = found[next(version for version in versions.values() if version != BASE)]
        candidate.beside.append(record)
        candidate.changes = candidate.changes or upgrade.changes.read_if_exists()
    return sorted(found.values(), key=lambda release: numbers(release.version))


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def outcome(labels: Counter[str]) -> str:
    """Return how runs ended: once where all agree, else with counts."""
    if len(labels) < 2:
        return next(iter(labels), NOTHING)
    return ", ".join(f"{count} × {label}" for label, count in labels.most_common())


def listed(shares: Mapping[str, float]) -> str:
    """Return shares by scenario."""
    return ", ".join(f"{each} {share:.0f}" for each, share in shares.items()) or NOTHING


def spread(figures: Mapping[str, float]) -> str:
    """Return the median over scenarios and the worst, with its name."""
    if not figures:
        return NOTHING
    worst = max(figures, key=lambda scenario: figures[scenario])
    return f"{median(figures.values()):.1f}; {figures[worst]:.1f} ({worst})"


def as_base(release: Release, base: Release) -> list[str]:
    """Return the scenarios that end as on the base."""
    return [each for each in release.scenarios if release.decided(each) == base.decided(each) != set()]
