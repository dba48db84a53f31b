"""A pack as a folder again: whole and as it was, or not at all. Whoever made the pack may be hostile."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from harness.base.errors import HarnessError, reason_of
from harness.base.locks import scratch, sweep
from harness.base.recordfile import read_record
from harness.base.tar_xz import BROKEN, ArchiveReader
from harness.base.text import counted
from harness.model.pack import (
    MANIFEST,
    MOST_BYTES,
    MOST_FILES,
    SCHEMA,
    PackedFile,
    PackedInputs,
    PackManifest,
    problem_of,
)
from harness.rundir.packed_inputs import packed_inputs
from harness.stages.pack_inputs import names_inputs, places_with_options

_MOST_MANIFEST = 32 << 20  # bytes
_PIECE = 64 << 10
_DAMAGED = "Copy or download it again; compare its digest with what `harness pack` printed."
_REFUSED = "No harness packs like this: find out who made it."


def unpack(pack: Path, choose: Callable[[PackManifest], Path]) -> tuple[Path, PackManifest]:
    """Unpack a pack into the folder that `choose` names, which is not there or empty; return it, and what is in it.

    Raises HarnessError for a file that is no whole pack, and for one that no harness would write.
    """
    try:
        file = pack.open("rb")
    except OSError as error:
        raise HarnessError(f"{pack} cannot be read: {reason_of(error)}.", "Name what `harness pack` wrote.") from error
    with file:
        try:
            return _unpacked(pack, ArchiveReader(file), choose)
        except BROKEN as error:
            raise HarnessError(f"{pack} is no whole pack: {error}.", _DAMAGED) from error


def _unpacked(pack: Path, reader: ArchiveReader, choose: Callable[[PackManifest], Path]) -> tuple[Path, PackManifest]:
    manifest = _manifest(pack, reader)
    if problem := first_problem(manifest):
        raise HarnessError(f"{pack} is refused: {problem}.", _REFUSED)
    place = choose(manifest)
    place.parent.mkdir(parents=True, exist_ok=True)
    _check_room(pack, manifest, place.parent)
    sweep(place.parent)
    with scratch(place.parent) as folder:
        made = folder / "unpacked"
        made.mkdir()
        for file in manifest.files:
            _write(pack, reader, manifest, file, made)
        if (more := reader.next()) is not None:
            raise HarnessError(f"{pack} is refused: it holds {more.name!r}, which its list does not name.", _REFUSED)
        _mark(made, [file.path for file in manifest.files])
        _move(made, place)
    return place, manifest


def _mark(folder: Path, paths: Sequence[str]) -> None:
    """Note in each run directory that names files, and in a night, that somebody else wrote which these are."""
    for below in (folder / each for each in places_with_options(paths)):
        if names_inputs(below) and not packed_inputs(below).exists:
            packed_inputs(below).write(PackedInputs())


def first_problem(manifest: PackManifest) -> str:
    """Return why what a manifest lists is not to be unpacked; empty when it is. Pure."""
    paths = [file.path for file in manifest.files]
    size = sum(file.size for file in manifest.files)
    if len(paths) > MOST_FILES:
        return f"it lists {counted(len(paths), 'file')} (at most {MOST_FILES} are unpacked)"
    if size > MOST_BYTES or any(file.size < 0 for file in manifest.files):
        return f"it unpacks to {size} bytes (at most {MOST_BYTES} are written)"
    if "/" in manifest.name or problem_of(manifest.name):
        return f"it is called {manifest.name!r}"
    if odd := next((path for path in paths if problem_of(path)), ""):
        return f"of {odd!r} {problem_of(odd)}"
    if len({*paths}) < len(paths):
        return "it lists a file twice"
    listed = {*paths}
    parents = (parent.as_posix() for path in paths for parent in PurePosixPath(path).parents)
    both = next((parent for parent in parents if parent in listed), "")
    return f"it lists {both!r} as a file and as a folder" if both else ""


def _manifest(pack: Path, reader: ArchiveReader) -> PackManifest:
    head = reader.next()
    if head is None or head.name != MANIFEST or head.size > _MOST_MANIFEST:
        begins = f"begins with {head.name!r}" if head else "is empty"
        raise HarnessError(f"{pack} is no pack of the harness: it {begins}.", "Name what `harness pack` wrote.")
    content = b"".join(reader.pieces())
    return read_record(PackManifest, content, f"{pack}: {MANIFEST}", pack, SCHEMA, _DAMAGED)


def _move(made: Path, place: Path) -> None:
    try:
        made.rename(place)
    except OSError as error:  # somebody was quicker, or it is a mount
        raise HarnessError(f"{place} cannot be made: {reason_of(error)}.", "Name another folder by --out.") from error


def _check_room(pack: Path, manifest: PackManifest, parent: Path) -> None:
    size, free = sum(file.size for file in manifest.files), shutil.disk_usage(parent).free
    if size > free:
        raise HarnessError(
            f"{pack} unpacks to {size >> 20} MiB, and {parent} has room for {free >> 20}.",
            "Free some room, or name another place by --out.",
        )


def _write(pack: Path, reader: ArchiveReader, manifest: PackManifest, file: PackedFile, folder: Path) -> None:
    """Write the next file, which must be the one that the list has next."""
    member = reader.next()
    if member is None or member.name != f"{manifest.name}/{file.path}" or member.size != file.size:
        found = f"holds {member.name!r} of {member.size} bytes" if member else "ends"
        raise HarnessError(f"{pack} is refused: it {found} where its list has {file.path!r} of {file.size}.", _REFUSED)
    target, digest = folder / file.path, hashlib.sha256()
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as stream:
        for piece in reader.pieces():
            digest.update(piece)
            for start in range(0, len(piece), _PIECE):
                part = piece[start : start + _PIECE]
                if part.strip(b"\0"):
                    stream.write(part)
                else:  # a hole: what is empty takes no room
                    stream.seek(len(part), 1)
        stream.truncate(file.size)
    if digest.hexdigest() != file.sha256:
        raise HarnessError(f"{pack} is damaged: {file.path!r} has another SHA-256 than its list says.", _DAMAGED)
