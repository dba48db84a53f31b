"""Where the files are that a run directory names: of one that was unpacked they lie in it, whatever its records say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from harness.base.errors import HarnessError
from harness.base.recordfile import RecordFile
from harness.model.pack import PackedInputs

FOLDER = "inputs"


def packed_inputs(folder: Path) -> RecordFile[PackedInputs]:
    """Return the file that says what lies where; only a run directory that was unpacked has it."""
    return RecordFile(folder / "inputs.json", PackedInputs, remedy="Unpack it again: harness unpack.")


def translated(document: Any, folder: Path) -> Any:
    """Return a plain document of a run directory with the paths of what was packed with it as they are here.

    Raises HarnessError for an inputs.json that names a place outside of the folder.
    """
    inputs = packed_inputs(folder).read_if_exists()
    try:
        return _replaced(document, _places(inputs, folder)) if inputs else document
    except RecursionError as error:
        raise HarnessError(f"A record in {folder} is nested too deeply.", "Find out who made it.") from error


def _places(inputs: PackedInputs, folder: Path) -> Mapping[str, str]:
    """Return the path here of each path that records know; what lies deeper comes first."""
    for place in inputs.places.values():
        if PurePosixPath(place).is_absolute() or ".." in PurePosixPath(place).parts:
            raise HarnessError(f"{folder / 'inputs.json'} names {place!r}, which is outside.", "Find out who made it.")
    here = folder.absolute()
    return {path: str(here / inputs.places[path]) for path in sorted(inputs.places, key=len, reverse=True)}


def _replaced(document: Any, places: Mapping[str, str]) -> Any:
    if isinstance(document, dict):
        return {name: _replaced(value, places) for name, value in document.items()}
    if isinstance(document, list):
        return [_replaced(value, places) for value in document]
    return _path_here(document, places) if isinstance(document, str) else document


def _path_here(text: str, places: Mapping[str, str]) -> str:
    for path, here in places.items():
        if text == path or text.startswith(f"{path}/"):
            return here + text[len(path) :]
    return text
