"""A night's folder: night.json, and a run directory for each verification."""

from __future__ import annotations

import json
import re
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.json import from_json, to_json
from harness.nightly.records import SCHEMA, Ended, Ending, Night
from harness.report.document import SCHEMA as VERDICT_SCHEMA
from harness.report.document import Document

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}")  # a folder's name on any machine, and no way out of the night


def is_night(folder: Path) -> bool:
    """Whether a folder holds a night rather than one run."""
    return (folder / "night.json").is_file()


def write_night(folder: Path, night: Night) -> None:
    """Write night.json."""
    write_text(folder / "night.json", to_json(night))


def read_night(folder: Path) -> Night:
    """Read night.json. Raises HarnessError for none, for another schema, and for names that leave the folder."""
    path = folder / "night.json"
    if not path.is_file():
        raise HarnessError(f"{folder} is no night: it has no night.json.", "Name a folder that `harness nightly` made.")
    content = path.read_bytes()
    _same_schema(content, SCHEMA, path)
    night = from_json(Night, content)
    for name in (*(each.id for each in night.planned), *(each.id for each in night.ended)):
        if not _ID.fullmatch(name):
            raise HarnessError(f"{path} names a verification {name!r}, which is no name of a folder.")
    return night


def read_document(run_dir: Path) -> Document:
    """Return the content of a run's verdict.json. Raises HarnessError: not judged, or of another schema."""
    path = run_dir / "verdict.json"
    if not path.is_file():
        raise HarnessError(f"{run_dir} has no verdict.json.", f"Judge it first: harness judge {run_dir}")
    content = path.read_bytes()
    _same_schema(content, VERDICT_SCHEMA, path)
    try:
        return from_json(Document, content)
    except HarnessError as error:
        again = f"Judge it again with this version: harness judge {run_dir}"
        raise HarnessError(f"{path} was written by another version of the harness. {error.message}", again) from error


def documents(folder: Path, night: Night) -> dict[str, Document]:
    """Return the verdict of every verification of a night that came to one, by id."""
    return {each.id: read_document(folder / each.id) for each in night.ended if has_verdict(each)}


def has_verdict(ended: Ended) -> bool:
    """Whether a verification ended with a verdict."""
    return ended.ending not in (Ending.ERROR, Ending.MISSING)


def _same_schema(content: bytes, schema: int, path: Path) -> None:
    try:
        document = json.loads(content)
    except ValueError as error:
        raise HarnessError(f"{path} is not valid JSON: {error}.") from error
    found = document.get("schema") if isinstance(document, dict) else None
    if found != schema:
        raise HarnessError(
            f"{path} has schema {found!r}; this version of the harness reads {schema}.",
            "Use the version that wrote it.",
        )
