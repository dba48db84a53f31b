"""The detection table as Markdown, and its sum; pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.base.text import cut
from harness.model.detection import Detection

_MOST_SAID = 200


def table(found: Sequence[Detection]) -> str:
    """Return the detection table: a row for each mutant, and what they come to."""
    rows = [
        f"| {each.name} | {cell(each.does)} | {_noticed_by(each)} | {_said(each)} | {_expected(each)} |"
        for each in found
    ]
    head = ("| mutant | what is wrong | noticed by | what was said | expected |", "|---|---|---|---|---|")
    return "\n".join((*head, *rows, "", summary(found))) + "\n"


def summary(found: Sequence[Detection]) -> str:
    """Return how many were noticed, for how many of them the reason is the expected one, and what of the others."""
    caught = [each for each in found if each.caught]
    share = f"{100 * len(caught) / len(found):.0f} %" if found else "none"
    expected = sum(each.as_expected for each in caught)
    undecided = sum(bool(each.undecided) for each in found)
    excused = sum(bool(each.excuse) and not each.caught and not each.undecided for each in found)
    missed = len(found) - len(caught) - undecided - excused
    return (
        f"{len(caught)} of {len(found)} are noticed ({share}), {expected} of them as expected; {excused} are not for a "
        f"written reason, {missed} for none, {undecided} are undecided."
    )


def sentence(each: Detection) -> str:
    """Return what became of one mutant."""
    return f"{each.name}: {'noticed by ' if each.caught else ''}{_noticed_by(each).replace('*', '')}"


def _noticed_by(each: Detection) -> str:
    if each.undecided:
        return "**undecided**"
    places = [f"{caught.stage} ({caught.scenario})" if caught.scenario else caught.stage for caught in each.caught]
    return ", ".join(dict.fromkeys(places)) or "**nothing**"


def _said(each: Detection) -> str:
    said = each.undecided or (each.caught[0].said if each.caught else each.excuse)
    return cell(cut(" ".join(said.split()), _MOST_SAID))


def _expected(each: Detection) -> str:
    if each.caught and each.as_expected:
        return "yes"
    return cell(f"{'another: ' if each.caught else ''}{each.expected.why}")


def cell(text: str) -> str:
    """Return a text as the cell of a Markdown table."""
    return text.replace("|", "\\|")
