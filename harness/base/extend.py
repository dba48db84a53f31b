"""A record with more fields, made from one with fewer."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")


def extended(kind: type[T], record: Any, **more: Any) -> T:
    """Return a `kind` (a dataclass that inherits from `record`'s) with the fields of `record` and `more`."""
    return kind(**{field.name: getattr(record, field.name) for field in fields(record)}, **more)
