"""A run directory as one file, with all that is needed to open, judge and run it again (docs/packs.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from harness.base.errors import HarnessError, reason_of
from harness.base.files import write_with
from harness.base.json import to_json
from harness.base.tar_xz import Member, write_archive
from harness.model.pack import MANIFEST, MOST_BYTES, MOST_FILES, SCHEMA, PackedFile, PackManifest, problem_of
from harness.stages.pack_contents import Contents, contents_of, kind_of
from harness.stages.pack_inputs import Content

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Packed:
    """What was packed, and what was left out."""

    manifest: PackManifest
    contents: Contents


def pack(folder: Path, out: Path) -> Packed:
    """Write a pack of a folder; the same folder always gives the same bytes.

    Raises HarnessError for a folder that the harness did not make, for one that is too large, and for a file that
    cannot be read or changes meanwhile.
    """
    kind, contents, name = kind_of(folder), contents_of(folder), folder.resolve().name
    files = tuple(map(_digested, contents.files))
    manifest = PackManifest(SCHEMA, "run" if problem_of(name) else name, kind, files, contents.lacks)
    _check_size(folder, manifest)
    write_with(out, lambda staged: write_archive(staged, _members(manifest, contents)))
    return Packed(manifest, contents)


def _check_size(folder: Path, manifest: PackManifest) -> None:
    size = sum(file.size for file in manifest.files)
    if len(manifest.files) > MOST_FILES or size > MOST_BYTES:
        raise HarnessError(
            f"{folder} has {len(manifest.files)} files of {size >> 20} MiB, and a pack at most {MOST_FILES} of "
            f"{MOST_BYTES >> 20}.",
            "Pack the verifications of a night one by one.",
        )


def _digested(content: Content) -> PackedFile:
    digest, size = hashlib.sha256(), 0
    with _opened(content) as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return PackedFile(content.path, size, digest.hexdigest())


def _members(manifest: PackManifest, contents: Contents) -> Iterator[tuple[Member, BinaryIO | bytes]]:
    head = to_json(manifest).encode()
    yield Member(MANIFEST, len(head)), head
    for file, content in zip(manifest.files, contents.files, strict=True):
        with _opened(content) as stream:
            watched = _Watched(stream, content)
            yield Member(f"{manifest.name}/{file.path}", file.size), watched
        watched.check(file.sha256)


class _Watched(BytesIO):
    """A file that is seen to be what it was when its digest was taken."""

    def __init__(self, stream: BinaryIO, content: Content) -> None:
        super().__init__()
        self._stream, self._content, self._digest = stream, content, hashlib.sha256()

    def read(self, size: int | None = -1) -> bytes:
        """Read on. Raises HarnessError where there is less than was said."""
        piece = self._stream.read(-1 if size is None else size)
        self._digest.update(piece)
        if len(piece) < (size or 0):
            raise self._changed()
        return piece

    def check(self, sha256: str) -> None:
        """Raise HarnessError when what was read has another digest."""
        if self._digest.hexdigest() != sha256:
            raise self._changed()

    def _changed(self) -> HarnessError:
        return HarnessError(f"{self._content.path} changed while it was packed.", "Wait until it is at rest.")


@contextmanager
def _opened(content: Content) -> Iterator[BinaryIO]:
    if isinstance(content.source, bytes):
        yield BytesIO(content.source)
        return
    try:
        stream = content.source.open("rb")
    except OSError as error:
        raise HarnessError(
            f"{content.source} cannot be read: {reason_of(error)}.", "Pack it as the user who owns it."
        ) from error
    with stream:
        yield stream
