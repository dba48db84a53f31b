"""A folder of mutants: patches, and mutants.toml, which says of each what must notice it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError, unknown
from harness.base.toml import only_keys, text, texts
from harness.kafka.patching import Patch, load_patch
from harness.model.detection import Expected, Ground

IN_A_CLONE = "The shipped ones are in a clone of the harness: call it at the top of one, or name a folder of your own."

FILE = "mutants.toml"
_REASONS = ("unreachable", "survives")
_EXCUSES = ("Equivalent", "Out of reach")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A patch that makes a jar wrong, and what must notice that."""

    patch: Patch
    expected: Expected

    @property
    def name(self) -> str:
        """The patch's file name without its ending."""
        return self.patch.path.stem


@dataclass(frozen=True, slots=True)
class MutantFolder:
    """Mutants by name, and what they are patches of; `names` has also those that were not chosen."""

    ground: Ground
    mutants: tuple[Mutant, ...]
    names: tuple[str, ...]


def load_mutants(folder: Path, only: Sequence[str] = ()) -> MutantFolder:
    """Read a folder of mutants, or of it only those named.

    Raises HarnessError for one without patches, for a patch that mutants.toml does not describe, for a description
    without a patch, and for a name that is not there.
    """
    names = sorted(path.stem for path in folder.glob("*.patch"))
    if not folder.exists():
        raise HarnessError(f"{folder} does not exist.", IN_A_CLONE)
    if not names:
        raise HarnessError(f"{folder} holds no *.patch.", f"Name a folder of patches with a {FILE}.")
    ground, expected = _described(folder / FILE)
    if odd := sorted({*names} ^ {*expected}):
        lacks = "lacks" if odd[0] in names else "describes, without a patch,"
        raise HarnessError(f"{folder / FILE} {lacks} {', '.join(odd)}.", "Each mutant has a patch and a table.")
    for name in only:
        if name not in names:
            raise HarnessError(unknown("mutant", name, names))
    chosen = [name for name in names if not only or name in only]
    mutants = tuple(Mutant(load_patch(folder, f"{name}.patch"), expected[name]) for name in chosen)
    return MutantFolder(ground, mutants, tuple(names))


def _described(path: Path) -> tuple[Ground, Mapping[str, Expected]]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        only_keys(document, path.name, ("base", "mutant"))
        ground = Ground(document["base"])
        mutants = _table(document["mutant"], "mutant")
        return ground, {name: _expected(mutants[name], f"[mutant.{name}]") for name in mutants}
    except (OSError, ValueError) as error:  # bad TOML and bad UTF-8 are ValueErrors
        raise HarnessError(f"{path} cannot be read: {error}.", "docs/mutants.md shows its form.") from error


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where}: it is a table")  # noqa: TRY004 - as bad TOML is
    return value


def _expected(table: Mapping[str, Any], where: str) -> Expected:
    only_keys(_table(table, where), where, ("expects", "by"), ("scenario", *_REASONS))
    more = {key: text(table, key, where) for key in ("scenario", *_REASONS) if key in table}
    for key in _REASONS:
        if key in more and not more[key].startswith(_EXCUSES):
            raise ValueError(f"{where}, {key}: it begins with {' or '.join(_EXCUSES)}")
    return Expected(text(table, "expects", where), texts(table, "by", where), **more)
