"""What can be missed: what another jar of the distribution names a class for, or what Kafka publishes as API."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.archives import contents, is_class
from harness.model.proof import Difference, Severity
from harness.proof.dropin import rules

_OF_THOSE_WHO_NAME_IT = frozenset(each.name for each in (rules.CLASS_MISSING, rules.MEMBER_REMOVED, rules.API_BINARY))
# Kafka publishes no Javadoc of these: `project(':raft') { javadoc { enabled = false } }` in its build.gradle. All other
# packages count as API, which users' code names.
_INTERNAL = re.compile(r"org[./]apache[./]kafka[./](?:raft|snapshot)[./].+")
_NAME = rb"[\w\x80-\xff]+"  # of a top-level class in a class file: UTF-8, up to what is nested in it

_NOBODY = "no other jar of this Kafka names its class"


def weighed(differences: Iterable[Difference], classes: Iterable[str], others: Sequence[Path]) -> Iterator[Difference]:
    """Yield differences; what is gone of an internal class that no other jar names is a warning.

    `classes` are those of base, `others` the other jars of the distribution. Raises HarnessError for a damaged jar.
    """
    found = list(differences)
    internal = {name.replace("/", "."): name for name in filter(is_internal, classes) if "$" not in name}
    tops = [_top_level_of(each, internal) for each in found]
    named = named_by(others, frozenset(filter(None, tops)))
    for each, top in zip(found, tops, strict=True):
        missed = not top or top in named
        yield each if missed else replace(each, severity=Severity.WARNING, detail=f"{each.detail}; {_NOBODY}")


def is_internal(name: str) -> bool:
    """Whether Kafka does not publish a class, named with dots or slashes: no user's code is compiled against it."""
    return bool(_INTERNAL.fullmatch(name))


def named_by(jars: Iterable[Path], classes: frozenset[str]) -> frozenset[str]:
    """Return which of these top-level classes the jars name: as a constant of a class file, or below META-INF.

    That is whatever a class file refers to, extends or implements, takes or returns, and texts, with dots or slashes.
    """
    packages = {name.rpartition("/")[0].encode() for name in classes}
    written = b"|".join(re.escape(each).replace(b"/", b"[/.]") for each in sorted(packages, key=len, reverse=True))
    pattern = re.compile(rb"(?:%b)[/.]%b" % (written, _NAME))
    found: set[str] = set()
    for content in (each for jar in jars if classes for each in contents(jar, _may_name_classes)):
        found.update(name.replace(b".", b"/").decode("utf-8", "replace") for name in pattern.findall(content))
    return classes & found


def _top_level_of(difference: Difference, tops: Mapping[str, str]) -> str:
    """Return the internal top-level class that a failing difference takes something from; empty for any other."""
    if difference.severity is not Severity.FAIL or difference.rule not in _OF_THOSE_WHO_NAME_IT:
        return ""
    where = difference.where
    ends = (found.start() for found in re.finditer(r"[.$]|$", where))
    return next((tops[where[:end]] for end in ends if where[:end] in tops), "")


def _may_name_classes(entry: str) -> bool:
    return is_class(entry) or (entry.startswith("META-INF/") and not entry.endswith("/"))
