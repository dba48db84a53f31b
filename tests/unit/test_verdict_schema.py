"""The published schema of verdict.json is what its record gives, and a schema says what a record holds.

`python tests/unit/test_verdict_schema.py` writes the published file anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import jsonschema
import pytest
from nightly_sample import FAILED, document

from harness.base.json import to_json
from harness.base.json_schema import Count, Sha256, Text, schema_of
from harness.base.paths import data_root
from harness.model.verdict_schema import check_record, verdict_schema

PUBLISHED = data_root() / "reports" / "schema" / "verdict.schema.json"


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Inner:
    """An inner record.

    With more about it.
    """

    json_schema: ClassVar[Mapping[str, Any]] = {"minProperties": 2}
    name: Text
    digest: Sha256


@dataclass(frozen=True, slots=True)
class Outer:
    """An outer record."""

    many: tuple[Inner, ...]
    by_colour: Mapping[Colour, Count]
    by_name: Mapping[str, float]
    perhaps: Inner | None
    sure: bool = True


def shown() -> str:
    return json.dumps(verdict_schema(), ensure_ascii=False, indent=2) + "\n"


def test_the_published_schema_is_the_records() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == shown()


@pytest.mark.parametrize("record", [document("ship"), document("hold", FAILED), document("hostile")])
def test_what_the_judge_says_matches_the_schema(record) -> None:
    check_record(record)
    jsonschema.validate(json.loads(to_json(record)), json.loads(PUBLISHED.read_text()))


def test_a_record_requires_its_fields_allows_no_others_and_names_the_records_in_it() -> None:
    schema = schema_of(Outer, "outer")
    assert (schema["title"], schema["description"]) == ("outer", "An outer record.")
    assert schema["required"] == ["many", "by_colour", "by_name", "perhaps", "sure"]
    assert schema["additionalProperties"] is False
    assert schema["properties"] == {
        "many": {"type": "array", "items": {"$ref": "#/$defs/Inner"}},
        "by_colour": {
            "type": "object",
            "propertyNames": {"$ref": "#/$defs/Colour"},
            "additionalProperties": {"type": "integer", "minimum": 0},
        },
        "by_name": {"type": "object", "additionalProperties": {"type": "number"}},
        "perhaps": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/Inner"}]},
        "sure": {"type": "boolean"},
    }
    assert schema["$defs"]["Colour"] == {"enum": ["red", "blue"]}
    assert schema["$defs"]["Inner"] == {
        "description": "An inner record.",
        "type": "object",
        "required": ["name", "digest"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        },
        "minProperties": 2,
    }


if __name__ == "__main__":
    PUBLISHED.write_text(shown(), encoding="utf-8")
