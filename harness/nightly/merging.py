"""Merging nights and run directories from many machines into one night's folder."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_bytes
from harness.base.locks import MARKER
from harness.model.options import arguments_of, record_of
from harness.model.request import Request
from harness.nightly.folder import NightFolder, is_night, read_night
from harness.nightly.night import (
    SCHEMA,
    VERIFICATION,
    EndedVerification,
    Night,
    PlannedVerification,
    VerificationStatus,
)
from harness.rundir.directory import RunDirectory

_BLOCK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Part:
    """A verification that one of the folders brings; `run_dir` may be missing where it ended in an error."""

    planned: PlannedVerification
    ended: EndedVerification
    run_dir: Path


def merge(folders: Sequence[Path], out: Path) -> Night:
    """Copy what the folders hold into `out` and write its night.json; return the merged night.

    Raises HarnessError for parts of different nights, and for two run directories of one verification that differ.
    The folders stay as they are; nothing is left in `out` when they do not fit together.
    """
    nights = [(folder, read_night(folder)) for folder in folders if is_night(folder)]
    runs = [_of_run(folder) for folder in folders if not is_night(folder)]
    parts = [part for folder, night in nights for part in _of_night(folder, night)]
    distinct = _distinct([*parts, *runs])
    night = _merged([night for _, night in nights], distinct)
    for run in runs:
        _same_question(next(each for each in night.planned if each.id == run.planned.id), run)
    _copy_waivers([folder for folder, _ in nights], out)
    for part in distinct.values():
        if part.run_dir.is_dir():
            ignore = shutil.ignore_patterns(MARKER)
            shutil.copytree(part.run_dir, out / part.planned.id, ignore=ignore, copy_function=_copy_sparse)
    NightFolder(out).night.write(night)
    return night


def describe_missing(night: Night) -> tuple[str, ...]:
    """Return a sentence per shard that did not run everything that it was to run. Pure."""
    sentences = []
    for shard in sorted({each.shard for each in night.missing}):
        names = [each.id for each in night.missing if each.shard == shard]
        everything = len(names) == sum(each.shard == shard for each in night.planned)
        what = "is missing" if everything else "did not finish"
        sentences.append(f"shard {shard}/{night.shards} {what}: {', '.join(names)}")
    return tuple(sentences)


def _copy_waivers(nights: Sequence[Path], out: Path) -> None:
    files = [NightFolder(night).waivers for night in nights]
    kept = {file.read_bytes() for file in files if file.is_file()}
    if len(kept) > 1:
        raise HarnessError("These nights were judged by different waivers.", "Give each shard the same --waivers.")
    for content in kept:
        write_bytes(NightFolder(out).waivers, content)


def _of_night(folder: Path, night: Night) -> list[Part]:
    planned = {each.id: each for each in night.planned}
    return [Part(planned[ended.id], ended, folder / ended.id) for ended in night.ended]


def _of_run(folder: Path) -> Part:
    """Return a run directory that no night made, under its folder's name."""
    directory = RunDirectory(folder)
    declaration, record = directory.declaration.read(), directory.verdict.read()
    arguments = arguments_of(record_of(Request, declaration.argv))
    name = folder.resolve().name
    if not VERIFICATION.fullmatch(name):
        raise HarnessError(f"{folder} cannot be part of a night: its name goes into a night's.", "Rename the folder.")
    seconds = round(sum(declaration.timings.values()), 1)
    planned = PlannedVerification(name, arguments, 1, max(seconds, 1.0))
    return Part(planned, EndedVerification(name, VerificationStatus(record.verdict.value), seconds), folder)


def _copy_sparse(source: str, target: str) -> None:
    """Copy a file and leave out its holes: a broker's index files are 10 MB of nothing each."""
    with Path(source).open("rb") as read, Path(target).open("wb") as write:
        while block := read.read(_BLOCK_BYTES):
            if block.count(0) == len(block):
                write.seek(len(block), os.SEEK_CUR)
            else:
                write.write(block)
        write.truncate()


def _question(planned: PlannedVerification) -> Request:
    """Return what a verification runs, without what concerns only the machine that it runs on."""
    here = Request()
    return replace(planned.request, jobs=here.jobs, java_home=here.java_home, offline=here.offline)


def _merged(nights: Sequence[Night], parts: dict[str, Part]) -> Night:
    _one_matrix(nights)
    first = min(nights, key=lambda night: (night.label, night.shard), default=None)
    planned = {each.id: each for each in first.planned} if first else {}
    planned |= {part.planned.id: part.planned for part in parts.values() if part.planned.id not in planned}
    ended = tuple(parts[name].ended for name in planned if name in parts)
    if first is None:
        started = min(RunDirectory(part.run_dir).declaration.read().started_at for part in parts.values())
        return Night(SCHEMA, "", started, "", 0, 1, tuple(planned.values()), ended)
    started = min(night.started_at for night in nights)
    return Night(SCHEMA, first.name, started, first.matrix, 0, first.shards, tuple(planned.values()), ended)


def _same_question(planned: PlannedVerification, part: Part) -> None:
    """Raise HarnessError when a run directory has the name of a verification that ran something else."""
    if _question(planned) != _question(part.planned):
        raise HarnessError(
            f"{part.run_dir} ran something else than {planned.id}: harness verify {' '.join(part.planned.arguments)}.",
            "Merge shards of one commit, each run from the top folder; give another run another folder's name.",
        )


def _one_matrix(nights: Sequence[Night]) -> None:
    """Raise HarnessError unless all nights are parts of one and the same."""
    for what, values in (
        ("were made from different matrices", {night.matrix for night in nights}),
        ("have different names", {night.name for night in nights}),
        ("were cut into different numbers of shards", {str(night.shards) for night in nights}),
    ):
        if len(values) > 1:
            raise HarnessError(
                f"These nights {what}: {', '.join(sorted(each[:12] for each in values))}.",
                "Merge the shards of one night: same commit, same --night, same n in --shard i/n.",
            )


def _distinct(parts: Sequence[Part]) -> dict[str, Part]:
    """Return the parts by id; one that comes twice with the same content counts once."""
    found: dict[str, Part] = {}
    for part in parts:
        _no_links(part.run_dir)
        other = found.setdefault(part.planned.id, part)
        where = _difference(other.run_dir, part.run_dir) if other is not part else ""
        if where:
            raise HarnessError(
                f"{other.run_dir} and {part.run_dir} are both {part.planned.id} and differ in {where}.",
                "A verification counts once: leave one of them out. What was run again goes in under another name.",
            )
    return found


def _no_links(folder: Path) -> None:
    """Raise HarnessError for a symbolic link: what it leads to is not part of the folder."""
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if Path(root, name).is_symlink():
                raise HarnessError(f"{Path(root, name)} is a link, which no run directory holds.", "Remove it.")


def _difference(one: Path, other: Path) -> str:
    """Return a file in which two folders differ, empty when there is none."""
    if one.resolve() == other.resolve():
        return ""
    names = _files(one) | _files(other)
    _, differing, absent = filecmp.cmpfiles(one, other, sorted(names), shallow=False)
    return min([*differing, *absent], default="")


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and path.name != MARKER}
