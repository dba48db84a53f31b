"""The quickest image: empty, with this host's own programs bound into it, read only."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_with
from harness.containers.engine import Engine
from harness.containers.images import HOST, MOUNTS_LABEL, Image, import_image

_PROGRAMS = ("usr/bin/gradle", "usr/bin/javac")
_LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")  # where /usr has been merged
# Of /etc only what Java and Gradle read: the rest may hold secrets that a build script has no business with.
_OF_ETC = ("alternatives", "java*", "ld.so.c*", "ssl/certs", "pki/ca-trust", "pki/java", "crypto-policies")
_FOLDERS = {"tmp": 0o1777, "proc": 0o555, "sys": 0o555, "dev": 0o755, "etc": 0o755, "usr": 0o755}


def bind_host(engine: Engine, scratch: Path, root: Path = Path("/")) -> Image:
    """Make the image. Raises HarnessError when the host has no Gradle or no JDK to lend."""
    missing = [program for program in _PROGRAMS if not (root / program).exists()]
    if missing:
        raise HarnessError(
            f"This host has no {' and no '.join(f'/{program}' for program in missing)} to lend to a container.",
            "Install gradle and a JDK, or leave out --host-bind.",
        )
    tar = write_with(scratch / "host.tar", lambda staged: write_skeleton(root, staged))
    return import_image(engine, tar, HOST, {MOUNTS_LABEL: ":".join(lent(root))})


def lent(root: Path) -> list[str]:
    """Return the paths of the host that the container sees, sorted."""
    folders = [f"/{name}" for name in _LINKED if (root / name).is_dir() and not (root / name).is_symlink()]
    of_etc = [f"/{path.relative_to(root)}" for pattern in _OF_ETC for path in (root / "etc").glob(pattern)]
    return sorted(["/usr", *folders, *of_etc])


def write_skeleton(root: Path, path: Path) -> None:
    """Write the image's own files: folders to mount on, and the links into /usr that the host has."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, mode in sorted(_FOLDERS.items()):
            _add(tar, name, mode=mode, type=tarfile.DIRTYPE)
        for name in _LINKED:
            if (root / name).is_symlink():
                _add(tar, name, linkname=str((root / name).readlink()), type=tarfile.SYMTYPE)


def _add(tar: tarfile.TarFile, name: str, **fields: object) -> None:
    entry = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(entry, field, value)
    tar.addfile(entry, io.BytesIO())
