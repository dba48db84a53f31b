"""The JSON Schema of verdict.json, made from its record; published as reports/schema/verdict.schema.json."""

from __future__ import annotations

from typing import Any

from harness.base.errors import HarnessError
from harness.base.json import parse_json, to_json
from harness.base.json_schema import schema_of
from harness.model.verdict import SCHEMA, VerdictRecord


def verdict_schema() -> dict[str, Any]:
    """Return the schema of verdict.json."""
    schema = schema_of(VerdictRecord, "verdict.json of a patch verification")
    schema["properties"]["schema"] = {"const": SCHEMA}
    return schema


def check_record(record: VerdictRecord) -> None:
    """Raise HarnessError that names the field when a record would not match the schema of verdict.json."""
    import jsonschema  # a tenth of a second that only who judges need wait

    validator = jsonschema.Draft202012Validator(verdict_schema())
    error = jsonschema.exceptions.best_match(validator.iter_errors(parse_json(to_json(record))))
    if error is not None:
        raise HarnessError(f"verdict.json would not match its schema at {error.json_path}: {error.message[:200]}.")
