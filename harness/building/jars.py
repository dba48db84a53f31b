"""Jars as files: written so that the same content is the same bytes on every machine."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from harness.base.archives import open_archive, read_entry
from harness.base.manifests import MANIFEST

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the zip format knows nothing earlier


def write_jar(entries: Mapping[str, bytes], path: Path) -> None:
    """Write a jar: manifest first, then by name; no times, and nothing compressed.

    Deflate's output depends on the zlib that Python was built with; stored entries do not.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as jar:
        for name in sorted(entries, key=lambda entry: (entry != MANIFEST, entry)):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            jar.writestr(entry, entries[name])


def resources_of(jar: Path) -> dict[str, bytes]:
    """Return what a jar holds other than classes and folders: manifest, licence, version and schema files."""
    with open_archive(jar) as archive:
        names = (name for name in archive.namelist() if not name.endswith((".class", "/")))
        return {name: read_entry(archive, name) for name in names}


def class_bytes(jar: Path) -> dict[str, bytes]:
    """Return a jar's classes by name (`a/b/C`), each as it stands in the file."""
    with open_archive(jar) as archive:
        names = [name for name in archive.namelist() if name.endswith(".class")]
        return {name.removesuffix(".class"): read_entry(archive, name) for name in names}


def classes_in(folder: Path) -> dict[str, bytes]:
    """Return the class files below a folder by entry name."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.class")}
