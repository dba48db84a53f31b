"""Planted defects of growing size: patches with a gap for the size, and growing.toml with the sizes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.toml import only_keys, text, texts
from harness.kafka.patching import Patch, load_patch

FILE = "growing.toml"
GAP = "@SIZE@"
_SIZE = "{size}"


@dataclass(frozen=True, slots=True)
class Growing:
    """One kind of defect: the template of its patch, and its sizes, the smallest defect first.

    `defect` is a clause with a place for the size; in the patch stands the size times `scale`, a whole number. `by` are
    the stages that may notice it. `scenario` is asked first, where a suite has it: what the harness says of a
    verification rests on where a defect was noticed, and so that is best one in which most candidates can be judged.
    """

    kind: str
    defect: str
    sizes: tuple[float, ...]
    scale: float
    by: tuple[str, ...]
    template: Path
    scenario: str = ""

    def named(self, size: float) -> str:
        """Return the defect of a size in words."""
        return self.defect.replace(_SIZE, f"{size:g}")

    def write_patch(self, size: float, folder: Path) -> Patch:
        """Write the patch that plants the defect of a size, and return it."""
        content = self.template.read_text(encoding="utf-8").replace(GAP, str(round(size * self.scale)))
        path = write_text(folder / f"{self.kind}-{size:g}.patch", content)
        return load_patch(path.parent, path.name)


def load_growing(folder: Path, only: Sequence[str] = ()) -> tuple[Growing, ...]:
    """Read a folder of templates, or of it only the kinds that are named. Raises HarnessError for what is wrong."""
    path = folder / FILE
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        known = {kind: _growing(kind, table, folder) for kind, table in document.items()}
    except (OSError, ValueError) as error:  # bad TOML and bad UTF-8 are ValueErrors
        raise HarnessError(f"{path} cannot be read: {error}.", "docs/mutants.md shows its form.") from error
    if unknown := sorted({*only} - {*known}):
        raise HarnessError(f"{path} has no {', '.join(unknown)}.", f"Choose among {', '.join(known)}.")
    return tuple(growing for kind, growing in known.items() if not only or kind in only)


def _growing(kind: str, table: Mapping[str, Any], folder: Path) -> Growing:
    where = f"[{kind}]"
    only_keys(table, where, ("defect", "sizes", "by"), ("scale", "scenario"))
    defect, template = text(table, "defect", where), folder / f"{kind}.patch"
    if _SIZE not in defect:
        raise ValueError(f"{where}, defect: it has no place for the {_SIZE}")
    if GAP not in template.read_text(encoding="utf-8"):
        raise ValueError(f"{template.name} has no {GAP}")
    scale, by = float(table.get("scale", 1)), texts(table, "by", where)
    scenario = text(table, "scenario", where) if "scenario" in table else ""
    return Growing(kind, defect, _sizes(table, where), scale, by, template, scenario)


def _sizes(table: Mapping[str, Any], where: str) -> tuple[float, ...]:
    sizes = table["sizes"]
    if not isinstance(sizes, list) or not sizes or any(type(size) not in (int, float) or size <= 0 for size in sizes):
        raise ValueError(f"{where}, sizes: it is a list of numbers above 0")
    if list(sizes) not in (sorted({*sizes}), sorted({*sizes}, reverse=True)):
        raise ValueError(f"{where}, sizes: they rise, or fall where fewer is worse")
    return tuple(map(float, sizes))
