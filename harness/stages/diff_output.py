"""What `harness diff` prints, for people and for scripts, and what of it makes the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.base.errors import HarnessError, unknown
from harness.base.text import counted, visible
from harness.model.findings import Contrast, Finding, FindingKind, Significance
from harness.model.log_totals import Totals
from harness.report.diff_markdown import render_diff_markdown
from harness.rundir.parts import LogsFolder

_SHOWN = 20
_FOUND, _UNDECIDED = 1, 3


def kinds_of(words: str) -> frozenset[FindingKind]:
    """Return the kinds of findings that a list with commas names. Raises HarnessError."""
    named = [word.strip() for word in words.split(",") if word.strip()]
    known = [kind.value for kind in FindingKind]
    if strange := next((word for word in named if word not in known), ""):
        raise HarnessError(unknown("kind of finding", strange, known))
    if words and not named:
        raise HarnessError("--fail-on names no kind of finding.", f"There are: {', '.join(known)}.")
    return frozenset(map(FindingKind, named))


def exit_code(contrasts: Iterable[Contrast], totals: Totals, kinds: Collection[FindingKind]) -> int:
    """Return 1 where something of these kinds was found, 3 where nothing was and not all logs were read whole, else 0.

    Where no kind is asked for, it is 0 whatever was found.
    """
    if is_among(contrasts, kinds):
        return _FOUND
    return _UNDECIDED if kinds and totals.lacking else 0


def is_among(contrasts: Iterable[Contrast], kinds: Collection[FindingKind]) -> bool:
    """Say whether a finding of these kinds is more than what is known to be noise."""
    found = (finding for contrast in contrasts for finding in contrast.findings)
    return any(each.kind in kinds and each.significance is not Significance.WITHIN for each in found)


def as_json(logs: LogsFolder) -> str:
    """Return the findings as findings.json has them."""
    return logs.findings.path.read_text(encoding="utf-8")


def as_markdown(contrasts: Sequence[Contrast], logs: LogsFolder) -> str:
    """Return the findings as Markdown, with what was not read."""
    return render_diff_markdown(contrasts, logs.totals.read())


def print_worst(contrast: Contrast, logs: LogsFolder, console: Console) -> None:
    """Print the worst of what differs between two folders, how much there is, and where the page is."""
    apart = [finding for finding in contrast.findings if finding.significance is not Significance.WITHIN]
    table = Table("kind", "level", "base", "candidate", "template", box=None, header_style="bold")
    for finding in apart[:_SHOWN]:
        template = Text(visible(f"{' '.join(finding.template.split())[:160]}{_beside(finding)}"))
        table.add_row(finding.kind, finding.level, str(finding.base_count), str(finding.candidate_count), template)
    if apart:
        console.print(table)
    more = f", the first {_SHOWN} above" if len(apart) > _SHOWN else ""
    lacking = f"; {visible(totals.lacking)}" if (totals := logs.totals.read()).lacking else ""
    console.print(f"{describe(contrast.findings)}{more}{lacking}: {logs.page}")


def describe(findings: Sequence[Finding]) -> str:
    """Return how many findings there are, and how they compare with the noise where that is known."""
    counts = Counter(finding.significance for finding in findings)
    if counts.keys() <= {Significance.UNKNOWN}:
        return counted(len(findings), "finding")
    of_each = f"{counts[Significance.WITHIN]} within it, {counts[Significance.UNKNOWN]} unknown"
    return f"{counts[Significance.BEYOND]} findings beyond the noise, {of_each}"


def _beside(finding: Finding) -> str:
    """Return what counts do not show of a finding, and whose logs still have it at their end."""
    ends = [name for name, lasts in (("base", finding.base_lasting), ("candidate", finding.candidate_lasting)) if lasts]
    parts = [" ".join(finding.detail.split())[:160], f"still logged at the end by {' and '.join(ends)}" if ends else ""]
    return "".join(f"; {each}" for each in parts if each)
