"""Logs packed as frames of zstd or lz4, which Spark as it is installed cannot open: they are unpacked here."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from harness.base.files import PARTIAL

MOST = 16 << 30  # bytes of all that is unpacked: what would hold more, such as a bomb, is left out
_FRAMES = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}  # by their first bytes
_AT_ONCE = 4 << 20


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Where the unpacked copies of logs are, by the log's path, and why others could not be unpacked."""

    copies: Mapping[str, str]
    refused: Mapping[str, str]


@contextmanager
def unpacked(places: Iterable[str], folder: Path, most: int = MOST) -> Iterator[Unpacked]:
    """Unpack those files of this machine that are such frames into `folder` for the time being."""
    copies: dict[str, str] = {}
    refused: dict[str, str] = {}
    with TemporaryDirectory(dir=folder, prefix=PARTIAL) as scratch:
        for number, (place, codec) in enumerate((place, codec) for place in places if (codec := codec_of(place))):
            copy = Path(scratch) / f"{number}.log"
            room = min(most, shutil.disk_usage(scratch).free // 2)
            try:
                most -= _unpack(Path(place), codec, copy, room)
                copies[place] = str(copy.resolve())
            except (OSError, pa.ArrowException) as error:
                copy.unlink(missing_ok=True)
                refused[place] = f"it could not be unpacked ({error})"
        yield Unpacked(copies, refused)


def codec_of(place: str) -> str:
    """Return the codec of a file of this machine, by its first bytes; empty for any other."""
    try:
        with Path(place).open("rb") as file:
            return _FRAMES.get(file.read(4), "")
    except OSError:
        return ""


def _unpack(packed: Path, codec: str, copy: Path, most: int) -> int:
    """Write a file's content into a copy; return how many bytes it has. More than `most` are an OSError."""
    written = 0
    with packed.open("rb") as source, pa.CompressedInputStream(source, codec) as stream, copy.open("wb") as target:
        while some := stream.read(_AT_ONCE):
            written += len(some)
            if written > most:
                raise OSError(f"it holds more than {most} bytes")
            target.write(some)
    return written
