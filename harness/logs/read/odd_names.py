"""Logs whose names Spark cannot say (`kafka-0-2026-11-21T14:28:58.log`): numbered links, for the time being."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from harness.base.files import PARTIAL
from harness.logs.read.places import COMPRESSED, is_sayable


def written_name(place: str) -> str:
    """Return a place as it can be written down: bytes that are not UTF-8 by their numbers (`\\xff`)."""
    return os.fsencode(place).decode("utf-8", "backslashreplace")


@contextmanager
def linked(places: Iterable[str], folder: Path) -> Iterator[Mapping[str, str]]:
    """Link those files of this machine whose names Spark cannot say from `folder`; by their names as written down."""
    with TemporaryDirectory(dir=folder, prefix=PARTIAL) as name:
        odd = [place for place in places if not is_sayable(str(Path(place).parent.resolve() / Path(place).name))]
        links = {place: Path(name).resolve() / f"{number}{_ending(place)}" for number, place in enumerate(odd)}
        for place, link in links.items():
            link.symlink_to(Path(place).absolute())
        yield {written_name(place): str(link) for place, link in links.items()}


def _ending(place: str) -> str:
    """Return what a link has to end with: Spark knows by it how a file is compressed."""
    suffix = PurePosixPath(place).suffix
    return suffix if suffix in COMPRESSED else ".log"
