"""Log statements of two jars: what base says at INFO or louder, and errors that it has no words for; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from harness.base.likeness import LIKE, likeness, own_words
from harness.model.findings import LEVELS
from harness.model.proof import Difference
from harness.proof.bytecode import LogStatement
from harness.proof.dropin.class_changes import top_level
from harness.proof.dropin.rules import LOG_ERROR_ADDED, LOG_STATEMENT_GONE

_ERROR = "ERROR"
_SEEN = LEVELS.index("INFO")  # by default; what is quieter nobody can wait for


def compare_statements(base: Collection[LogStatement], candidate: Collection[LogStatement]) -> Iterator[Difference]:
    """Yield the statements that the candidate has not, or not so loud, in whichever class it may have them.

    One that it has in like words instead is none: other words may be meant, and runs show what becomes of them.
    """
    was, now = _loudest(base), _loudest(candidate)
    fresh = [own_words(text) for text in now if text not in was]
    owners = {each.text: each.owner.rpartition("/")[2] for each in sorted(base)}
    for text, level in was.items():
        kept = now.get(text, -1)
        reworded = kept < 0 and any(likeness(own_words(text), words) >= LIKE for words in fresh)
        if level >= _SEEN and kept < level and not reworded:
            instead = f"at {LEVELS[kept]} now" if kept >= 0 else "it is gone"
            yield LOG_STATEMENT_GONE.broken(owners[text], f"{LEVELS[level]} “{text}”: {instead}")


def compare_errors(base: Collection[LogStatement], candidate: Collection[LogStatement]) -> Iterator[Difference]:
    """Yield the statements at ERROR whose text base has at no level, so that its jar can never log them.

    What may be another wording of an error that is gone is none: of the same class, or in like words.
    """
    known, kept = {each.text for each in base}, {each.text for each in candidate}
    gone = [each for each in base if each.level == _ERROR and each.text not in kept]
    owners, words = {top_level(each.owner) for each in gone}, [own_words(each.text) for each in gone]
    for each in sorted(candidate):
        if each.level != _ERROR or each.text in known or top_level(each.owner) in owners:
            continue
        if not any(likeness(was, own_words(each.text)) >= LIKE for was in words):
            detail = f"ERROR “{each.text}”: base has no such statement"
            yield LOG_ERROR_ADDED.broken(each.owner.replace("/", "."), detail, "", each.text)


def _loudest(statements: Collection[LogStatement]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in sorted(statements):
        found[each.text] = max(found.get(each.text, -1), LEVELS.index(each.level))
    return found
