"""Log differences of two Kafkas for those who upgrade: what warns first, what only informs in counts; pure.

From one release line to another a thousand message types differ. An alert asks for those at WARN or worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.base.text import cut
from harness.model.findings import LEVELS, WORSE, Finding, FindingKind

_LOGGERS = 3  # that are named of a level
_NAME = 60  # characters of a logger's name

Alike = Sequence[Finding]  # one message type in all the places where it differs alike


def warning_first(groups: Sequence[Alike]) -> list[Alike]:
    """Return what warns: floods, then what is new or more, then what has vanished; of each the worst level first."""
    return sorted((alike for alike in groups if alike[0].level in WORSE), key=_order)


def _order(alike: Alike) -> tuple[bool, bool, int]:
    first = alike[0]
    return not is_flood(alike), first.kind is FindingKind.VANISHED, -WORSE.index(first.level)


def is_flood(alike: Alike) -> bool:
    """Return whether a message type is a flood somewhere."""
    return any(each.stock and each.stock.flood for each in alike)


def informing(groups: Sequence[Alike]) -> list[Alike]:
    """Return what does not warn."""
    return [alike for alike in groups if alike[0].level not in WORSE]


def folded_sentences(groups: Sequence[Alike]) -> Iterator[str]:
    """Yield a sentence for each level that only informs, the worst first: how many differ, how, and of which class."""
    levels = {alike[0].level for alike in groups}
    for level in sorted(levels, key=lambda name: (name not in LEVELS, name in LEVELS and -LEVELS.index(name), name)):
        of_level = [alike[0] for alike in groups if alike[0].level == level]
        kinds = Counter(each.kind.value for each in of_level)
        loggers = Counter(cut(each.logger.rpartition(".")[2], _NAME) for each in of_level)
        how = _listed(f"{number} {kind}" for kind, number in kinds.most_common())
        whose = _listed(f"{name} ({number})" for name, number in loggers.most_common(_LOGGERS))
        yield f"{level}: {message_types(len(of_level))}, {how}; most are of {whose}."


def summary_of_two(groups: Sequence[Alike]) -> str:
    """Say how many message types differ between two Kafkas, and how many of them are floods."""
    warn, inform = warning_first(groups), informing(groups)
    floods = sum(map(is_flood, warn))
    told = f", {'one of them a flood' if floods == 1 else f'{floods} of them floods'}" if floods else ""
    counted = f"{len(inform)} at {'a lower level is' if len(inform) == 1 else 'lower levels are'} counted below"
    which = message_types(len(warn)) if warn else "No message type differs"
    return f"{which} at WARN or worse{told}{f'; {counted}' if inform else ''}."


def message_types(count: int) -> str:
    """Return how many message types differ, as a sentence without its stop."""
    return "1 message type differs" if count == 1 else f"{count} message types differ"


def _listed(parts: Iterator[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
