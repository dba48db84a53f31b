"""Planted defects of growing size: patches with a gap for the size, and growing.toml with the sizes."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from harness.base.errors import HarnessError, unknown
from harness.base.files import write_text
from harness.base.toml import only_keys, text, texts
from harness.kafka.patching import Patch, load_patch
from harness.stages.mutant_folder import IN_A_CLONE

FILE = "growing.toml"
GAP = "@SIZE@"
_SIZE = "{size}"
_WHOLE = 1e-6


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
    if not folder.exists():
        raise HarnessError(f"{folder} does not exist.", IN_A_CLONE)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        known = {kind: _growing(kind, table, folder) for kind, table in document.items()}
    except OSError as error:
        raise HarnessError(f"{path} cannot be read: {error.strerror}.", "docs/mutants.md shows its form.") from error
    except ValueError as error:  # as bad TOML and bad UTF-8 are
        raise HarnessError(f"{path} cannot be read: {error}.", "docs/mutants.md shows its form.") from error
    for kind in only:
        if kind not in known:
            raise HarnessError(unknown("defect that grows", kind, known))
    return tuple(growing for kind, growing in known.items() if not only or kind in only)


def _growing(kind: str, table: Mapping[str, Any], folder: Path) -> Growing:
    where = f"[{kind}]"
    if not isinstance(table, dict):
        raise ValueError(f"{kind}: it is a table, [{kind}], of a defect that grows")  # noqa: TRY004 - as bad TOML is
    only_keys(table, where, ("defect", "sizes", "by"), ("scale", "scenario"))
    defect, template = text(table, "defect", where), folder / f"{kind}.patch"
    if _SIZE not in defect:
        raise ValueError(f"{where}, defect: it has no place for the {_SIZE}")
    if GAP not in template.read_text(encoding="utf-8"):
        raise ValueError(f"{template.name} has no {GAP}")
    scale, by = _number(table.get("scale", 1), f"{where}, scale"), texts(table, "by", where)
    sizes = _sizes(table, where)
    if any(round(size * scale) < 1 or abs(size * scale - round(size * scale)) > _WHOLE for size in sizes):
        raise ValueError(f"{where}, sizes: each times scale is a whole number, which is what the template gets")
    scenario = text(table, "scenario", where) if "scenario" in table else ""
    return Growing(kind, defect, sizes, scale, by, template, scenario)


def _number(value: object, where: str) -> float:
    if type(value) not in (int, float) or not 0 < float(cast("float", value)) < math.inf:
        raise ValueError(f"{where}: these are numbers above 0")
    return float(cast("float", value))


def _sizes(table: Mapping[str, Any], where: str) -> tuple[float, ...]:
    sizes = table["sizes"]
    if not isinstance(sizes, list) or not sizes:
        raise ValueError(f"{where}, sizes: it is a list of numbers above 0")
    sizes = [_number(size, f"{where}, sizes") for size in sizes]
    if sizes not in (sorted({*sizes}), sorted({*sizes}, reverse=True)):
        raise ValueError(f"{where}, sizes: they rise, or fall where fewer is worse")
    return tuple(sizes)
