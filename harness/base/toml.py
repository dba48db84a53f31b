"""TOML files and tables read strictly: what is wrong is a ValueError that names the place, the key and what is allowed
there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


def document_of(content: bytes) -> dict[str, Any]:
    """Return what a file's bytes hold; the byte order mark that some editors put first is no part of it."""
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no text in UTF-8 (byte {error.start + 1}): save it as UTF-8") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def only_keys(table: Mapping[str, Any], where: str, needed: tuple[str, ...], allowed: tuple[str, ...] = ()) -> None:
    """See that a table has the keys it needs and no unknown one."""
    missing = [key for key in needed if key not in table]
    unknown = sorted(set(table) - {*needed, *allowed})
    if missing:
        raise ValueError(f"{where} lacks {', '.join(missing)}")
    if unknown:
        raise ValueError(f"{where} has {', '.join(unknown)}; allowed are {', '.join((*needed, *allowed))}")


def tables(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the `[[key]]` tables of a file; none when the key is absent."""
    found = document.get(key, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise ValueError(f"{key}: write each {key} as a [[{key}]] table")
    return found


def text(table: Mapping[str, Any], key: str, where: str) -> str:
    """Return a text that is not empty."""
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}{', ' if where else ''}{key}: it is a text that is not empty")
    return value


def name(table: Mapping[str, Any], key: str, where: str) -> str:
    """Return a name that can stand in a path or a command."""
    value = text(table, key, where)
    if not _NAME.fullmatch(value):
        raise ValueError(f"{where}, {key}: {value!r} is not lower-case letters, digits, - and _")
    return value


def texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """Return a list of texts; an empty one when the key is absent."""
    values = table.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) and value.strip() for value in values):
        raise ValueError(f"{where}, {key}: it is a list of texts that are not empty")
    return tuple(values)


def no_twins(names: list[str], what: str) -> None:
    """See that no name is used twice."""
    twins = sorted({each for each in names if names.count(each) > 1})
    if twins:
        raise ValueError(f"{what} {twins[0]} is used twice")
