"""Loggers that one side's layout abbreviates, as `%c{1}` and `%c{1.}` do, under the other side's names; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping


def full_names(ours: Collection[str], theirs: Collection[str]) -> Mapping[str, str]:
    """Return the full name of each logger of `ours` that abbreviates exactly one of `theirs`.

    Only loggers that the other side lacks are abbreviations, or stand in full for one.
    """
    of_class: dict[str, list[str]] = defaultdict(list)
    for full in set(theirs) - set(ours):
        of_class[_parts(full)[-1]].append(full)
    most = max((len(_parts(each)) for each in ours), default=0)
    found = {
        short: [full for full in of_class[_parts(short)[-1]] if _abbreviates(short, full, most)]
        for short in set(ours) - set(theirs)
    }
    return {short: fulls[0] for short, fulls in sorted(found.items()) if len(fulls) == 1}


def _abbreviates(short: str, full: str, most: int) -> bool:
    """Say whether a name is short for a longer one, where no name of its side has more than `most` parts.

    A layout keeps the last parts (`%c{1}`), as many of every name, or shortens those before (`o.a.k.raft.RaftManager`).
    A class that has moved into a package with a longer name is neither.
    """
    shorter, longer = _parts(short), _parts(full)
    if len(shorter) == len(longer):
        return short != full and all(map(str.startswith, longer, shorter))
    return len(shorter) == most < len(longer) and longer[-most:] == shorter


def _parts(name: str) -> list[str]:
    return name.split(".")
