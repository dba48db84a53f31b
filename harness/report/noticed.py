"""What a defect would have had to get past: what was looked at, and what would have failed; pure."""

from __future__ import annotations

from harness.base.text import counted, cut
from harness.model.arms import Role
from harness.model.expectations import Met
from harness.model.verdict import CellState, VerdictRecord
from harness.proof.proof_summary import describe_reach, describe_tests


def noticed(record: VerdictRecord, text: int) -> tuple[str, ...]:
    """Return, in sentences, what would have been noticed."""
    if record.expectations:
        decided = [cell for cell in record.expectations.cells if cell.met is not Met.UNDECIDED]
        of_each = f"{counted(len(decided), 'cell')} {'was' if len(decided) == 1 else 'were'} decided"
        return (f"A Kafka that shows anything but what is expected of it, by name: {of_each}.",)
    found = (*_controls(record), *_planted(record), *_looked_at(record))
    return tuple(cut(sentence, text) for sentence in found)


def _controls(record: VerdictRecord) -> list[str]:
    """Return what the control shows: where it fails by name a fix is seen, and where it passes a regression."""
    found = []
    if record.proving:
        verb = "fails" if len(record.proving) == 1 else "fail"
        names = ", ".join(record.proving)
        found.append(
            f"A candidate that does not fix what it claims: on the control, {names} {verb} by the claimed name."
        )
    base = record.arm(Role.BASE)
    cells = [scenario.cell(base.name) for scenario in record.scenarios] if base else []
    if passed := sum(cell is not None and cell.state is CellState.PASSED for cell in cells):
        verb = "passes" if passed == 1 else "pass"
        found.append(f"A candidate that fails where base does not: {counted(passed, 'scenario')} {verb} on base.")
    return found


def _planted(record: VerdictRecord) -> list[str]:
    """Return the smallest planted defects that the suite was seen to notice, and when."""
    if not record.would_show:
        return []
    when = f" ({record.would_show_measured})" if record.would_show_measured else ""
    return [f"A defect as small as the planted ones that the suite noticed: {'; '.join(record.would_show)}{when}."]


def _looked_at(record: VerdictRecord) -> list[str]:
    """Return what else a defect would have had to get past."""
    found = []
    if judged := sum(not cost.not_judged for cost in record.costs):
        found.append(
            f"A candidate that costs more: {counted(judged, 'figure')} compared with the control's, each with a limit."
        )
    if record.contrasts:
        pairs = counted(len(record.contrasts), "pair")
        found.append(f"A candidate that logs differently: the logs of {pairs} of arms were compared line by line.")
    if record.proof is not None:
        rules = counted(len(record.proof.looked_at), "rule")
        tested = f"; {describe_tests(record.proof.tests)}" if record.proof.tests.count else ""
        found.append(f"A jar that is not a drop-in: {rules} applied{tested}.")
    if record.coverage is not None and record.coverage.lines:
        found.append(f"Changed code that fails when it runs: {describe_reach(record.coverage)}.")
    return found
