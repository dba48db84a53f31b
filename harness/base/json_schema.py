"""JSON Schema of a dataclass: the published schema of a file is made from the record that the file holds."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, slots=True)
class Keywords:
    """Additional keywords of a type's schema: `Annotated[str, Keywords({"minLength": 1})]`."""

    values: Mapping[str, Any]


Count = Annotated[int, Keywords({"minimum": 0})]
Positive = Annotated[int, Keywords({"minimum": 1})]
Seconds = Annotated[float, Keywords({"minimum": 0})]
Text = Annotated[str, Keywords({"minLength": 1})]  # that is not empty
Sha256 = Annotated[str, Keywords({"pattern": "^[0-9a-f]{64}$"})]


def schema_of(record: type, title: str) -> dict[str, Any]:
    """Return the schema of the JSON that `base.json.to_json` makes of a dataclass.

    A dataclass may say more of itself in a class attribute `json_schema`, a mapping of keywords.
    """
    definitions: dict[str, Any] = {}
    whole = _record(record, definitions)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **whole, "$defs": dict(sorted(definitions.items()))}


def _record(record: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(record, include_extras=True)
    names = [field.name for field in dataclasses.fields(record)]
    return {
        "description": " ".join((inspect.getdoc(record) or "").split("\n\n")[0].split()),
        "type": "object",
        "required": names,
        "additionalProperties": False,
        "properties": {name: _of(hints[name], definitions) for name in names},
        **getattr(record, "json_schema", {}),
    }


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {**_of(args[0], definitions), **args[1].values}
    if origin in (Union, types.UnionType):  # only `X | None` occurs
        return {"oneOf": [{"type": "null"}, _of(args[0], definitions)]}
    if origin is tuple:
        return {"type": "array", "items": _of(args[0], definitions)}
    if origin is not None:  # a mapping; its keys are text or of an enumeration
        keys = {} if args[0] is str else {"propertyNames": _of(args[0], definitions)}
        return {"type": "object", **keys, "additionalProperties": _of(args[1], definitions)}
    return _named(kind, definitions) if dataclasses.is_dataclass(kind) or issubclass(kind, Enum) else _scalar(kind)


def _scalar(kind: type) -> dict[str, Any]:
    return {"type": _SCALARS[kind]}


def _named(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # a record may hold itself
        definitions[kind.__name__] = _enum(kind) if issubclass(kind, Enum) else _record(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _enum(kind: type[Enum]) -> dict[str, Any]:
    return {"enum": [member.value for member in kind]}
