"""Classes of other jars of the distribution in the jar: the order of the class path decides which one runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.model.proof import Difference
from harness.proof.dropin import rules

_CLASS = re.compile(r"(?:META-INF/versions/\d+/)?(.+)\.class")
_NEVER_LOADED = "module-info"  # from a class path


def compare_hidden(
    base: Sequence[str], candidate: Sequence[str], others: Mapping[str, Sequence[str]]
) -> Iterator[Difference]:
    """Yield, for each other jar, the classes of it that the candidate has and base's jar has not.

    All are names of entries, those of the others by jar name in the order of the class path.
    """
    added = _classes(candidate) - _classes(base) - {_NEVER_LOADED}
    for jar, taken in _taken(added, others).items():
        first, *more = sorted(each.replace("/", ".") for each in taken)
        counted = f", and {len(more)} more of its classes," if more else ""
        detail = f"{first} of {jar}{counted} is in this jar too: which one runs is up to the order of the class path"
        yield rules.CLASS_HIDES.broken(first, detail)


def _taken(added: set[str], others: Mapping[str, Sequence[str]]) -> Mapping[str, set[str]]:
    """Return the added classes by the jar that has them, each once: the first of two jars with one class has it."""
    found: dict[str, set[str]] = {}
    for jar, names in others.items():
        both = added.difference(*found.values()) & _classes(names)
        if both:
            found[jar] = both
    return found


def _classes(names: Iterable[str]) -> set[str]:
    """Return the classes that entries hold, whichever Java they are for."""
    return {found.group(1) for name in names if (found := _CLASS.fullmatch(name))}
