"""Which source lines the methods of a class file hold, from its LineNumberTables (JVM specification, chapter 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.errors import HarnessError

# Bytes of a constant after its tag; a Utf8 (1) has a length of its own.
_TAGS_BY_BYTES = {2: (7, 8, 16, 19, 20), 3: (15,), 4: (3, 4, 9, 10, 11, 12, 17, 18), 8: (5, 6)}
_CONSTANT_BYTES = {tag: size for size, tags in _TAGS_BY_BYTES.items() for tag in tags}
_TWO_PLACES = (5, 6)  # a long and a double take two places of the pool


@dataclass(frozen=True, slots=True)
class ClassLines:
    """A class's source file (empty when it names none), and each method's lines by name and descriptor."""

    source: str
    methods: Mapping[tuple[str, str], frozenset[int]]


def class_lines(content: bytes) -> ClassLines:
    """Return the lines of a class file. Raises HarnessError when it is cut short or none."""
    try:
        return _ClassReader(content).read()
    except (IndexError, KeyError) as error:
        raise HarnessError("A class file of the candidate is damaged.", "Compare the jar's digest.") from error


class _ClassReader:
    """Walks through the bytes of one class file."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0
        self._texts: dict[int, str] = {}

    def read(self) -> ClassLines:
        self._take(8)  # magic and version
        self._pool()
        self._take(6)  # access, this class, its superclass
        self._take(2 * self._number(2))
        self._members()
        methods = dict(self._members())
        source = ""
        for name, content in self._attributes():
            if name == "SourceFile":
                source = self._texts[content._number(2)]
        return ClassLines(source, methods)

    def _pool(self) -> None:
        place, count = 1, self._number(2)
        while place < count:
            tag = self._number(1)
            if tag == 1:
                self._texts[place] = self._take(self._number(2)).decode("utf-8", "replace")
            else:
                self._take(_CONSTANT_BYTES[tag])
            place += 2 if tag in _TWO_PLACES else 1

    def _members(self) -> list[tuple[tuple[str, str], frozenset[int]]]:
        """Read all fields, or all methods: each by name and descriptor, with its lines."""
        return [self._member() for _ in range(self._number(2))]

    def _member(self) -> tuple[tuple[str, str], frozenset[int]]:
        self._take(2)
        name, descriptor = self._texts[self._number(2)], self._texts[self._number(2)]
        lines: set[int] = set()
        for attribute, content in self._attributes():
            if attribute == "Code":
                lines |= content._lines_of_code()
        return (name, descriptor), frozenset(lines)

    def _lines_of_code(self) -> set[int]:
        self._take(4)  # stack and locals
        self._take(self._number(4))
        self._take(8 * self._number(2))  # handlers of exceptions
        lines: set[int] = set()
        for name, content in self._attributes():
            if name == "LineNumberTable":
                lines |= content._table()
        return lines

    def _table(self) -> set[int]:
        entries = (self._take(4) for _ in range(self._number(2)))
        return {int.from_bytes(entry[2:], "big") for entry in entries}

    def _attributes(self) -> list[tuple[str, _ClassReader]]:
        found = []
        for _ in range(self._number(2)):
            name = self._texts[self._number(2)]
            content = _ClassReader(self._take(self._number(4)))
            content._texts = self._texts
            found.append((name, content))
        return found

    def _number(self, size: int) -> int:
        return int.from_bytes(self._take(size), "big")

    def _take(self, count: int) -> bytes:
        taken = self._content[self._at : self._at + count]
        if len(taken) < count:
            raise IndexError(count)
        self._at += count
        return taken
