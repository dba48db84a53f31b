"""What a contrast compares: templates without the insides of their brackets.

`Completed transition to Leader(localReplicaKey=…, …) from CandidateState(…)` writes whatever `toString` returned, at
every length; the message and the names before the brackets are what the statement says. The template itself stays
beside it: what the brackets hold is shown, and counted where it is a configuration key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_OPEN, _CLOSE = "([{", ")]}"
_BRACKET = re.compile(r"[()\[\]{}]")
WHOSE = re.compile(r"<\w+'s [a-z ]+>")  # a known address, by whose it is
_ENDPOINT = rf"(?:<n>@)?{WHOSE.pattern}(?: \(id: [^()]*\))?"
_ENDPOINTS = re.compile(rf"{_ENDPOINT}(?:, ?{_ENDPOINT})+")


@lru_cache(1 << 16)  # every file of a run has much the same templates
def family(template: str) -> str:
    """Return the template with what stands in brackets as `…`, but for the log context at its beginning.

    Brackets that do not match stay as they are, with what follows them.
    """
    ends = _ends(template)
    context = ends.get(0, 0) if template.startswith("[") else 0
    parts = [template[:context]]
    at = context
    while at < len(template):
        end = ends.get(at, 0)
        if end > at + 2:
            parts += [template[at], "…", template[end - 1]]
        else:
            end = max(end, at + 1)
            parts.append(template[at:end])
        at = end
    return "".join(parts)


@lru_cache(1 << 16)
def unordered(text: str) -> str:
    """Return a text with lists of known addresses as sets: which of the voters moved is another in every run."""
    return _ENDPOINTS.sub(lambda found: ", ".join(sorted(set(WHOSE.findall(found[0])))), text)


def insides(template: str) -> Iterator[str]:
    """Yield what `family` leaves out of a template: the insides of its outermost brackets, in their order."""
    ends = _ends(template)
    at = ends.get(0, 0) if template.startswith("[") else 0
    while at < len(template):
        end = ends.get(at, 0)
        if end:
            yield template[at + 1 : end - 1]
        at = max(end, at + 1)


def _ends(text: str) -> dict[int, int]:
    """Return where each bracket that is closed begins, and the place after what closes it.

    One that closes none of those that are open takes all of them with it.
    """
    ends: dict[int, int] = {}
    awaited: list[int] = []
    for found in _BRACKET.finditer(text):
        at, bracket = found.start(), found[0]
        if bracket in _OPEN:
            awaited.append(at)
        elif awaited and _OPEN.index(text[awaited[-1]]) == _CLOSE.index(bracket):
            ends[awaited.pop()] = at + 1
        else:
            awaited.clear()
    return ends
