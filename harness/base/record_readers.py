"""Reads plain values (what JSON has) as model records: what a type asks for is found out once, and then only applied.

A file of noise holds a hundred thousand values, which a verification reads more than once.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,4000}")

Reader = Callable[[Any], Any]


class MisfitError(Exception):
    """A value that is not what a record asks for. Each level that it leaves adds its step to where that is."""

    def __init__(self, wanted: str, got: object) -> None:
        super().__init__(wanted, got)
        self._wanted, self._got = wanted, got
        self.steps: list[str] = []  # the innermost first

    @property
    def sentence(self) -> str:
        """Where that is, what is expected there, and what is there instead."""
        return f"At ${''.join(reversed(self.steps))}: expected {self._wanted}, found {str(self._got)[:200]!r}."


@cache
def reader(kind: Any) -> Reader:
    """Return what reads a value of a type; it raises MisfitError for any other."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):  # only `X | None` occurs
        given = reader(args[0])
        return lambda value: None if value is None else given(value)
    if origin is tuple:
        return _any_number(args[0]) if args[-1] is Ellipsis else _so_many(args)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(*args)
    if dataclasses.is_dataclass(kind):
        return _record(cast(type[Any], kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice(kind)
    return {Path: _path, float: _number, Any: lambda value: value}.get(kind) or _just(kind)


def _any_number(kind: Any) -> Reader:
    read_one = reader(kind)

    def read(value: Any) -> Any:
        found: list[Any] = []
        _expect(type(value) is list, "tuple", value)
        try:
            for item in value:
                found.append(read_one(item))  # how many there are says where one does not fit
        except MisfitError as misfit:
            misfit.steps.append(f"[{len(found)}]")
            raise
        return tuple(found)

    return read


def _so_many(kinds: tuple[Any, ...]) -> Reader:
    readers = tuple(map(reader, kinds))

    def read(value: Any) -> Any:
        _expect(type(value) is list, "tuple", value)
        _expect(len(readers) == len(value), f"{len(readers)} values", value)
        return tuple(_at(f"[{place}]", one, item) for place, (one, item) in enumerate(zip(readers, value, strict=True)))

    return read


def _mapping(key_kind: Any, kind: Any) -> Reader:
    read_key, read_one = _key if key_kind is int else reader(key_kind), reader(kind)

    def read(value: Any) -> Any:
        _expect(type(value) is dict, "Mapping", value)
        return {read_key(key): _at(f".{key}", read_one, item) for key, item in value.items()}

    return read


def _record(cls: type[Any]) -> Reader:
    def read(value: Any) -> Any:
        _expect(type(value) is dict, cls.__name__, value)
        readers, needed = _fields(cast(Any, cls))
        if not needed <= value.keys() <= readers.keys():
            raise MisfitError(f"the fields of {cls.__name__}", sorted(value))
        found, name = {}, ""
        try:
            for name, item in value.items():
                found[name] = readers[name](item)
        except MisfitError as misfit:
            misfit.steps.append(f".{name}")
            raise
        return cls(**found)

    return read


@cache  # and not when its reader is made: a record may hold others of its own kind
def _fields(cls: Any) -> tuple[Mapping[str, Reader], frozenset[str]]:
    """Return what reads each field of a record, and the fields that have no default."""
    hints, fields = get_type_hints(cls), dataclasses.fields(cls)
    needed = frozenset(each.name for each in fields if each.default is each.default_factory is dataclasses.MISSING)
    return {each.name: reader(hints[each.name]) for each in fields}, needed


def _choice(kind: type[Enum]) -> Reader:
    members = [member.value for member in kind]

    def read(value: Any) -> Any:
        _expect(value in members, f"one of {members}", value)
        return kind(value)

    return read


def _just(kind: Any) -> Reader:
    name = getattr(kind, "__name__", str(kind))

    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise MisfitError(name, value)
        return value

    return read


def _path(value: Any) -> Path:
    _expect(type(value) is str, "Path", value)
    return Path(value)


def _number(value: Any) -> float:
    """Return a JSON number as a float; `1e999` is one that no float holds."""
    _expect(type(value) in (int, float), "float", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    _expect(math.isfinite(number), "a finite number", value)
    return number


def _key(key: str) -> int:
    """Return a mapping's key that is a number: JSON has texts only."""
    _expect(_WHOLE_NUMBER.fullmatch(key) is not None, "a number as key", key)
    return int(key)


def _at(step: str, read: Reader, value: Any) -> Any:
    try:
        return read(value)
    except MisfitError as misfit:
        misfit.steps.append(step)
        raise


def _expect(met: bool, wanted: str, got: object) -> None:
    """Raise MisfitError unless a value is what was wanted."""
    if not met:
        raise MisfitError(wanted, got)
