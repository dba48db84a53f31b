"""Java runtimes: what is in a Java home folder, and which version it is."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, run

_VERSION_TIMEOUT_SECONDS = 30
_OTHER = "Name another runtime by --java-home."


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """An installed Java: its home folder and its version (`21.0.8`)."""

    home: Path
    version: str

    @property
    def release(self) -> int:
        """The number that it is known by: 8 for `1.8.0_402`, 21 for `21.0.8`; 0 where its version names none."""
        found = re.match(r"(?:1\.)?(\d+)", self.version)
        return int(found.group(1)) if found else 0

    @property
    def java(self) -> Path:
        """Path of the `java` binary."""
        return self.home / "bin" / "java"

    @property
    def javac(self) -> Path:
        """Path where `javac` is if this is a JDK."""
        return self.home / "bin" / "javac"


def runtime_at(home: Path) -> JavaRuntime:
    """Return the runtime in a Java home folder. Raises HarnessError when there is none that starts."""
    home = home.expanduser().absolute()
    if not os.access(home / "bin" / "java", os.X_OK):
        raise HarnessError(
            f"{home} is not a Java home: there is no program {home / 'bin' / 'java'}.",
            "Name the folder that holds bin/java, or leave --java-home out to use the bundled runtime.",
        )
    return JavaRuntime(home, _version_in_release_file(home) or _version_printed_by(home / "bin" / "java"))


def version_in(text: str) -> str:
    """Return the version in a `release` file or in what `java -version` says; empty when there is none."""
    found = re.search(r'(?:^JAVA_VERSION=|\bversion )"([^"]+)"', text, re.MULTILINE)
    return found.group(1) if found else ""


def _version_in_release_file(home: Path) -> str:
    try:
        return version_in((home / "release").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""


def _version_printed_by(java: Path) -> str:
    try:
        done = run([str(java), "-version"], env=bare_environment(), timeout=_VERSION_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"{java} -version did not end within {_VERSION_TIMEOUT_SECONDS} s.", _OTHER) from error
    version = version_in(done.stderr + done.stdout)
    if not version:
        raise HarnessError(
            f"{java} -version printed no version (exit {done.returncode}): {done.stderr.strip()[:200]}",
            _OTHER,
        )
    return version
