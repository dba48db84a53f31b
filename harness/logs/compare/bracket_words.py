"""What brackets say in warnings and errors: the reason, where numbers, addresses and lists of names are none.

Families leave brackets out, so `(Too many open files)` and `(No such file or directory)` are one; here they are words
in a slot, as what stands in a statement's gaps is. They are not learned as noise: they are shown, and decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from harness.logs.compare.counts import Count
from harness.logs.compare.slots import MAX_WORD, Slot, Word
from harness.logs.compare.template_families import family, insides
from harness.model.findings import WORSE

_PHRASE = re.compile(r"(?<![\w.<@-])[A-Za-z']+ [A-Za-z']+(?![\w.>@-])")
_CONSTANT = re.compile(r"(?<![\w.<@-])[A-Z][A-Z_]*(?![\w.>@-])")


def bracket_words(counts: Iterable[Count]) -> Iterator[tuple[Count, Slot, Word]]:
    """Yield the words in the brackets of what was logged at WARN or worse; a word that an event repeats comes once."""
    known: dict[str, tuple[Word, ...]] = {}
    for count in counts:
        if count.level in WORSE and count.family:
            if count.template not in known:
                known[count.template] = tuple(dict.fromkeys(_words(count.template)))
            slot = Slot(count.logger, f"{count.family}: in brackets {{}}")
            yield from ((count, slot, word) for word in known[count.template])


def _words(template: str) -> Iterator[Word]:
    for inside in insides(template):
        text = family(inside.strip())
        if "=" not in text and len(text) <= MAX_WORD and _PHRASE.search(text):
            yield text
        else:
            yield from _CONSTANT.findall(inside)
