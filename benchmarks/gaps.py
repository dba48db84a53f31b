"""The matrix of gaps: writes what verifications of `--suite gaps` showed into docs/gaps.md.

    harness verify --suite gaps --arms base,on --fresh --out out/article
    harness verify --series dynamic-bootstrap-v2 --suite gaps --arms base,on --fresh --out out/v2
    python benchmarks/gaps.py out/article out/v2 [--page PAGE]

A column is a build: the release, or a series that is shipped. All runs of a cell count, those of stock from every
verification. Only what stands between the page's markers is written anew; the prose around it is to be read again
whenever the cells change. A row whose scenario was asked of nobody stays empty.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages import markdown, with_block
from versions_releases import NOTHING

from harness.base.errors import HarnessError
from harness.kafka.patching import load_series
from harness.kafka.series import series_folders
from harness.model.arms import Arm
from harness.model.runs import Outcome, RunResult
from harness.model.verdict import VerdictRecord
from harness.rundir.directory import RunDirectory

PAGE = Path(__file__).parents[1] / "docs" / "gaps.md"
_AFTERWARDS = "and then: "  # harness.engine.outcome: what failed after the arm had ended its plan


@dataclass(frozen=True, slots=True)
class Gap:
    """A row: what it is about, and the expectation (one of several, whichever a plan came to) that answers it.

    A name that ends with `*` is many expectations, all of which have to be met; the second of several is asked after
    the plan has failed. Without a scenario the answer is that of a claim.
    """

    about: str
    scenario: str
    expectations: tuple[str, ...]

    @property
    def named(self) -> str:
        return f"`{self.expectations[0]}`"


GAPS = (
    Gap("(1a) restarts under the leader that its disk knows", "observer-restarts", ("observer_follows_after_restart",)),
    Gap(
        "(13) all voters moved while it was down, configuration corrected, disk stale",
        "observer-restarts",
        ("observer_follows_by_corrected_configuration",),
    ),
    Gap(
        "(1b) the leader that its disk knows went while it was down",
        "observer-restarts",
        ("observer_follows_by_its_disk",),
    ),
    Gap(
        "(1c) restarted again, lost or not",
        "observer-restarts",
        ("observer_follows_after_another_restart", "lost_observer_recovers_by_a_restart"),
    ),
    Gap("(2) voters written in place of truncated records", "truncated-voters", ("observer_reads_replaced_voters",)),
    Gap("(4) bootstrap servers, not voters, configured", "ten-leaders", ("observer_follows_leader_1",)),
    Gap("(12) ten leaders, one after the other", "ten-leaders", ("observer_follows_leader_*",)),
    Gap("(12) a hundred leaders", "hundred-leaders", ("observer_follows_leader_*",)),
    Gap("(5) kraft.version 0: follows the next leader", "quiet-cluster", ("observer_follows_static_voters",)),
    Gap("(5) kraft.version 0: the list stays", "quiet-cluster", ("list_stays_as_configured",)),
    Gap("(3) an idle cluster: list replaced on change only", "quiet-cluster", ("list_is_replaced_on_change_only",)),
    Gap("(6) a moved voter gets into the voter set by itself", "unregistered-endpoint", ("endpoint_is_registered",)),
    Gap("(7) callers of the released API still link", "", ("old-constructor-stays",)),
    Gap("(15) names lead to other hosts", "all-voters-move", ("observer_follows_changed_hosts",)),
    Gap("(8) all voters moved at once: a leader is elected", "all-voters-move", ("moved_quorum_elects",)),
    Gap(
        "(9) a voter added and the known leader removed meanwhile",
        "voters-change-meanwhile",
        ("observer_finds_changed_voters",),
    ),
    Gap(
        "(10) newer voters by a snapshot, then the leader stops",
        "behind-a-snapshot",
        ("observer_recovers_after_snapshot",),
    ),
    Gap(
        "(11) announced names do not resolve: goes on by address",
        "unroutable-endpoints",
        ("observer_follows_by_address",),
    ),
    Gap(
        "(11) announced names do not resolve: the next leader",
        "unroutable-endpoints",
        ("observer_follows_next_leader_by_address",),
    ),
    Gap(
        "(11) a wrong endpoint of one voter is registered",
        "wrong-endpoint",
        ("observer_follows_beside_wrong_endpoint",),
    ),
    Gap("(14) cut from the leader for 6 s", "observer-cut", ("observer_recovers",)),
    Gap("(14) held (SIGSTOP) for 6 s", "observer-held", ("observer_follows_after_pause",)),
)


def main(words: list[str]) -> int:
    page = Path(words.pop(words.index("--page") + 1)) if "--page" in words else PAGE
    folders = [Path(word) for word in words if word != "--page"]
    page.write_text(written_anew(page.read_text("utf-8"), folders), encoding="utf-8")
    print(f"{page} has what {', '.join(map(str, folders))} showed.")
    return 0


def written_anew(page: str, folders: Sequence[Path]) -> str:
    """Return the page with what verifications showed between its markers. Raises HarnessError: no such folder."""
    records = [RunDirectory(folder).verdict.read() for folder in folders]
    if not records:
        raise HarnessError("No run directory was named.", "Name those of verifications with --suite gaps.")
    return with_block(page, "gaps", about(records) + "\n" + table(records))


def about(records: Sequence[VerdictRecord]) -> str:
    """Return which verifications these are, on what."""
    hosts = sorted({f"{each.host['cpus']} cores, {each.host['clusters side by side']} clusters" for each in records})
    runs = sum(len(each.runs) for each in records)
    days = " and ".join(sorted({each.started_at[:10] for each in records}))
    return f"{len(records)} verifications, {runs} runs in all, begun {days}; {'; '.join(hosts)} side by side at most.\n"


def table(records: Sequence[VerdictRecord]) -> str:
    columns = dict.fromkeys(column for record in records for arm in shown(record) for column in [build_of(arm)])
    rows = ((gap.about, place(gap), gap.named, *(cell(gap, records, column) for column in columns)) for gap in GAPS)
    return markdown(("gap", "scenario", "expectation", *columns), rows)


def place(gap: Gap) -> str:
    return f"`{gap.scenario}`" if gap.scenario else "the claim, by source and tests"


def shown(record: VerdictRecord) -> Iterator[Arm]:
    """Yield the arms that the table is about: what is rolled out, and what it replaces."""
    yield from (arm for arm in record.arms if str(arm.role) in ("base", "on"))


def build_of(arm: Arm) -> str:
    """Return what a column is called: a release, a series by the name of its folder, or another build by its own."""
    if not arm.build.series:
        return f"Kafka {arm.build.kafka_version}" if arm.build.builder != "given" else arm.build.name
    for folder in series_folders(arm.build.kafka_version):
        if tuple(patch.name for patch in load_series(folder).patches) == arm.build.series:
            return f"`{folder.name}`"
    return arm.build.name


def cell(gap: Gap, records: Sequence[VerdictRecord], column: str) -> str:
    """Return what a build showed of a gap, over all runs."""
    if not gap.scenario:
        return claimed(gap, records, column)
    runs = [
        run
        for record in records
        for arm in shown(record)
        if build_of(arm) == column
        for run in record.runs_of(gap.scenario, arm.name)
    ]
    return in_words([answer(gap, run) for run in runs]) if runs else NOTHING


def claimed(gap: Gap, records: Sequence[VerdictRecord], column: str) -> str:
    """Return what is said of a claim by the verifications whose candidate the column is."""
    said = [
        str(claim.status)
        for record in records
        for arm in shown(record)
        if str(arm.role) == "on" and build_of(arm) == column
        for claim in record.claims
        if claim.id in gap.expectations
    ]
    return said[0] if said else NOTHING


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run says: `passes`, `fails`, `not asked` or `not decided`, and after how many seconds."""

    word: str
    seconds: float = 0.0


def answer(gap: Gap, run: RunResult) -> Answer:
    """Return what one run says of a gap; an expectation that was met has the seconds that it took."""
    if any(named_so(run.expectation, name) for name in gap.expectations) and run.outcome is Outcome.FAILED:
        return Answer("fails")
    if gap.expectations[1:] and _AFTERWARDS in run.reason:
        return Answer("fails too")
    met = [seconds for name in gap.expectations for seconds in waits(run, name)]
    if met and not any(named_so(each, name) for each in run.unasked for name in gap.expectations):
        return Answer("passes", max(met))
    return Answer("not asked" if run.outcome in (Outcome.FAILED, Outcome.PASSED) else "not decided")


def named_so(expectation: str, name: str) -> bool:
    return expectation.startswith(name[:-1]) if name.endswith("*") else expectation == name


def waits(run: RunResult, name: str) -> Iterator[float]:
    """Yield how long expectations of a name took that were met."""
    for figure, seconds in run.measures.items():
        expectation, unit, _ = figure.rpartition("_seconds")
        if unit and named_so(expectation, name):
            yield seconds


def in_words(answers: Sequence[Answer]) -> str:
    """Return all answers of a cell, those that are alike counted."""
    by_word: dict[str, list[float]] = defaultdict(list)
    for each in answers:
        by_word[each.word].append(each.seconds)
    return ", ".join(told(word, seconds, len(answers)) for word, seconds in by_word.items())


def told(word: str, seconds: Sequence[float], runs: int) -> str:
    counted = f" ({len(seconds)} of {runs})" if len(seconds) < runs else f" ({runs} runs)" if runs > 1 else ""
    return f"{word}, {span(seconds)} s{counted}" if word == "passes" else f"{word}{counted}"


def span(seconds: Iterable[float]) -> str:
    low, high = min(found := list(seconds)), max(found)
    return f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except HarnessError as error:
        sys.exit(str(error))
