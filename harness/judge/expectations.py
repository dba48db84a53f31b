"""Whether Kafka as it is shows what the scenarios say of it: the answer where there is no candidate; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.base.text import counted
from harness.judge.against import ONCE, confidence
from harness.model.declaration import Declaration
from harness.model.expectations import Expectations, Met, MetCell
from harness.model.runs import Verdict
from harness.model.verdict import CellName, Reason, ReasonSource, Standing, VerdictRecord

_MET = {
    Standing.AS_CLAIMED: Met.EXPECTED,
    Standing.NOT_AS_CLAIMED: Met.UNEXPECTED,
    Standing.UNDECIDED: Met.UNDECIDED,
    Standing.UNSUPPORTED: Met.UNDECIDED,
}
_WORST_FIRST = (Met.UNEXPECTED, Met.UNDECIDED, Met.EXPECTED)


def of_stock(record: VerdictRecord, declaration: Declaration, unasked: Sequence[str]) -> VerdictRecord:
    """Return the record of a verification without a candidate with the answer to what was asked of Kafka as it is.

    Its verdict stays INCONCLUSIVE: nothing is said of a rollout. `unasked` says what runs did not come to.
    """
    found = Expectations(answer_of(cells := tuple(_cells(record, declaration))), cells)
    return replace(
        record,
        sentence=f"{found.met} of {counted(len(cells), 'cell')} show what is expected of stock. There is no candidate.",
        against=_against(found, record.repeats),
        reasons=_reasons(found) or record.reasons,
        not_tested=(*_untested(found), *unasked),
        not_fixed=(),
        expectations=found,
    )


def answer_of(cells: Iterable[MetCell]) -> Met:
    """Return the answer over cells; of none it is that nobody can tell."""
    found = {cell.met for cell in cells} or {Met.UNDECIDED}
    return next(met for met in _WORST_FIRST if met in found)


def _cells(record: VerdictRecord, declaration: Declaration) -> Iterable[MetCell]:
    known = {each.name: each.known for each in declaration.scenarios}
    for scenario in record.scenarios:
        for cell in scenario.cells:
            expected = " and ".join(map(str, cell.expected))
            yield MetCell(scenario.name, cell.arm, expected, str(cell), _MET[cell.standing], known[scenario.name])


def _reasons(found: Expectations) -> tuple[Reason, ...]:
    """Return a reason for each cell; those weigh that are not as expected, the unexpected first."""
    weights = {Met.EXPECTED: None, Met.UNEXPECTED: Verdict.INCONCLUSIVE, Met.UNDECIDED: Verdict.INCONCLUSIVE}
    return tuple(
        Reason(ReasonSource.EFFECT, weights[cell.met], CellName(cell.scenario, cell.arm), str(cell))
        for cell in sorted(found.cells, key=lambda cell: _WORST_FIRST.index(cell.met))
    )


def _against(found: Expectations, repeats: int) -> str:
    """Return the strongest reason against the answer."""
    match found.answer:
        case Met.EXPECTED:
            return confidence(repeats)
        case Met.UNEXPECTED:
            others = f"{found.met} of {counted(len(found.cells), 'cell')} show what is expected."
            return f"{others} {ONCE if repeats == 1 else ''}".strip()
        case Met.UNDECIDED:
            decided = f"Nothing that could be decided is unexpected: {counted(found.met, 'cell')}."
            return decided if found.met else "None: nothing was decided."


def _untested(found: Expectations) -> list[str]:
    return [f"{cell.scenario} on {cell.arm}: {cell.shown}." for cell in found.cells if cell.met is Met.UNDECIDED]
