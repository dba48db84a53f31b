"""Tests of upstream's that do not fit a jar: they call what nobody but the jar itself can miss, and has changed; pure.

A back-port often gives a constructor of an internal class one more parameter, and changes the tests that call it. On
nodes nobody can miss the old one: that no other jar uses it the drop-in proof has shown. Such tests say nothing of the
jar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.base.text import counted, cut, listed
from harness.model.proof import Difference, FailedTest, Severity, TestsProof, TestSuite
from harness.proof.descriptors import parameter_types
from harness.proof.dropin import rules
from harness.stages.tests_weighed import with_gap

_MEMBER = re.compile(r"(?P<owner>.+)\.(?P<name>[^.:(]+)(?:\((?P<parameters>[^)]*)\)\S+|: \S+)")
_MOST_NAMED, _MOST_TYPES = 3, 3


def fitted(tests: TestsProof, differences: Iterable[Difference]) -> TestsProof:
    """Return what tests say; failures for want of a member that nobody else can miss are excused, and a gap."""
    gone = [each.where for each in differences if _nobody_misses(each)]
    failed = tuple(_fitted(each, gone) for each in tests.failed)
    unfit = {after: before for before, after in zip(tests.failed, failed, strict=True) if after != before}
    if not unfit:
        return tests
    missed = listed(sorted({_readable(_missed(each, gone)) for each in unfit.values()}), _MOST_NAMED)
    why = f"they use {missed}, which changed and which no other jar can miss"
    says = f"{len(unfit)} of {counted(tests.count, 'test')} could not be asked of the jar: {why}."
    return with_gap(replace(tests, failed=failed), says)


def _nobody_misses(difference: Difference) -> bool:
    return difference.rule == rules.MEMBER_REMOVED.name and difference.severity is Severity.WARNING


def _fitted(failed: FailedTest, gone: Sequence[str]) -> FailedTest:
    member = _missed(failed, gone)
    if not member or failed.suite is not TestSuite.UPSTREAM or failed.excuse:
        return failed
    return replace(failed, excuse=f"it uses {_readable(member)}, which changed and which no other jar can miss")


def _missed(failed: FailedTest, gone: Sequence[str]) -> str:
    """Return the member for whose want a test died, by the JVM's words; empty where it failed otherwise."""
    said = f"{failed.message}\n{failed.trace}"
    return next((member for member in gone if re.search(_words_of_the_jvm(member), said)), "")


def _words_of_the_jvm(member: str) -> str:
    """Return a pattern for what Java 11 and later say where a member lacks (`LinkResolver`, in HotSpot)."""
    found = _MEMBER.fullmatch(member)
    if not found:
        return r"(?!)"
    owner, name = re.escape(found["owner"]), re.escape(found["name"])
    if found["parameters"] is None:
        return rf"NoSuchFieldError: (?:Class {owner} does not have member field '\S+ {name}'|{name}$)"
    parameters = re.escape(", ".join(parameter_types(found["parameters"])))
    return rf"NoSuchMethodError: '\S+ {owner}\.{name}\({parameters}\)'"


def _readable(member: str) -> str:
    """Return a member as a person writes it: `LeaderState(Time, int)`, `LeaderState.epoch`."""
    found = _MEMBER.fullmatch(member)
    if not found:
        return cut(member, 120)
    owner = found["owner"].rpartition(".")[2].replace("$", ".")
    title = owner if found["name"] == "<init>" else f"{owner}.{found['name']}"
    if found["parameters"] is None:
        return title
    types = [each.rpartition(".")[2] for each in parameter_types(found["parameters"])]
    more = ["…"] if len(types) > _MOST_TYPES else []
    return cut(f"{title}({', '.join([*types[:_MOST_TYPES], *more])})", 120)
