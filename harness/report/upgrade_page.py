"""upgrade.html: what changes for an operator between two Kafkas, on one page; and what of it report.html shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.base.text import counted, cut
from harness.model.operator_changes import Area, Change, Figure, OperatorChanges, Weight
from harness.report.limits import Limits, beyond, within_budget
from harness.report.page import render_page

_TITLES: Mapping[Weight, str] = {Weight.BREAKS: "Breaks", Weight.CHANGES: "Changes", Weight.ADDS: "New"}
_IN_TABLES = tuple(area for area in Area if area is not Area.FIGURES)  # these have a table of their own
_FIRST_OF_AN_AREA = 3
_AT_ONCE = 8  # rows of a table that are not folded away
_LIMITS = Limits(rows=400, text=400)


@dataclass(frozen=True, slots=True)
class Row:
    """A change as a row shows it; `used` are lines of the operator's own files."""

    subject: str
    where: str
    base: str
    candidate: str
    means: str
    used: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The changes of one weight in one area: those that are shown at once, those that are folded, how many are cut."""

    title: str
    weight: str
    count: int
    first: tuple[Row, ...]
    more: tuple[Row, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class AreaView:
    """What changes in one area; `compared` says of how many things."""

    id: str
    title: str
    compared: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class FigureView:
    """What starts cost, as texts: medians with all values behind them, and how they compare."""

    name: str
    base: str
    candidate: str
    compares: str
    apart: bool


@dataclass(frozen=True, slots=True)
class UpgradePage:
    """Everything that the page shows."""

    base: str
    candidate: str
    tone: str
    sentence: str
    against: str
    first: tuple[Row, ...]
    used: tuple[Row, ...]
    hidden_used: int
    files: tuple[str, ...]
    areas: tuple[AreaView, ...]
    figures: tuple[FigureView, ...]
    boots: str
    gaps: tuple[str, ...]

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """What the page links to at its top, by id."""
        own = (("used", "Your files"),) if self.files else ()
        areas = ((area.id, area.title) for area in self.areas)
        first = (("first", "First"),) if self.first else ()
        costs = (("costs", "Costs"),) if self.figures else ()
        gaps = (("gaps", "Not compared"),) if self.gaps else ()
        return (*own, *first, *areas, *costs, *gaps)


@dataclass(frozen=True, slots=True)
class UpgradeSummary:
    """What report.html shows of it."""

    sentence: str
    first: tuple[Row, ...]


def upgrade_summary(changes: OperatorChanges) -> UpgradeSummary:
    """Return what a report shows that links to the page."""
    return UpgradeSummary(summary(changes), tuple(_row(each, _LIMITS) for each in first_of(changes)))


def render_upgrade(changes: OperatorChanges) -> str:
    """Return the page. Equal input gives equal bytes."""
    return within_budget(lambda limits: render_page("upgrade.html.j2", page=upgrade_page(changes, limits)), _LIMITS)


def upgrade_page(changes: OperatorChanges, limits: Limits = _LIMITS) -> UpgradePage:
    """Return what the page shows."""
    used = [change for change in changes.changes if change.used]
    return UpgradePage(
        changes.base,
        changes.candidate,
        _tone(changes),
        summary(changes),
        cut(_against(changes), limits.text),
        tuple(_row(each, limits) for each in first_of(changes)),
        tuple(_row(each, limits) for each in used[: limits.rows]),
        beyond(used, limits.rows),
        changes.files,
        tuple(view for area in _IN_TABLES if (view := _area(changes, area, limits)).blocks),
        tuple(map(_figure, changes.figures)),
        _boots(changes),
        changes.gaps,
    )


def summary(changes: OperatorChanges) -> str:
    """Return in a sentence how much changes."""
    breaks, alters, adds = (len(changes.of(weight)) for weight in Weight)
    if not changes.changes:
        return "Nothing that was compared changes."
    used = sum(bool(change.used) for change in changes.changes)
    own = f" Your files name {used} of these." if changes.files else ""
    first = f"{counted(breaks, 'thing')} that files, alerts or scripts may name {'breaks' if breaks == 1 else 'break'}"
    return (
        f"{first}, {alters} {'changes' if alters == 1 else 'change'}, {adds} {'is' if adds == 1 else 'are'} new.{own}"
    )


def _against(changes: OperatorChanges) -> str:
    """Return the strongest reason against the summary."""
    if changes.gaps:
        more = f" And {counted(len(changes.gaps) - 1, 'thing')} more." if len(changes.gaps) > 1 else ""
        return f"Not all could be compared. {changes.gaps[0]}{more}"
    if not changes.files:
        return "None of your files was searched (--mine), so nobody knows which of these concern you."
    return "Names, defaults and signatures are compared: what a tool of yours makes of a changed value is not seen."


def first_of(changes: OperatorChanges) -> tuple[Change, ...]:
    """Return what breaks first, a few of each area; what the operator's own files name is shown before."""
    breaking = [change for change in changes.of(Weight.BREAKS) if not change.used]
    chosen = [change for area in Area for change in _some(area, breaking)]
    return tuple(change for change in breaking if change in chosen)


def _some(area: Area, breaking: Sequence[Change]) -> Sequence[Change]:
    return [change for change in breaking if change.area is area][:_FIRST_OF_AN_AREA]


def _tone(changes: OperatorChanges) -> str:
    breaking = changes.of(Weight.BREAKS)
    if any(change.used for change in breaking):
        return "hold"
    return "inconclusive" if breaking or changes.gaps else "ship"


def _row(change: Change, limits: Limits) -> Row:
    def short(text: str) -> str:
        return cut(text, limits.text)

    return Row(
        short(change.subject),
        short(change.where),
        short(change.base),
        short(change.candidate),
        short(change.means),
        tuple(short(f"{use.file}:{use.line}: {use.text}") for use in change.used[: limits.rows]),
    )


def _area(changes: OperatorChanges, area: Area, limits: Limits) -> AreaView:
    counts = changes.compared.get(area)
    compared = f"{counts[0]} in base, {counts[1]} in the candidate" if counts else ""
    blocks = (_block([each for each in changes.of(weight) if each.area is area], weight, limits) for weight in Weight)
    return AreaView(
        area.name.lower(),
        area.value[:1].upper() + area.value[1:],
        compared,
        tuple(each for each in blocks if each.count),
    )


def _block(changes: Sequence[Change], weight: Weight, limits: Limits) -> Block:
    rows = tuple(_row(change, limits) for change in changes[: limits.rows])
    at_once = _AT_ONCE if weight is not Weight.ADDS else 0
    hidden = beyond(changes, limits.rows)
    return Block(_TITLES[weight], weight.value, len(changes), rows[:at_once], rows[at_once:], hidden)


def _figure(figure: Figure) -> FigureView:
    return FigureView(
        figure.name,
        _values(figure.base, figure.unit),
        _values(figure.candidate, figure.unit),
        _compares(figure),
        figure.apart,
    )


def _compares(figure: Figure) -> str:
    """Return how many times base's median the candidate's is, and whether boots of one Kafka differ as much."""
    old, new = median(figure.base), median(figure.candidate)
    times = f"{new / old:.2f} ×" if old else ""
    overlap = min(figure.candidate) <= max(figure.base) and min(figure.base) <= max(figure.candidate)
    return ", ".join(filter(None, (times, "no more than boots differ" if overlap else "")))


def _values(values: Sequence[float], unit: str) -> str:
    all_of = f" ({', '.join(_number(value) for value in sorted(values))})" if len(values) > 1 else ""
    return f"{_number(median(values))} {unit}".strip() + all_of


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _boots(changes: OperatorChanges) -> str:
    if not changes.figures:
        return ""
    day = f" on {changes.booted_on}" if changes.booted_on else ""
    return f"{counted(len(changes.figures[0].base), 'boot')} of each{day}"
