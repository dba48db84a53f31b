"""Model records as JSON and back: what stages write into the run directory and read from it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any, TypeVar, cast

from harness.base.errors import HarnessError
from harness.base.record_readers import MisfitError, reader

T = TypeVar("T")

_PLAIN = (str, int, float, bool, type(None))
_HALVES = re.compile("[\ud800-\udfff]")


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
        return cast(T, reader(cast(Any, cls))(document))
    except MisfitError as misfit:
        raise HarnessError(misfit.sentence) from None
    except RecursionError as error:
        raise HarnessError("It is nested too deeply.") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def plain(value: object) -> Any:
    """Return a record as what JSON has: dicts, lists and scalars."""
    if type(value) in _PLAIN:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in sorted((plain(k), v) for k, v in value.items())}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value
