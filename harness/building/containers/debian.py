"""An image of the host's distribution, made of its packages without a registry: same packages, same bytes."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.json import from_json, to_json
from harness.base.paths import data_root, user_data_root
from harness.base.processes import spawn
from harness.building.containers.aptsources import AptSource, host_sources
from harness.containers.engine import LABEL, Engine
from harness.containers.images import DEBIAN, PACKAGES_LABEL, Image, import_image
from harness.containers.line_stream import Lines

_PACKAGES_FILE = "./usr/share/kafka-patch-harness/packages"
_TIMEOUT_SECONDS = 1800.0
_GRACE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """What builds/image/recipe.toml says: package names, the date of files, paths left out and yet kept."""

    packages: tuple[str, ...]
    epoch: int
    exclude: tuple[str, ...]
    include: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImageInputs:
    """What the last image was made of, kept outside the engine: suites with their mirrors, packages, its bytes."""

    sources: tuple[str, ...]
    packages: tuple[str, ...]
    content: str


def make_image(engine: Engine, on_line: Callable[[str], None]) -> tuple[Image, list[str]]:
    """Make the image and return it with what differs from the last one made on this host.

    Raises HarnessError when mmdebstrap is missing or fails, or the engine refuses.
    """
    program = shutil.which("mmdebstrap", path=f"/usr/bin:{os.environ.get('PATH', '')}")
    if program is None:
        raise HarnessError(
            "There is no mmdebstrap on this host, which makes images of packages.",
            "Install the package mmdebstrap, or use --host-bind or --pull NAME.",
        )
    recipe, codename = read_recipe(), platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    sources = host_sources(codename)
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        scratch.chmod(0o755)  # apt downloads as a user of its own
        tar = _bootstrapped(program, recipe, codename, sources, scratch, on_line)
        packages = packages_in(tar)
        public = tuple(source.public for source in sources)
        labels = {PACKAGES_LABEL: " ".join(packages), f"{LABEL}.sources": ", ".join(public)}
        on_line("handing it to the engine")
        image = import_image(engine, tar, DEBIAN, labels)
    return image, _remembered(ImageInputs(public, packages, image.content))


def read_recipe() -> Recipe:
    """Return the shipped recipe."""
    table = tomllib.loads((data_root() / "builds" / "image" / "recipe.toml").read_text(encoding="utf-8"))
    return Recipe(tuple(table["packages"]), table["epoch"], tuple(table["exclude"]), tuple(table["include"]))


def bootstrap_command(program: str, recipe: Recipe, codename: str, mirror: Path, hooks: Path, tar: Path) -> list[str]:
    """Return mmdebstrap's command line; `mirror` is a file of sources, `hooks` a folder of scripts."""
    return [
        program,
        "--variant=essential",
        f"--include={','.join(recipe.packages)}",
        *(f"--dpkgopt=path-exclude={path}" for path in recipe.exclude),
        *(f"--dpkgopt=path-include={path}" for path in recipe.include),
        f"--hook-dir={hooks}",
        "--format=tar",
        codename,
        str(tar),
        str(mirror),
    ]


def packages_in(tar: Path) -> tuple[str, ...]:
    """Return `name=version` of every package in an image's files."""
    with tarfile.open(tar) as archive:
        stream = archive.extractfile(_PACKAGES_FILE)
        return tuple(stream.read().decode("utf-8").split()) if stream else ()


def moved(before: ImageInputs, now: ImageInputs) -> list[str]:
    """Return in sentences how an image differs from the one before: the mirror moved, or the bytes did alone."""
    changes = []
    if before.sources != now.sources:
        changes.append(f"other mirrors: {', '.join(before.sources)} before, {', '.join(now.sources)} now")
    old, new = (dict(each.split("=", 1) for each in made.packages) for made in (before, now))
    differ = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    changed = [f"{name} {old.get(name, 'none')} → {new.get(name, 'none')}" for name in differ]
    if changed:
        changes.append(f"the mirror moved, {len(changed)} packages differ from the last image: {', '.join(changed)}")
    elif before.content != now.content:
        changes.append(
            "the same packages as in the last image, and yet other bytes: the recipe or a package's script did it"
        )
    return changes


def _bootstrapped(
    program: str,
    recipe: Recipe,
    codename: str,
    sources: Sequence[AptSource],
    scratch: Path,
    on_line: Callable[[str], None],
) -> Path:
    hooks, mirror, tar = scratch / "hooks", scratch / "mirror.list", scratch / "image.tar"
    shutil.copytree(data_root() / "builds" / "image", hooks, ignore=shutil.ignore_patterns("*.toml"))
    for hook in hooks.iterdir():
        hook.chmod(0o755)
    mirror.write_text("".join(f"{source.line}\n" for source in sources), encoding="utf-8")
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        "TMPDIR": str(scratch),
        "SOURCE_DATE_EPOCH": str(recipe.epoch),
    }
    command = bootstrap_command(program, recipe, codename, mirror, hooks, tar)
    code, log = _followed(command, scratch, environment, lambda line: on_line(line[3:]) if line[:3] == "I: " else None)
    if code != 0:
        raise HarnessError(f"mmdebstrap failed: {reason_in(log)}", "Check apt's sources, the network and the disk.")
    return tar


def reason_in(log: str) -> str:
    """Return why mmdebstrap failed: the first lines that it, apt or dpkg mark as errors."""
    errors = [line for line in log.splitlines() if line.startswith(("E: ", "dpkg: error", "Err:"))]
    return "; ".join(errors[:3])[:500] or log.strip()[-300:] or "it said nothing"


def _followed(
    command: list[str], folder: Path, environment: Mapping[str, str], on_line: Callable[[str], None]
) -> tuple[int, str]:
    """Run a command to its end, passing on each line; on any other way out it is asked to end, and tidies up."""
    log, lines = folder / "log", Lines(on_line)
    process = spawn(command, cwd=folder, output=log, env=environment)
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    try:
        with log.open("rb") as stream:
            while process.poll() is None and time.monotonic() < deadline:
                lines.feed(stream.read())
                time.sleep(0.1)
            lines.feed(stream.read())
        return (process.returncode if process.poll() is not None else -1), lines.text()
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, how)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)


def _remembered(now: ImageInputs) -> list[str]:
    """Return how `now` differs from what is remembered, and remember it instead."""
    file = user_data_root() / "images" / "debian.json"
    before = now
    with suppress(OSError, HarnessError):  # there is none, or it is damaged
        before = from_json(ImageInputs, file.read_text(encoding="utf-8"))
    write_text(file, to_json(now))
    return moved(before, now)
