"""Calls that Java 8 cannot answer, in a jar whose base runs on it: what Java 9 and later give a return type of its own.

javac with `-source 8 -target 8` writes them where it compiles against its own class library, which `--release 8` hides.
Other methods that are newer than Java 8 are not known here: no class library of Java 8 is at hand on every host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.model.proof import Difference, Severity
from harness.proof.bytecode import Classes, Use
from harness.proof.dropin import rules
from harness.proof.dropin.class_changes import JAVA_8, CompiledBaseline, closest

# Java 9's java.nio.ByteBuffer and its like return themselves, Java 8's inherit these from java.nio.Buffer.
_SINCE_9 = re.compile(r"java/nio/\w+Buffer\.(?:flip|clear|limit|position|rewind|mark|reset)\(I?\)Ljava/nio/\w+Buffer;")


def compare_older_java(
    base: Classes, candidate: Classes, baselines: Sequence[CompiledBaseline], builder: str = ""
) -> Iterator[Difference]:
    """Yield one difference where a candidate calls what Java 8 has not, and base, which Java 8 can load, does not.

    It is a warning where the candidate's compiler is to blame and not who chose it: `builder`, which made the jar here,
    or one of this harness's own whose baseline comes nearest and makes such calls too.
    """
    if any(each.major > JAVA_8 for each in base.values()) or _newer(base):
        return
    found = _newer(candidate)
    if not found:
        return
    nearest, _ = closest(candidate, baselines)
    builder = builder or (nearest.label if _newer(nearest.classes) else "")
    (where, use), more = found[0], f" and {len(found) - 1} calls more" if len(found) > 1 else ""
    called = f"{use.owner.replace('/', '.')}.{use.name}{use.descriptor}"
    detail = f"{where} calls {called}{more}, which Java 8 does not have: on it they die of NoSuchMethodError"
    made = f"{builder} compiled it against a newer class library" if builder else "compile it with javac --release 8"
    rule = rules.NEWER_JAVA.weighing(Severity.WARNING) if builder else rules.NEWER_JAVA
    yield rule.broken(where, f"{detail}; {made}", "", called)


def _newer(classes: Classes) -> list[tuple[str, Use]]:
    """Return the calls that Java 8 cannot answer, of classes that it can load, by the method that makes them."""
    return [
        (f"{name.replace('/', '.')}.{method.name}", use)
        for name in sorted(classes)
        if classes[name].major <= JAVA_8
        for method in classes[name].methods
        for use in method.uses
        if use.kind == "call" and _SINCE_9.fullmatch(f"{use.owner}.{use.name}{use.descriptor}")
    ]
