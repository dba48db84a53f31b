"""What runs in which fork: pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from harness.proof.junit.junit_tests import JUnitTest
from harness.proof.junit.related import outermost

JUPITER, PROPERTIES = "junit-jupiter", "jqwik"
ENGINES = (JUPITER, PROPERTIES)
_SAFE = re.compile(r"[\w$.,;\[\] ()]+")

_MANY = 100  # Jupiter tests that are worth a second JVM
_USUAL = {JUPITER: 0.03, PROPERTIES: 5.0}


def included(engine: str) -> str:
    """Return the launcher's option that has an engine take part."""
    return f"--include-engine={engine}"


@dataclass(frozen=True, slots=True)
class Unit:
    """What one fork is to run: the launcher's selectors, of one engine, and the tests that must come of them."""

    engine: str
    selectors: tuple[str, ...]
    expected: tuple[JUnitTest, ...]


def units_of(cases: Sequence[JUnitTest], seconds: Mapping[str, float]) -> tuple[Unit, ...]:
    """Share out tests, the longest unit first; `seconds` are those of slow properties, by their names.

    A slow property gets a fork of its own, and so do the two halves of many Jupiter tests, which mostly wait; the rest
    of an engine goes into one: starting a JVM and warming it up costs seconds, which only a slow one outweighs.
    """
    slow = [(case,) for case in cases if case.name in seconds]
    rest = [tuple(each for each in cases if each.engine == engine and each.name not in seconds) for engine in ENGINES]
    parts = [part for group in rest for part in (_halves(group) if len(group) > _MANY else [group])]
    units = [_unit(group) for group in (*slow, *parts) if group]
    return tuple(sorted(units, key=lambda unit: -_weight(unit, seconds)))


def _weight(unit: Unit, seconds: Mapping[str, float]) -> float:
    """Return roughly how many seconds a unit takes: the longest is begun first."""
    return sum(seconds.get(case.name, _USUAL.get(case.engine, 0)) for case in unit.expected)


def _halves(cases: Sequence[JUnitTest]) -> list[tuple[JUnitTest, ...]]:
    """Return the cases in two parts of about as many; a class stays whole."""
    classes: dict[str, list[JUnitTest]] = {}
    for case in cases:
        classes.setdefault(case.class_name, []).append(case)
    halves: tuple[list[JUnitTest], list[JUnitTest]] = ([], [])
    for group in sorted(classes.values(), key=lambda group: (-len(group), group[0].class_name)):
        min(halves, key=len).extend(group)
    return [tuple(half) for half in halves]


def only_classes(cases: Sequence[JUnitTest], classes: Set[str]) -> tuple[JUnitTest, ...]:
    """Return the tests of these classes without the properties, which are simulations of minutes."""
    return tuple(case for case in cases if case.engine == JUPITER and outermost(case.class_name) in classes)


def _unit(cases: Sequence[JUnitTest]) -> Unit:
    return Unit(cases[0].engine, tuple(dict.fromkeys(map(_selector, cases))), tuple(cases))


def _selector(case: JUnitTest) -> str:
    """Return what selects the test; a method that the report names oddly takes its whole class along."""
    if _SAFE.fullmatch(case.method):
        return f"--select-method={case.class_name}#{case.method}"
    return f"--select-class={case.class_name}"
