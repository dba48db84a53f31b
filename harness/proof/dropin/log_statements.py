"""Log statements that somebody may wait for: what base says at INFO or louder, and the candidate no longer; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from harness.base.likeness import LIKE, likeness, own_words
from harness.model.findings import LEVELS
from harness.model.proof import Difference
from harness.proof.bytecode import LogStatement
from harness.proof.dropin.rules import LOG_STATEMENT_GONE

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


def _loudest(statements: Collection[LogStatement]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in sorted(statements):
        found[each.text] = max(found.get(each.text, -1), LEVELS.index(each.level))
    return found
