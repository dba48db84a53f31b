"""Which tests have to do with what changed: read from the constant pools of class files."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Mapping, Set
from pathlib import Path

from harness.base.errors import HarnessError
from harness.building.jars import class_bytes

_UTF8, _CLASS = 1, 7
# Bytes after the tag of each other kind of constant (Java Virtual Machine Specification, 4.4).
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
_TWO_SLOTS = (5, 6)


def changed_classes(base: Path, candidate: Path) -> frozenset[str]:
    """Return the outermost classes, with dots, whose bytes differ or that only one of two jars has.

    Compilers differ in nearly every class: that means something for jars of one compiler only.
    """
    ours, theirs = class_bytes(base), class_bytes(candidate)
    return frozenset(outermost(name) for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))


def related_tests(test_jar: Path, changed: Set[str]) -> frozenset[str]:
    """Return the outermost classes of the test jar that name a changed class, themselves or by way of test support.

    Support is what is no test by its name, such as the context that most tests of the raft client stand on. Tests
    that use another test's helpers are not followed: by way of those everything refers to everything.
    """
    references = _references(class_bytes(test_jar))
    found: set[str] = set()
    reached = set(changed)
    while reached:
        new = {name for name, named in references.items() if named & reached} - found
        found |= new
        reached = {name for name in new if not name.endswith("Test")}
    return frozenset(found)


def changed_tests(ours: Path, theirs: Path) -> frozenset[str]:
    """Return the outermost classes of a test jar that another release has changed, or whose test support it has."""
    changed = changed_classes(ours, theirs)
    return changed | related_tests(ours, changed)


def outermost(name: str) -> str:
    """Return the top-level class of a class, with dots."""
    return name.replace("/", ".").partition("$")[0]


def referred(content: bytes) -> frozenset[str]:
    """Return the names of all classes, with dots, in a class file's constant pool. Raises ValueError."""
    texts: dict[int, bytes] = {}
    classes: list[int] = []
    try:
        magic, count = struct.unpack_from(">I4xH", content)
        if magic != 0xCAFEBABE:
            raise ValueError("it is not a class file")
        at, index = 10, 1
        while index < count:
            tag = content[at]
            if tag == _UTF8:
                (size,) = struct.unpack_from(">H", content, at + 1)
                texts[index] = content[at + 3 : at + 3 + size]
                at += 3 + size
            elif tag == _CLASS:
                classes += struct.unpack_from(">H", content, at + 1)
                at += 3
            else:
                at += 1 + _SIZES[tag]
            index += 2 if tag in _TWO_SLOTS else 1
        return frozenset(_name(texts[each]) for each in classes)
    except (struct.error, IndexError, KeyError) as error:
        raise ValueError("its constant pool is damaged") from error


def _name(text: bytes) -> str:
    """Return a class constant's name; an array's is a descriptor, as in `[Lorg/apache/Foo;`."""
    name = text.decode("utf-8", "replace")
    return outermost(name.lstrip("[").removeprefix("L").removesuffix(";") if name.startswith("[") else name)


def _references(classes: Mapping[str, bytes]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, content in classes.items():
        try:
            found[outermost(name)] |= referred(content)
        except ValueError as error:
            raise HarnessError(f"The class {name} of the tests cannot be read: {error}.") from error
    return found
