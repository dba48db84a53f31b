"""What nodes tell in words, beside figures: `told` of a run's result, by subject and by name; compared with base's."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

REFUSALS = "refusals"  # by what was asked: the error's name, and the words that went with it

TEXT = "text"  # the type of a metric that is no number

_METRICS = " metrics"
_CHANGES = " metrics that change"
_ID = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])")  # 16 bytes in URL-safe base64
_NUMBER = re.compile(r"\d+")
_SHARE = re.compile(r"(\d{1,9}) of (\d{1,9})")


def metrics_of(role: str) -> str:
    """Return the subject of the raft metrics that nodes have in a role: their types by their names."""
    return f"{role}{_METRICS}"


def role_of(subject: str) -> str:
    """Return the role whose metrics a subject is; empty for any other."""
    return subject.removesuffix(_METRICS) if subject.endswith(_METRICS) else ""


@dataclass(frozen=True, slots=True)
class Changes:
    """In how many seconds a metric became another finite number, of those in which nodes were seen in a role."""

    changed: int = 0
    seconds: int = 0

    def __str__(self) -> str:
        return f"{self.changed} of {self.seconds}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Return what `str` wrote; that nothing was seen where it is another text."""
        found = _SHARE.fullmatch(text)
        return cls(*map(int, found.groups())) if found else cls()


def changes_of(role: str) -> str:
    """Return the subject of how often the raft metrics of nodes in a role change: Changes as texts by their names."""
    return f"{role}{_CHANGES}"


def in_words(text: str) -> str:
    """Return a text without what differs in every run: ids of clusters and directories, and numbers."""
    return _NUMBER.sub("<n>", _ID.sub("<id>", text))


def most_usual(told: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the type of each metric that most lines or runs tell; of as many the first by its name."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for types in told:
        for name, kind in types.items():
            found[name][kind] += 1
    return {name: min(kinds, key=lambda kind: (-kinds[kind], kind)) for name, kinds in found.items()}
