"""The table of versions: writes what a night over the release lines showed into docs/versions.md.

    harness nightly --matrix builds/versions.toml --night versions --out out/versions
    python benchmarks/versions.py out/versions [PAGE]

Each verification of the night is of Apache's releases as they are, one beside 3.9.1. Those of anything else, and those
without a verdict, are left out and named. Only what stands between the page's markers is written anew; the prose around
it is to be read again whenever the figures change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from pages import markdown, with_block
from versions_predictions import predictions
from versions_releases import (
    BASE,
    FIXES,
    NOTHING,
    Release,
    as_base,
    listed,
    of_releases,
    outcome,
    releases_of,
    spread,
)

from harness.base.errors import HarnessError
from harness.base.text import cut
from harness.judge.reasons import is_blocker
from harness.model.operator_changes import Weight
from harness.model.runs import Outcome
from harness.model.verdict import ReasonSource, VerdictRecord
from harness.nightly.folder import read_night, verdicts_of
from harness.nightly.night import Night
from harness.report.markdown import plain

PAGE = Path(__file__).parents[1] / "docs" / "versions.md"
_MOST_TEXT = 240
NAMED = ("turn1", "turn2", "new-mechanism")


def main() -> None:
    folder, page = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else PAGE
    page.write_text(written_anew(page.read_text("utf-8"), folder), encoding="utf-8")
    print(f"{page} has the figures of {folder}.")


def written_anew(page: str, folder: Path) -> str:
    """Return the page with what a night showed between its markers. Raises HarnessError: no such night or marker."""
    night = read_night(folder)
    verdicts = {name: record for name, record in verdicts_of(folder, night).items() if of_releases(record)}
    if not verdicts:
        raise HarnessError(f"{folder} holds no verdict on a release beside {BASE}.")
    releases = releases_of(folder, verdicts)
    for name, text in (
        ("night", about(night, verdicts)),
        ("table", table(releases)),
        ("fixed", fixed(releases)),
        ("differences", differences(releases)),
        ("predictions", predictions(releases)),
    ):
        page = with_block(page, name, text)
    return page


def about(night: Night, verdicts: Mapping[str, VerdictRecord]) -> str:
    """Return which night it was, on what, and what is not in it."""
    records = list(verdicts.values())
    settings = sorted({setting(record) for record in records})
    repeats = sorted({record.repeats for record in records})
    missing = [f"`{each.id}`" for each in night.planned if each.id not in verdicts]
    return (
        f"The night *{night.label}*, begun {night.started_at[:10]}: {len(records)} of {len(night.planned)} "
        f"verifications; runs of each scenario on either side: {' or '.join(map(str, repeats))}. "
        f"{' Or: '.join(settings)}.\n" + (f"Without a verdict on releases: {', '.join(missing)}.\n" if missing else "")
    )


def setting(record: VerdictRecord) -> str:
    host, javas = record.host, sorted({arm.java for arm in record.arms})
    return (
        f"{host['cpus']} cores, {host['memory']}; JVM profile {host['jvm profile']}, Java {', '.join(javas)}; "
        f"clusters side by side: {host['clusters side by side']}"
    )


def table(releases: Sequence[Release]) -> str:
    head = (
        "release",
        *NAMED,
        "others",
        "no leader, s",
        "lost observer, %",
        "elections",
        "heap, MB",
        "start, s",
        "runs",
    )
    return markdown(head, map(row, releases))


def row(release: Release) -> tuple[str, ...]:
    return (
        release.version,
        *(outcome(release.labels(each)) for each in NAMED),
        others(release),
        spread(release.figures("leaderless_seconds")),
        listed(release.lost_shares),
        spread(release.figures("elections_per_fault")),
        middle(release.figures("leader_heap_megabytes").values(), 0),
        middle((boot.ready_seconds for boot in release.boots), 1),
        str(len(release.runs)),
    )


def fixed(releases: Sequence[Release]) -> str:
    """Return how what is asked beside the suite ended on each release."""
    rows = (
        (each.version, *(outcome(each.labels(scenario)) for scenario in FIXES), listed(each.cut_shares))
        for each in releases
    )
    return markdown(("release", *FIXES, "cut off, %"), rows)


def others(release: Release) -> str:
    """Return how many of the further scenarios passed in every run, and how the rest ended."""
    names = [each for each in release.scenarios if each not in (*NAMED, *FIXES)]
    rest = [each for each in names if set(release.labels(each)) != {str(Outcome.PASSED)}]
    failed = "".join(f"; {each}: {outcome(release.labels(each))}" for each in rest)
    return f"{len(names) - len(rest)} of {len(names)} pass{failed}" if names else NOTHING


def middle(values: Iterable[float], digits: int) -> str:
    found = list(values)
    return f"{median(found):.{digits}f}" if found else NOTHING


def differences(releases: Sequence[Release]) -> str:
    """Return a line for each release but 3.9.1."""
    base = next(release for release in releases if release.version == BASE)
    return "".join(
        f"- **{release.version}** ({release.verdict}): {'; '.join(different(release, base))}.\n"
        for release in releases
        if release.beside
    )


def different(release: Release, base: Release) -> Iterator[str]:
    """Yield in what a release differs from 3.9.1."""
    same = as_base(release, base)
    outcomes = [
        f"{each} is {outcome(release.labels(each))}, on {BASE} {outcome(base.labels(each))}"
        for each in release.scenarios
        if each not in same
    ]
    yield from outcomes or [f"every scenario ends as on {BASE}"]
    costs = [
        f"{cost.description} in {cost.scenario}: {cost.base:g} → {cost.candidate:g} {cost.unit}"
        for record in release.beside
        for cost in record.costs
        if cost.over
    ]
    yield from costs or ["no figure is over its limit"]
    logs = [reason for record in release.beside for reason in record.reasons if reason.source is ReasonSource.LOGS]
    yield from (plain(cut(each.sentence, _MOST_TEXT)) for each in logs if is_blocker(each))
    if release.changes:
        for each in (each for each in release.changes.figures if each.apart):
            yield f"{each.name}: {median(each.base):.3g} → {median(each.candidate):.3g} {each.unit}"
        breaks, changes = (len(release.changes.of(weight)) for weight in (Weight.BREAKS, Weight.CHANGES))
        yield f"for an operator {breaks} breaking and {changes} other changes"


if __name__ == "__main__":
    try:
        main()
    except HarnessError as error:
        sys.exit(str(error))
