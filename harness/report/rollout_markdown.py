"""summary.md of a rollout: the answer, its reasons, a row for each rehearsal; pure."""

from __future__ import annotations

from harness.base.progress import duration
from harness.model.rollout import RolloutVerdict
from harness.report.markdown import plain
from harness.rollout.rollout_verdict import outcome_of

_ROWS = 50


def render_rollout_summary(found: RolloutVerdict) -> str:
    """Return the summary."""
    rows = (
        f"| {plain(each.name)} | {outcome_of(each)} | {duration(each.result.seconds)} | {len(each.turns)} "
        f"| {each.longest_pause_seconds:.1f} s | {each.lost} | {plain(each.result.reason)} |"
        for each in found.rehearsals[:_ROWS]
    )
    notes = dict.fromkeys(note for each in found.rehearsals for note in each.notes)
    return "\n".join(
        [
            f"# Rollout {found.outcome}: {plain(found.sentence)}",
            "",
            *([f"**Strongest reason against it:** {plain(found.against)}", ""] if found.against else []),
            *(f"- {plain(reason)}" for reason in found.reasons[:_ROWS]),
            *(f"- Warning: {plain(note)}" for note in list(notes)[:_ROWS]),
            "",
            "| rehearsal | outcome | time | turns | longest pause | lost | reason |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            *(f"- Not rehearsed: {plain(gap)}" for gap in found.not_rehearsed[:_ROWS]),
            "",
        ]
    )
