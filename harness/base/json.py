"""Model records as JSON and back: what stages write into the run directory and read from it."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from pathlib import Path, PurePath
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from harness.base.errors import HarnessError

T = TypeVar("T")

_HALVES = re.compile("[\ud800-\udfff]")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,4000}")


def to_json(record: object) -> str:
    """Return `record` (a dataclass, or a sequence or mapping of them) as JSON.

    The same record always gives the same bytes: fields keep their declared order, mappings are sorted by key.
    """
    return written(plain(record), indent=1) + "\n"


def written(document: Any, indent: int | None = None) -> str:
    """Return a plain document as JSON; half of a character, which UTF-8 does not have, is written by its number."""
    text = json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False)
    return text if text.isascii() else _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def from_json(cls: type[T], text: str | bytes) -> T:
    """Return the `cls` that `text` holds; `cls` may also be a type such as `tuple[NodeLogs, ...]`.

    Unknown fields, missing fields and values of another type are a HarnessError that says where.
    """
    return record_of(cls, parse_json(text))


def parse_json(text: str | bytes) -> Any:
    """Return the plain document (dict, list, …) that `text` holds. Raises HarnessError, also for NaN and Infinity."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"Not valid JSON: {error}.", "Run the stage that writes it again.") from error


def record_of(cls: type[T], document: Any) -> T:
    """Return the `cls` that a plain document holds. Raises HarnessError as `from_json` does."""
    try:
        return cast(T, _build(cls, document, "$"))
    except RecursionError as error:
        raise HarnessError("It is nested too deeply.") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def plain(value: object) -> Any:
    """Return a record as what JSON has: dicts, lists and scalars."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in sorted((plain(k), v) for k, v in value.items())}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def _build(kind: Any, value: Any, where: str) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):  # only `X | None` occurs
        return None if value is None else _build(args[0], value, where)
    if origin is tuple and isinstance(value, list):
        kinds = [args[0]] * len(value) if args[-1] is Ellipsis else list(args)
        _expect(len(kinds) == len(value), where, f"{len(kinds)} values", value)
        return tuple(_build(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(kinds, value, strict=True)))
    if origin is not None and issubclass(origin, Mapping) and isinstance(value, dict):
        return {_key(args[0], k, where): _build(args[1], v, f"{where}.{k}") for k, v in value.items()}
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return _record(cast(type[Any], kind), value, where)
    return _scalar(kind, value, where)


def _key(kind: Any, key: str, where: str) -> Any:
    """Return a mapping's key: JSON has texts only."""
    if kind is not int:
        return _build(kind, key, where)
    _expect(_WHOLE_NUMBER.fullmatch(key) is not None, where, "a number as key", key)
    return int(key)


@cache  # asking again for every record took a quarter of the time of reading a verdict
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _record(cls: type[Any], value: dict[str, Any], where: str) -> Any:
    hints = _hints(cast(Any, cls))
    fields = dataclasses.fields(cls)
    needed = {f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING}
    known = needed <= value.keys() <= {f.name for f in fields}
    _expect(known, where, f"the fields of {cls.__name__}", sorted(value))
    return cls(**{name: _build(hints[name], item, f"{where}.{name}") for name, item in value.items()})


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        _expect(value in [member.value for member in kind], where, f"one of {[m.value for m in kind]}", value)
        return kind(value)
    if kind is Path and isinstance(value, str):
        return Path(value)
    if kind is float and type(value) in (int, float):
        return _finite(value, where)
    _expect(kind is Any or type(value) is kind, where, getattr(kind, "__name__", str(kind)), value)
    return value


def _finite(value: float, where: str) -> float:
    """Return a JSON number as a float; `1e999` is one that no float holds."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    _expect(math.isfinite(number), where, "a finite number", value)
    return number


def _expect(met: bool, where: str, wanted: str, got: object) -> None:
    if not met:
        raise HarnessError(f"At {where}: expected {wanted}, found {str(got)[:200]!r}.")
