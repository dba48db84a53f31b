"""What changed in a top-level class with all that is nested in it, in words: methods, fields, calls; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from harness.proof.dropin.source_methods import Member, Nest

_SYNTHETIC = 0x1000
UNCERTAIN = "other instructions, which may be the compiler's doing"
_MOST = 8  # names of a kind: they say where to look


def describe_change(old: Nest, new: Nest, calls: tuple[Counter[str], Counter[str]], edited: Iterable[Member]) -> str:
    """Return what a class does otherwise: `methods changed: poll; calls added: Thread.sleep`.

    `calls` are what the two use, less what compilers add on their own; `edited` the methods that do something else.
    """
    methods, fields, headers = ([of(nest) for nest in (old, new)] for of in (_methods, _fields, _headers))
    parts = (
        ("classes added", _only_in(headers[1], headers[0])),
        ("classes removed", _only_in(headers[0], headers[1])),
        ("classes declared otherwise", _differing(*headers)),
        ("methods changed", {_name(each) for each in edited if each in methods[0]} | _differing(*methods)),
        ("methods added", _only_in(methods[1], methods[0])),
        ("methods removed", _only_in(methods[0], methods[1])),
        ("fields added", _only_in(fields[1], fields[0])),
        ("fields removed", _only_in(fields[0], fields[1])),
        ("fields changed", _differing(*fields)),
        ("calls added", _called(calls[1] - calls[0])),
        ("calls removed", _called(calls[0] - calls[1])),
    )
    found = "; ".join(f"{what} {_listed(names)}" for what, names in parts if names)
    return found or UNCERTAIN


def _headers(nest: Nest) -> dict[Member, object]:
    return {
        (each.name, "", ""): (each.access, each.superclass, each.interfaces)
        for each in nest
        if not each.access & _SYNTHETIC and not each.is_numbered
    }


def _fields(nest: Nest) -> dict[Member, object]:
    return {
        (each.name, field.name, ""): (field.descriptor, field.access, field.constant)
        for each in nest
        for field in each.fields
        if not field.access & _SYNTHETIC
    }


def _methods(nest: Nest) -> dict[Member, object]:
    return {
        (each.name, method.name, method.descriptor): (method.access, method.exceptions)
        for each in nest
        for method in each.methods
        if not method.access & _SYNTHETIC
    }


def _only_in(one: Mapping[Member, object], other: Mapping[Member, object]) -> set[str]:
    return {_name(member) for member in one.keys() - other.keys()}


def _differing(old: Mapping[Member, object], new: Mapping[Member, object]) -> set[str]:
    return {_name(member) for member in old.keys() & new.keys() if old[member] != new[member]}


def _name(member: Member) -> str:
    """Return a member's name, with its class where that is nested; a class's own name for the class itself."""
    owner, name, _ = member
    nested = owner.rpartition("/")[2].split("$")[1:]
    words = ["(anonymous)" if part[:1].isdigit() else part for part in nested]
    special = {"<init>": "constructor", "<clinit>": "static initializer"}
    return ".".join(filter(None, (*words, special.get(name, name)))) or owner.rpartition("/")[2]


def _called(uses: Iterable[str]) -> set[str]:
    """Return calls and new objects in words: `Thread.sleep`, `new ArrayList`."""
    return set(filter(None, map(_call, uses)))


def _call(use: str) -> str:
    kind, _, used = use.partition(" ")
    owner, _, name = used.partition("(")[0].rpartition(".")
    if kind == "new":
        return f"new {name}"
    called = f"{owner.rpartition('.')[2]}.{name}".replace("$", ".")
    return called if kind == "call" and name != "<init>" else ""


def _listed(names: set[str]) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - _MOST} more" if len(ordered) > _MOST else ""
    return ", ".join(ordered[:_MOST]) + more
