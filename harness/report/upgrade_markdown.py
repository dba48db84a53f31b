"""summary.md of upgrade notes: what concerns the operator's own files, what breaks first; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.model.operator_changes import Change, OperatorChanges
from harness.report.markdown import plain
from harness.report.upgrade_page import first_of, summary

_ROWS = 30


def render_upgrade_summary(changes: OperatorChanges) -> str:
    """Return the summary."""
    used = [change for change in changes.changes if change.used]
    return "\n".join(
        [
            f"# {plain(changes.base)} → {plain(changes.candidate)}: {plain(summary(changes))}",
            "",
            *_table("In your files", used),
            *_table("Breaks first", first_of(changes)),
            *(f"- Not compared: {plain(gap)}" for gap in changes.gaps[:_ROWS]),
            "",
        ]
    )


def _table(title: str, changes: Sequence[Change]) -> Iterator[str]:
    if not changes:
        return
    yield f"## {title}"
    yield ""
    yield "| what | of | was → is | means | where |"
    yield "|---|---|---|---|---|"
    for each in changes[:_ROWS]:
        places = "; ".join(f"{use.file}:{use.line}" for use in each.used)
        turn = f"{plain(each.base)} → {plain(each.candidate)}"
        yield f"| {plain(each.subject)} | {plain(each.where)} | {turn} | {plain(each.means)} | {plain(places)} |"
    yield ""
