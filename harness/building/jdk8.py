"""The compiler that made the releases, javac 8: from Debian unstable, where apt can fetch it, run on any Java."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import move_folder
from harness.base.locks import scratch
from harness.base.processes import bare_environment, run
from harness.building.compiling import Compilation, run_compiler
from harness.building.containers.aptsources import AptSource, host_sources
from harness.toolbox.java import JavaRuntime

_PACKAGES = ("openjdk-8-jdk-headless", "openjdk-8-jre-headless")
_SUITE = "sid"
_LABEL = "Debian's javac"
_COMPILER = "lib/tools.jar"
_LIBRARY = ("jre/lib/rt.jar", "jre/lib/jce.jar", "jre/lib/jsse.jar")
_TIMEOUT_SECONDS = 300
_MAIN_ARCHIVE = re.compile(r"https?://\S+/debian/?")
_VERSION = re.compile(r"openjdk-8-jdk-headless_([0-9A-Za-z.~+-]+?)_")


@dataclass(frozen=True, slots=True)
class Javac8:
    """OpenJDK 8's compiler, itself a Java program: `home` has its jar and Java 8's class library, no JVM is needed.

    The JVM of Debian's package asks for a C library that older hosts lack, so `runtime` runs the compiler.
    """

    home: Path
    runtime: JavaRuntime
    note: str = ""

    @property
    def label(self) -> str:
        """Debian's javac, and the version of its package."""
        return f"{_LABEL} {self.home.name}"

    @staticmethod
    def made(label: str) -> bool:
        """Whether a label is that of javac 8, from which the release's very bytes are expected."""
        return label.startswith(f"{_LABEL} ")

    def compile(
        self, root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path, target: int
    ) -> Compilation:
        """Compile as Kafka's own build does, against Java 8's real class library, whatever the target."""
        command = [str(self.runtime.java), "-XX:+UseSerialGC", "-cp", str(self.home / _COMPILER)]
        library = ":".join(str(self.home / each) for each in _LIBRARY)
        level = [
            "-bootclasspath",
            library,
            "-extdirs",
            "",
            "-endorseddirs",
            "",
            "-source",
            str(target),
            "-target",
            str(target),
        ]
        return run_compiler([*command, "com.sun.tools.javac.Main", *level], root, sources, class_path, out)


def debian_javac8(runtime: JavaRuntime, cache: Path, offline: bool = False) -> Javac8:
    """Return javac 8 from the cache, or from Debian unstable through this host's apt sources.

    apt itself checks the archive's signature and the packages' digests; the host's own state is not touched.
    Raises HarnessError that says why it cannot be had.
    """
    kept = sorted(path for path in (cache / "jdk8").glob("*") if (path / _COMPILER).is_file())
    if kept:
        return Javac8(kept[-1], runtime)
    if offline:
        raise _not_to_be_had("it is not in the cache, and --offline forbids fetching it")
    unstable = debian_unstable(_host_sources())
    if not unstable or not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise _not_to_be_had("this host has no apt with a mirror of Debian")
    with scratch(cache / "jdk8") as folder:
        return Javac8(_fetch(unstable, folder, cache / "jdk8"), runtime)


def debian_unstable(sources: Iterable[AptSource]) -> AptSource | None:
    """Return Debian unstable at the first mirror of Debian's main archive; None where there is none.

    Of the options only the key is kept: what is not signed is not taken.
    """
    for source in sources:
        if _MAIN_ARCHIVE.fullmatch(source.uri) and "main" in source.components:
            signed = tuple(option for option in source.options if option.startswith("signed-by="))
            return AptSource(source.uri, _SUITE, ("main",), signed)
    return None


def _host_sources() -> list[AptSource]:
    """Return this host's apt sources. Raises HarnessError when it has none."""
    try:
        return host_sources(platform.freedesktop_os_release().get("VERSION_CODENAME", ""))
    except OSError as error:
        raise _not_to_be_had("this host does not say which distribution it is") from error


def _fetch(unstable: AptSource, staging: Path, target: Path) -> Path:
    """Download and unpack both packages below `staging`; return the folder of what is kept of them."""
    settings = _apt_of_its_own(unstable, staging)
    _apt([*settings, "update"], staging)
    _apt([*settings, "download", *_PACKAGES], staging)
    for package in sorted(staging.glob("*.deb")):
        _run([str(shutil.which("dpkg-deb")), "-x", str(package), str(staging / "root")], staging)
    version = next((found.group(1) for p in staging.glob("*.deb") if (found := _VERSION.match(p.name))), "8")
    home = next((staging / "root/usr/lib/jvm").glob("java-8-openjdk-*"))
    for each in (_COMPILER, *_LIBRARY):
        (staging / "kept" / each).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(home / each, staging / "kept" / each)
    move_folder(staging / "kept", target / version)
    return target / version


def _apt_of_its_own(unstable: AptSource, folder: Path) -> list[str]:
    """Return the options by which apt keeps everything below `folder` and knows Debian unstable alone."""
    for each in ("lists/partial", "archives/partial"):
        (folder / each).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(f"{unstable.line}\n", encoding="utf-8")
    options = {
        "Dir::State": folder,
        "Dir::State::lists": "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder,
        "Dir::Cache::archives": "archives",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Acquire::Languages": "none",
        "Acquire::Check-Valid-Until": "false",  # a mirror may be a frozen one
        "APT::Sandbox::User": "root",
    }
    return [part for name, value in options.items() for part in ("-o", f"{name}={value}")]


def _apt(parts: Sequence[str], folder: Path) -> None:
    _run([str(shutil.which("apt-get")), "-q", *parts], folder)


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = run(command, cwd=folder, env=bare_environment(), timeout=_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise _not_to_be_had(f"{Path(command[0]).name} did not end within {_TIMEOUT_SECONDS} s") from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise _not_to_be_had(f"{Path(command[0]).name} failed: {lines[-1] if lines else 'it said nothing'}")


def _not_to_be_had(why: str) -> HarnessError:
    return HarnessError(f"javac 8, which made the release, cannot be had here: {why}.", "The check goes on without it.")
