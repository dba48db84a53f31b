"""Whether two messages read so much alike that one is the other in new words; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher

LIKE = 0.6  # of two texts, from which one is taken for the other in new words

_CONTEXT = re.compile(r"\[[^\]]*\]:? ?")  # `[RaftManager id=<n>] `: a whole class writes it
_MASK = re.compile(r"<[^<>]*>|[(\[{]…[)\]}]")


def likeness(one: str, other: str) -> float:
    """Return how much of two texts is the same in the same order, from 0 to 1 (Ratcliff and Obershelp).

    What is certainly below LIKE may be any number below it: that is found out sooner.
    """
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    bound = min(matcher.real_quick_ratio(), matcher.quick_ratio())
    return matcher.ratio() if bound >= LIKE else 0.0


def most_alike(
    was: Mapping[str, str], now: Mapping[str, str], rate: Callable[[str, str], float] = likeness
) -> list[tuple[str, str]]:
    """Return the names of texts that read alike, those most alike first and each once."""
    rated = ((rate(old, young), name, other) for name, old in was.items() for other, young in now.items())
    found: dict[str, str] = {}
    for _, name, other in sorted((each for each in rated if each[0] >= LIKE), key=lambda each: (-each[0], *each[1:])):
        if name not in found and other not in found.values():
            found[name] = other
    return list(found.items())


def own_words(message_type: str) -> str:
    """Return what a message type says itself, without its log context, masks and brackets, which many have."""
    return _MASK.sub("", message_type[found.end() :] if (found := _CONTEXT.match(message_type)) else message_type)
