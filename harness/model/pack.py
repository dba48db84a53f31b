"""What a pack holds: a run directory as one file, which is unpacked and gone on with elsewhere (docs/packs.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.json_schema import Count, Sha256, Text
from harness.base.text import visible

SCHEMA = 1
MANIFEST = "pack.json"  # the first file in a pack
SUFFIX = ".tar.xz"
MOST_FILES = 100_000  # a night of forty verifications has 20,000
MOST_BYTES = 8 << 30
_LONGEST_PATH = 1000
_LONGEST_NAME = 255  # bytes, as Linux has it


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of the run directory, by its path in it."""

    path: Text
    size: Count
    sha256: Sha256


@dataclass(frozen=True, slots=True)
class PackManifest:
    """Every file of a pack, in its order there.

    `name` is that of the folder which was packed, `kind` what it is called: `verification`, `rollout`, `night`, …
    `lacks` are what is wanted to run it again and is not in the pack: options as they were given, and the logs that a
    log diff read.
    """

    schema: int
    name: Text
    kind: Text
    files: tuple[PackedFile, ...]
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackedInputs:
    """The content of inputs.json: where what lay outside of a run directory lies now that it was packed.

    `places` are paths in the run directory, by the absolute path that its records know.
    """

    places: Mapping[str, str] = field(default_factory=dict)


def problem_of(path: str) -> str:
    """Return why a file of such a path is neither packed nor unpacked; empty for one that stays below its folder."""
    parts = path.split("/")
    if visible(path) != path or any(char in path for char in "\n\t\\"):
        return "its name has characters that are no part of one"
    if not all(parts) or {".", ".."} & {*parts}:
        return "its name points outside"
    too_long = len(path) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in parts)
    return "its name is too long" if too_long else ""
