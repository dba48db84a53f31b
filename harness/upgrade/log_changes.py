"""Which log lines that an alert may match are gone, are worded otherwise, or have another level; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from harness.base.likeness import most_alike
from harness.model.kafka_inventory import Logged
from harness.model.operator_changes import Area, Change, Weight

_SHOWN = ("INFO", "WARN", "ERROR", "FATAL")  # what Kafka's own configuration logs, from the mildest
_ALERTED = ("WARN", "ERROR", "FATAL")
_LETTERS = re.compile(r"[A-Za-z]")
_LEAST_LETTERS = 8  # of a text that anybody could match


def log_changes(base: Iterable[Logged], candidate: Iterable[Logged]) -> tuple[Change, ...]:
    """Return what changes in lines of INFO and above; a statement that only moved to another class is the same."""
    old, new = _by_text(base), _by_text(candidate)
    gone = [_worst(each) for text, each in old.items() if text not in new and _worst(each).level in _SHOWN]
    fresh = {text: _worst(each) for text, each in new.items() if text not in old}
    reworded = _reworded(gone, fresh.values())
    return (
        *(change for text in old.keys() & new.keys() for change in _of_level(old[text], new[text])),
        *(_gone(each, reworded.get(each.text)) for each in gone),
        *_fresh(each for each in fresh.values() if each not in reworded.values()),
    )


def _by_text(statements: Iterable[Logged]) -> dict[str, list[Logged]]:
    """Return the statements of each text that is long enough for anybody to match it."""
    found: dict[str, list[Logged]] = defaultdict(list)
    for each in statements:
        if len(_LETTERS.findall(each.text)) >= _LEAST_LETTERS:
            found[each.text].append(each)
    return found


def _worst(same: Sequence[Logged]) -> Logged:
    return max(same, key=lambda each: (_severity(each.level), each.file))


def _severity(level: str) -> int:
    return _SHOWN.index(level) if level in _SHOWN else -1


def _of_level(old: Sequence[Logged], new: Sequence[Logged]) -> Iterator[Change]:
    """Return how the level of a text changed in each class that has it in both, and the worst one of all its classes
    where no class does, or where that one is milder now and none of them says so."""
    before, after = ({each.file: _worst([s for s in of if s.file == each.file]) for each in of} for of in (old, new))
    in_both = [(before[file], after[file]) for file in sorted(before.keys() & after.keys())]
    turned, worst = [*filter(_is_turned, in_both)], (_worst(old), _worst(new))
    is_milder = _severity(worst[1].level) < _severity(worst[0].level)
    if _is_turned(worst) and (not turned or (is_milder and worst[0] not in [each for each, _ in turned])):
        turned.append(worst)
    yield from (_of_two_levels(*pair) for pair in turned)


def _is_turned(pair: tuple[Logged, Logged]) -> bool:
    levels = {each.level for each in pair}
    return len(levels) > 1 and not levels.isdisjoint(_SHOWN)


def _of_two_levels(before: Logged, after: Logged) -> Change:
    milder = _severity(after.level) < _severity(before.level)
    weight = Weight.BREAKS if milder and before.level in _ALERTED else Weight.CHANGES
    whose = "" if after.owner == before.owner else f" Another class logs it now: {after.owner}."
    seen = "An alert on its level does not see it any more." if milder else "An alert on its level sees it now."
    return _change(weight, before, before.level, after.level, f"{seen}{whose}", 10)


def _reworded(gone: Sequence[Logged], fresh: Iterable[Logged]) -> dict[str, Logged]:
    """Return for each text that is gone the new one of the same class that is most like it, each used once."""
    new = {each.text: each for each in fresh}
    was, now = _texts_of_owners(gone), _texts_of_owners(new.values())
    pairs = (pair for owner in was for pair in most_alike(was[owner], now.get(owner, {})))
    return {before: new[after] for before, after in pairs}


def _texts_of_owners(statements: Iterable[Logged]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for each in statements:
        found[each.owner][each.text] = each.text
    return found


def _gone(old: Logged, new: Logged | None) -> Change:
    weight = Weight.BREAKS if old.level in _ALERTED else Weight.CHANGES
    if new is None:
        return _change(weight, old, old.level, "", "Never logged any more.", 30 - _severity(old.level))
    means = "An alert on the old words never fires."
    return _change(weight, old, old.level, f"{new.level} {new.text}", means, 20 - _severity(old.level))


def _fresh(statements: Iterable[Logged]) -> Iterator[Change]:
    for each in statements:
        if each.level in _SHOWN:
            means = "New: an alert on its level sees it." if each.level in _ALERTED else "New."
            yield _change(Weight.ADDS, each, "", each.level, means, 90 - _severity(each.level))


def _change(weight: Weight, of: Logged, base: str, candidate: str, means: str, rank: int) -> Change:
    where = of.file.rpartition(".")[0].replace("/", ".")
    return Change(Area.LOGS, weight, of.text, where, base, candidate, means, rank)
