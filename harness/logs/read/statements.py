"""Which statement of Kafka's sources wrote a message: a finding can then name its file and line.

Statements are looked up by words that they always write, so that only a few are compared with a message, and
they are compared as globs are: in time linear in the message, whatever it holds.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

GAP = "\ufffc"  # what is not known of a message; Unicode's placeholder for an object, which no source writes
MIN_LETTERS = 8  # that a statement with values of another class than the logger's must share with a message

_WORD = re.compile(r"[A-Za-z]{2,}")
_PREFIX = re.compile(r"\][:,]? ?")  # a log context ends so: `[RaftManager id=1] `, `[kafka-0-raft-io-thread]: `
_MAX_PREFIX = 400  # characters
_MAX_MESSAGE = 4_000  # characters of a message that are compared
_AS_LOGGED = {"FATAL": "ERROR"}  # Scala's `fatal` logs at ERROR with a marker (kafka.utils.Logging)


@dataclass(frozen=True, slots=True)
class Statement:
    """One log statement: its file below the sources' root, its line, its level and what it always writes.

    `owner` is the innermost class around it, without its package. Between two `parts` there is a value; the first and
    the last are empty where the message begins or ends with one.
    """

    file: str
    line: int
    level: str
    parts: tuple[str, ...]
    owner: str = ""

    @property
    def place(self) -> str:
        """Its file and line, `org/apache/kafka/raft/KafkaRaftClient.java:1234`."""
        return f"{self.file}:{self.line}"

    @property
    def text(self) -> str:
        """What it writes, `{}` for each value."""
        return "{}".join(self.parts)

    @property
    def letters(self) -> int:
        """How many letters it always writes."""
        return sum(len(word) for part in self.parts for word in _WORD.findall(part))

    def fits(self, message: str) -> bool:
        """Say whether the statement can have written exactly this message."""
        return self.values(message) is not None

    def values(self, message: str) -> tuple[str, ...] | None:
        """Return what stands in the gaps of a message, None if the statement cannot have written exactly this."""
        first, *rest = self.parts
        if not rest:
            return () if message == first else None
        *middle, last = rest
        at, end = len(first), len(message) - len(last)
        if not message.startswith(first) or not message.endswith(last) or at > end:
            return None
        found = []
        for part in middle:
            next_at = message.find(part, at, end)
            if next_at < 0:
                return None
            found.append(message[at:next_at])
            at = next_at + len(part)
        return (*found, message[at:end])


@dataclass(frozen=True, slots=True)
class SourceClass:
    """A class, object or trait: its full name (nested ones as if they were not), its file, and what it extends."""

    name: str
    file: str
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """What is known of the sources of one version."""

    statements: tuple[Statement, ...] = ()
    classes: tuple[SourceClass, ...] = ()


class Statements:
    """The statements of one version, found by level, logger and message."""

    def __init__(self, known: Library) -> None:
        statements = known.statements
        self._classes: dict[str, list[SourceClass]] = defaultdict(list)
        for declared in known.classes:
            self._classes[declared.name].append(declared)
            self._classes[declared.name.rpartition(".")[2]].append(declared)
        self._by_owner: dict[tuple[str, str], list[Statement]] = defaultdict(list)
        self._by_word: dict[str, list[Statement]] = defaultdict(list)
        frequency = Counter(word for statement in statements for word in _words(statement))
        for statement in statements:
            self._by_owner[statement.file, statement.owner].append(statement)
            words = _words(statement)
            if words:
                self._by_word[min(words, key=lambda word: (frequency[word], word))].append(statement)

    def of(self, level: str, logger: str, message: str) -> Statement | None:
        """Return the statement that wrote a message, None where none fits.

        Those of the logger's own class go first, then those of what it extends, nearest first, then those of any
        class; among them the one that always writes most, then the first by file and line.
        """
        texts = list(_without_prefixes(message[:_MAX_MESSAGE].rstrip()))
        for declared in self._lineage(logger):
            if found := _best(self._by_owner[declared.file, declared.name.rpartition(".")[2]], level, texts):
                return found
        others = (each for each in self._sharing(message) if len(each.parts) == 1 or each.letters >= MIN_LETTERS)
        return _best(others, level, texts)

    def _lineage(self, logger: str) -> Iterator[SourceClass]:
        """Return a logger's class, what it extends, what that extends, then the same for the class around it."""
        package, _, name = logger.rstrip("$").rpartition(".")
        seen: set[SourceClass] = set()
        for each in reversed(name.split("$")):
            generation = list(self._classes.get(f"{package}.{each}", []))
            while generation:
                yield from generation
                seen.update(generation)
                parents = [parent for declared in generation for parent in declared.parents]
                generation = [one for parent in parents for one in self._classes.get(parent, []) if one not in seen]

    def _sharing(self, message: str) -> Iterator[Statement]:
        for word in sorted(set(_WORD.findall(message[:_MAX_MESSAGE]))):
            yield from self._by_word.get(word, [])


def written(statement: Statement, message: str) -> tuple[str, ...]:
    """Return the values that a statement wrote into a message of its own, log contexts before it or none."""
    texts = _without_prefixes(message[:_MAX_MESSAGE].rstrip())
    return next((values for text in texts if (values := statement.values(text)) is not None), ())


def _words(statement: Statement) -> set[str]:
    """Return the words of a statement that stand alone in every message of it."""
    words: set[str] = set()
    for number, part in enumerate(statement.parts):
        for word in _WORD.finditer(part):
            open_left = number > 0 and word.start() == 0
            open_right = number < len(statement.parts) - 1 and word.end() == len(part)
            if not open_left and not open_right:
                words.add(word[0])
    return words


def _without_prefixes(message: str) -> Iterator[str]:
    """Return the message, and the message without the log contexts in brackets that it begins with."""
    yield message
    at = 0
    for end in _PREFIX.finditer(message[:_MAX_PREFIX]):
        if message[at : at + 1] == "[":
            yield message[end.end() :]
            if message[end.end() : end.end() + 1] == "[":
                at = end.end()


def _best(candidates: Iterable[Statement], level: str, texts: Sequence[str]) -> Statement | None:
    fitting = [
        statement
        for statement in candidates
        if level in ("", statement.level, _AS_LOGGED.get(statement.level)) and any(map(statement.fits, texts))
    ]
    return min(fitting, key=lambda each: (-each.letters, -len("".join(each.parts)), each.place), default=None)
