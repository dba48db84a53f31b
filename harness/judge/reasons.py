"""What reasons come to, and which of them a verdict rests on; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.model.runs import Verdict
from harness.model.verdict import Reason, ReasonSource

_WORST_FIRST = (Verdict.HOLD, Verdict.INCONCLUSIVE, Verdict.SHIP)
# What holds a candidate back whatever its scenarios show; of the proof and of the logs at most so many are shown. What
# a node that fails costs or logs comes of the failure: of these the scenario tells more.
_BEFORE_SCENARIOS = (ReasonSource.PROOF,)
_AFTER_SCENARIOS = (ReasonSource.FIGURES, ReasonSource.LOGS)
_OF_THE_JAR = (*_BEFORE_SCENARIOS, *_AFTER_SCENARIOS)
_MOST = 5
_MORE = {
    ReasonSource.PROOF: "{} more such reasons are in the proof.",
    ReasonSource.LOGS: "{} more such lines are among the log differences.",
}
_OF_SCENARIOS = (ReasonSource.EFFECT, ReasonSource.FLAG, ReasonSource.NOTHING)
_FIRST_GAPS = (ReasonSource.ARM, ReasonSource.CLAIM, ReasonSource.PROOF, ReasonSource.FIGURES)
GAPS = (*_FIRST_GAPS, ReasonSource.LOGS)


def worst(weights: Iterable[Verdict | None]) -> Verdict:
    """Return the weightiest verdict; when nothing could be tested, that is INCONCLUSIVE and never SHIP."""
    return weightiest(weights) or Verdict.INCONCLUSIVE


def weightiest(weights: Iterable[Verdict | None]) -> Verdict | None:
    """Return the weightiest verdict; None when nothing was tested."""
    known = set(weights)
    return next((verdict for verdict in _WORST_FIRST if verdict in known), None)


def rank(weight: Verdict | None) -> int:
    """Return a weight's place among all, the weightiest first and what weighs nothing last."""
    return len(_WORST_FIRST) if weight is None else _WORST_FIRST.index(weight)


def is_blocker(reason: Reason) -> bool:
    """Whether a reason holds the candidate back whatever its scenarios show."""
    return reason.weight is Verdict.HOLD and reason.source in _OF_THE_JAR


def rests_on(verdict: Verdict, reasons: Sequence[Reason]) -> tuple[str, ...]:
    """Return the sentences that a verdict rests on, the weightiest first; what is lighter is shown elsewhere.

    What could not be tested at all is named with a HOLD as well, and comes first where it is what decides.
    """
    before, after = _few_of(_BEFORE_SCENARIOS, reasons), _few_of(_AFTER_SCENARIOS, reasons)
    weighty = [each.sentence for each in reasons if each.source in _OF_SCENARIOS and each.weight is verdict]
    gaps = [sentence for source in _FIRST_GAPS for sentence in _sentences(source, Verdict.INCONCLUSIVE, reasons)]
    logs = _sentences(ReasonSource.LOGS, Verdict.INCONCLUSIVE, reasons)
    return (*before, *weighty, *after, *gaps, *logs) if verdict is Verdict.HOLD else (*gaps, *weighty, *logs)


def beyond_the_sentence(sentence: str, reasons: Sequence[str]) -> list[str]:
    """Return the reasons that a verdict's sentence does not say already."""
    return [reason for reason in reasons if reason not in sentence]


def _few_of(sources: Sequence[ReasonSource], reasons: Sequence[Reason]) -> list[str]:
    return [sentence for source in sources for sentence in _few(source, reasons)]


def _few(source: ReasonSource, reasons: Sequence[Reason]) -> list[str]:
    """Return what holds the candidate back by one source: a few sentences and how many more there are."""
    found = _sentences(source, Verdict.HOLD, reasons)
    hidden = len(found) - _MOST
    return [*found[:_MOST], _MORE[source].format(hidden)] if source in _MORE and hidden > 0 else found


def _sentences(source: ReasonSource, weight: Verdict, reasons: Sequence[Reason]) -> list[str]:
    return [each.sentence for each in reasons if each.source is source and each.weight is weight]
