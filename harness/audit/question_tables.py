"""Questions as files write them: `[[question]]` tables become records, or ValueErrors that name the key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any

from harness.audit.questions import ASKS, LEVELS, Ask, Question
from harness.base.toml import name, no_twins, only_keys, tables, text, texts

_MEMBER = re.compile(r"[A-Za-z_$][\w$]*\.[A-Za-z_$][\w$]*")
_CONSTRUCTOR = re.compile(r"[A-Za-z_$][\w$]*\(([\w$.\[\]]+(,\s*[\w$.\[\]]+)*)?\)")
# What is written as it likes; everything else names a member of a class, but a constructor its parameters too.
_FREE = ("log", "key", "default", "most", "type")


def parse_questions(document: Mapping[str, Any], promised_by: Mapping[str, str]) -> tuple[Question, ...]:
    """Return a file's questions; `promised_by` names, by the ids of some, the claim that promises the answer."""
    numbered = [(table, f"question {number}") for number, table in enumerate(tables(document, "question"), 1)]
    ids = [name(table, "id", where) for table, where in numbered]
    no_twins(ids, "question id")
    return tuple(
        Question(id, parse_ask(table, where), promised_by.get(id, ""))
        for id, (table, where) in zip(ids, numbered, strict=True)
    )


def parse_ask(table: Mapping[str, Any], where: str) -> Ask:
    """Return what a `[[question]]` table asks; its keys are the fields of the record for its `ask`."""
    kind = text(table, "ask", where)
    if kind not in ASKS:
        raise ValueError(f"{where}, ask: {kind!r} is not one of {', '.join(ASKS)}")
    known = fields(ASKS[kind])
    needed = tuple(each.name for each in known if each.default is MISSING)
    only_keys(table, where, ("id", "ask", *needed), tuple(each.name for each in known if each.name not in needed))
    # The record's own fields say which values are lists; no type checker can follow that.
    values: dict[str, Any] = {each.name: _value(each, table, where) for each in known if each.name in table}
    return ASKS[kind](**values)


def _value(field: Field[Any], table: Mapping[str, Any], where: str) -> str | tuple[str, ...]:
    several = str(field.type).startswith("tuple")
    values = texts(table, field.name, where) if several else (text(table, field.name, where),)
    if not values:
        raise ValueError(f"{where}, {field.name}: it lists nothing")
    for value in values:
        _well_formed(field.name, value, where)
    return values if several else values[0]


def _well_formed(key: str, value: str, where: str) -> None:
    if key == "most" and value not in LEVELS:
        raise ValueError(f"{where}, {key}: {value!r} is not one of {', '.join(LEVELS)}")
    if key == "constructor" and not _CONSTRUCTOR.fullmatch(value):
        raise ValueError(f"{where}, {key}: {value!r} is not Class(Type, …) with simple types")
    if key == "type" and not value.isidentifier():
        raise ValueError(f"{where}, {key}: {value!r} is not a simple class name")
    if key != "constructor" and key not in _FREE and not _MEMBER.fullmatch(value):
        raise ValueError(f"{where}, {key}: {value!r} is not Class.member")
