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
    found = {
        short: [full for full in of_class[_parts(short)[-1]] if _abbreviates(short, full)]
        for short in set(ours) - set(theirs)
    }
    return {short: fulls[0] for short, fulls in sorted(found.items()) if len(fulls) == 1}


def _abbreviates(short: str, full: str) -> bool:
    """Say whether the parts of a name are the last of a longer one, or begin them: `o.a.k.raft.RaftManager`."""
    shorter, longer = _parts(short), _parts(full)
    ends = longer[len(longer) - len(shorter) :]
    return len(short) < len(full) and len(ends) == len(shorter) and all(map(str.startswith, ends, shorter))


def _parts(name: str) -> list[str]:
    return name.split(".")
