"""What the logs weigh in the verdict: warnings and errors that a candidate adds beyond the noise; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.base.likeness import LIKE, likeness, own_words
from harness.base.text import without_note
from harness.model.findings import CUT, WORSE, Contrast, Finding, FindingKind, Significance, StockRate, severity
from harness.model.outcome_names import SAYS_NOTHING_OF_THE_BUILD
from harness.model.proof import ERROR_ADDED, EXPECTED_LEVEL, Difference, Proof
from harness.model.runs import Verdict
from harness.model.verdict import CellName, CellOutcome, CellState, Reason, ReasonSource

_DECIDED = (CellState.PASSED, CellState.FAILED)
_REWORDED = 1.5  # times as often as the line whose place it takes
_LEAST_RUNS = 3  # of base in which a line came, where its jar is not known otherwise
_ERROR = "ERROR"
_KAFKAS = ("org.apache.kafka.", "kafka.")  # whose statements are known by their sources
_LEAST_LETTERS = 8  # that a statement always writes: less may stand in any line
_NO_COUNTS = (FindingKind.ORDER, FindingKind.SHIFT)  # they are about when a line comes, not about how many


def reasons_of_logs(
    compared: Sequence[tuple[str, str]],
    flag: str,
    contrasts: Sequence[Contrast],
    proof: Proof | None,
    cells: Mapping[CellName, CellOutcome],
    not_compared: str = "",
    off: str = "",
) -> tuple[Reason, ...]:
    """Return why the candidate's logs are worse than base's, or `not_compared`: why nobody knows.

    `compared` are the names of a control and of the arm held against it, `off` the one with the flag off, of which no
    claim expects a line, `flag` the candidate's key, `cells` what each
    scenario showed on each arm.
    Counted are lines at WARN or worse that are new, more frequent or at a worse level than on base, beyond what base's
    jar is known to log by chance, and at ERROR what that has no statement for; which no claim expects, and which are no
    other wording of base's, and no fallout of runs that ended otherwise than base's. The same line in several places is
    named once.
    """
    chains = proof.chains if proof else ()
    expected = {chain.claim: ExpectedLine(chain.evidence, chain.level) for chain in chains if chain.evidence}
    added = [each for each in (proof.differences if proof else ()) if each.rule == ERROR_ADDED and not each.waived]
    found: dict[tuple[str, str], Reason] = {}
    for contrast in (each for each in contrasts if (each.base, each.candidate) in compared):
        for finding in _deciding(contrast, added):
            is_fallout = _is_fallout(contrast, finding, cells, added)
            claimed = {} if contrast.candidate == off else expected
            if not is_fallout and not expected_by(finding, claimed, flag):
                found.setdefault((finding.logger, finding.template), _reason(contrast, finding))
    gap = (Reason(ReasonSource.LOGS, Verdict.INCONCLUSIVE, None, not_compared),) if not_compared else ()
    return (*found.values(), *gap)


@dataclass(frozen=True, slots=True)
class ExpectedLine:
    """A log line that a claim expects: a regular expression, and the worst level at which it is expected."""

    pattern: str
    level: str = EXPECTED_LEVEL


def expected_by(finding: Finding, expected: Mapping[str, ExpectedLine], flag: str) -> str:
    """Return what expects a line: the id of a claim, or the flag whose own key it is; empty for neither.

    `expected` are the lines that claims expect, by claim. A line at a worse level than is expected of it is expected by
    nothing, and one with the flag's key only at INFO or less.
    """
    if flag and flag in finding.template and severity(finding.level) <= severity(EXPECTED_LEVEL):
        return "the flag's own key"
    shown = (finding.base_excerpt, finding.candidate_excerpt)
    return next(
        (
            claim
            for claim, wanted in expected.items()
            if severity(finding.level) <= severity(wanted.level)
            and any(re.search(wanted.pattern, line) for line in shown)
        ),
        "",
    )


def _deciding(contrast: Contrast, errors: Sequence[Difference]) -> list[Finding]:
    """Return what can hold the candidate back: of two Kafkas floods alone, since a release says what it warns of."""
    if contrast.of_two_kafkas:
        return [each for each in _added(contrast.findings, ()) if each.stock and each.stock.flood]
    return _added(contrast.findings, errors)


def _added(findings: Sequence[Finding], errors: Sequence[Difference]) -> list[Finding]:
    """Return the warnings that are worse than base's; a new one takes the place of one that has vanished."""
    gone = _gone(findings)
    added = []
    for finding in findings:
        if not _is_worse(finding) and not _is_no_noise(finding, errors):
            continue
        replaced = [each for each in gone if finding.kind is FindingKind.NEW and _is_reworded(each, finding)]
        if replaced:
            gone.remove(replaced[0])
        else:
            added.append(finding)
    return added


def _gone(findings: Sequence[Finding]) -> list[Finding]:
    """Return what has vanished that base's jar always logs in some scenario; anything else may be lacking by chance."""
    vanished = [finding for finding in findings if finding.kind is FindingKind.VANISHED]
    always = {_line(finding) for finding in vanished if _is_always_logged(finding)}
    return [finding for finding in vanished if _line(finding) in always]


def _is_always_logged(finding: Finding) -> bool:
    """Whether every known run of base's jar logs it there; where too few are known, each of three runs here."""
    if finding.stock:
        return finding.stock.seen == finding.stock.runs
    return len(finding.base_runs) >= _LEAST_RUNS and all(finding.base_runs)


def _line(finding: Finding) -> tuple[str, str, str]:
    return finding.level, finding.logger, finding.template


def _is_reworded(was: Finding, now: Finding) -> bool:
    """Whether a new line is one that has vanished: as frequent, of the same level and nodes, in like words of the same
    logger or in the same words of another, as lines of a class are that was moved."""
    place = (was.scenario, was.node_kind, was.level) == (now.scenario, now.node_kind, now.level)
    is_frequent = _mean(now.candidate_runs) <= _REWORDED * _mean(was.base_runs)
    if was.logger != now.logger:
        return place and is_frequent and was.template == now.template
    return place and is_frequent and likeness(own_words(was.template), own_words(now.template)) >= LIKE


def _mean(runs: Sequence[int]) -> float:
    return sum(runs) / max(len(runs), 1)


def _is_fallout(
    contrast: Contrast, finding: Finding, cells: Mapping[CellName, CellOutcome], errors: Sequence[Difference]
) -> bool:
    """Whether a line may be there only because the candidate's runs ended otherwise than base's.

    What base's jar comes near to in no scenario is none, unless harness or host failed the candidate's runs.
    """
    was, now = (cells.get(CellName(finding.scenario, arm)) for arm in (contrast.base, contrast.candidate))
    if not was or not now or _says_nothing(now):
        return True
    alike = was.state in _DECIDED and (was.state, was.expectation) == (now.state, now.expectation)
    is_unmatched = finding.stock is not None and finding.stock.unmatched
    return not alike and not is_unmatched and not _is_no_noise(finding, errors)


def _says_nothing(cell: CellOutcome) -> bool:
    """Whether a cell says nothing of the build."""
    undecided = cell.state is CellState.INCONCLUSIVE and cell.expectation in SAYS_NOTHING_OF_THE_BUILD
    return undecided or cell.state in (CellState.BROKEN, CellState.MISSING, CellState.UNSUPPORTED)


def _is_worse(finding: Finding) -> bool:
    """Whether a finding is of a warning that is more than base's jar is known to log by chance."""
    if finding.stock is None or finding.significance is not Significance.BEYOND or finding.level not in WORSE:
        return False
    if finding.kind is FindingKind.VALUE:  # the arms' own values are counted, so any of the candidate's are more
        return sum(finding.candidate_runs) > 0
    more = sum(finding.candidate_runs) > sum(finding.base_runs) or finding.stock.flood
    return finding.kind not in _NO_COUNTS and more


def _is_no_noise(finding: Finding, errors: Sequence[Difference]) -> bool:
    """Whether a statement at ERROR wrote it that base's jar has not, so that one run shows what no run of base can."""
    if finding.kind is not FindingKind.NEW or finding.level != _ERROR or finding.base_count:
        return False
    is_known = finding.stock is not None and bool(finding.stock.seen or finding.stock.elsewhere)
    return not is_known and any(_wrote(each, finding) for each in errors)


def _wrote(error: Difference, finding: Finding) -> bool:
    """Whether a statement's own words stand in a line, in order, and the line may be of its class.

    Of a line too long to be kept whole, those in what was kept.
    """
    if not _may_be_of(error.where.partition("$")[0], finding):
        return False
    parts, excerpt = without_note(error.candidate).split("{}"), finding.candidate_excerpt
    at, letters = 0, 0
    for part in parts:
        found = excerpt.find(part, at)
        if found < 0 and excerpt.endswith(CUT):
            break
        if found < 0:
            return False
        at = found + len(part)
        letters += sum(map(str.isalpha, part))
    return letters >= _LEAST_LETTERS


def _may_be_of(owner: str, finding: Finding) -> bool:
    """Whether a class may have written a line: by its own logger, by where its sources have it, or by a logger that
    somebody named, or gave to it, where no known statement of Kafka is the line's."""
    logger = finding.logger.partition("$")[0]
    if finding.statement:
        return owner in (logger, finding.statement.partition(".java:")[0].replace("/", "."))
    is_of_a_class = logger.rpartition(".")[2][:1].isupper()
    return owner == logger or logger.startswith(_KAFKAS) or not is_of_a_class


def _reason(contrast: Contrast, finding: Finding) -> Reason:
    times, were = (", ".join(map(str, runs)) for runs in (finding.candidate_runs, finding.base_runs))
    plural = "s" if len(finding.candidate_runs) > 1 else ""
    known = f" ({describe_rate(finding.stock)})" if finding.stock else ""
    # Of a statement that both write, the counts of base are of its own words there.
    how_often = "never so" if finding.kind is FindingKind.VALUE else f"{were} times"
    sentence = (
        f"{finding.scenario}: {contrast.candidate} logs a line at {finding.level} that no claim expects, {times} times "
        f"in its run{plural} and {how_often} on {contrast.base}{known}: {_line_of(finding)}"
    )
    return Reason(ReasonSource.LOGS, Verdict.HOLD, CellName(finding.scenario, contrast.candidate), sentence)


def _line_of(finding: Finding) -> str:
    words = f" ({finding.detail})" if finding.kind is FindingKind.VALUE and finding.detail else ""
    return f"{' '.join(finding.template.split())[:200]}{words[:200]}"


def describe_rate(rate: StockRate) -> str:
    """Say how often base's jar is known to log something."""
    if not rate.seen:
        elsewhere = f", but in {rate.elsewhere} of other scenarios or nodes" if rate.elsewhere else ""
        return f"base's jar logs it in none of {rate.runs} known runs{elsewhere}"
    return f"base's jar logs it in {rate.seen} of {rate.runs} known runs, at most {rate.most} times"
