"""Gradle in a container: the raft module alone without network, or Kafka's own build with one."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from harness.base.archives import open_archive, read_entry
from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.building.compiling import Compilation
from harness.building.containers.why_failed import why_failed
from harness.containers.engine import Engine
from harness.containers.images import Image
from harness.containers.jobs import Job, Mount, run_job

_SOURCES = "/sources"
_REPOSITORY = "/repository"
_WORK = "/tmp/build"  # noqa: S108 - in the container
_MODULE_MEMORY, _FULL_MEMORY = 2 * 2**30, 4 * 2**30
_MODULE_SECONDS, _FULL_SECONDS = 600.0, 3600.0
_GRADLE = ("--no-daemon", "--console=plain")
# The serial collector and C1 alone: a build is over before more would pay.
_QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx1g"
_VERSIONS = re.compile(r"^Gradle (\S+)$.*^JVM:\s+(\S+)", re.MULTILINE | re.DOTALL)
_NOT_CLASSES = ("-sources.jar", "-javadoc.jar", "-test.jar", "-tests.jar", "-test-sources.jar")

OnLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Workshop:
    """An engine, an image on it, and what that image holds; `on_line` gets what a user wants to see of a log."""

    engine: Engine
    image: Image
    gradle: str
    java: str
    on_line: OnLine

    @property
    def label(self) -> str:
        """Gradle's version and the compiler's."""
        return f"gradle {self.gradle} in a container, javac {self.java}"

    @property
    def note(self) -> str:
        """Which image."""
        return f"image {self.image.name} ({self.image.content[:19]})"

    def report_progress(self, line: str) -> None:
        """Report a line that begins a task."""
        if line.startswith((":", "> Task ")):
            self.on_line(f"gradle {line.removeprefix('> Task ')}")


def open_workshop(engine: Engine, image: Image, on_line: OnLine) -> Workshop:
    """Ask an image for its versions of Gradle and Java. Raises HarnessError when it has none that start."""
    job = _job(image, ("gradle", "--version"), _MODULE_MEMORY, 60)
    with run_job(engine, job, lambda _: None) as done:
        found = _VERSIONS.search(done.ended.output)
        if done.ended.exit_code != 0 or not found:
            raise why_failed(done.ended, job.memory, job.timeout) or HarnessError(
                f"There is no Gradle that starts in the image {image.name}: {done.ended.output.strip()[-300:]}",
                "Make another with `harness image build`.",
            )
    return Workshop(engine, image, found.group(1), found.group(2), on_line)


@dataclass(frozen=True, slots=True)
class GradleModule:
    """Compiles with our own build script, against the jars given, without network.

    `cache` is the Maven cache in which those jars lie as in a repository.
    """

    workshop: Workshop
    cache: Path

    @property
    def label(self) -> str:
        """Gradle's version and the compiler's."""
        return self.workshop.label

    @property
    def note(self) -> str:
        """Which image."""
        return self.workshop.note

    def compile(
        self, root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path, target: int
    ) -> Compilation:
        """Compile by the order's script. Raises HarnessError when something other than the sources is at fault."""
        places = {jar: place_of(jar, self.cache) for jar in class_path}
        command = ("gradle", *_GRADLE, "--offline", ":jar")
        job = _job(self.workshop.image, in_copy_of("/order", command), _MODULE_MEMORY, _MODULE_SECONDS)
        repository = (Mount(jar, f"{_REPOSITORY}/{place}") for jar, place in places.items())
        job = replace(
            job,
            mounts=(*job.mounts, Mount(root, _SOURCES), *repository),
            files=order(sources, places.values(), target),
        )
        return _compiled(self.workshop, job, command, f"{_WORK}/build/libs", out)


@dataclass(frozen=True, slots=True)
class GradleFull:
    """Runs a Kafka checkout's own build, `:raft:jar`, which fetches what it needs; for connected users.

    `home` is Gradle's, on this machine: what one build downloaded serves the next.
    """

    workshop: Workshop
    home: Path

    @property
    def label(self) -> str:
        """The Java that the checkout's own Gradle runs on."""
        return f"Kafka's own gradle build in a container, javac {self.workshop.java}"

    @property
    def note(self) -> str:
        """Which image."""
        return self.workshop.note

    def compile(
        self,
        root: Path,
        sources: Sequence[str],  # noqa: ARG002
        class_path: Sequence[Path],  # noqa: ARG002
        out: Path,
        target: int,  # noqa: ARG002
    ) -> Compilation:
        """Build the checkout at `root`; what to compile and against what, it knows itself.

        Raises HarnessError when `root` is no such checkout, or something other than the sources is at fault.
        """
        if not (root / "settings.gradle").is_file():
            raise HarnessError(
                "The sources have no Gradle build of their own: released ones are the raft module alone.",
                "Name a Kafka repository by --git URL@REF, or use --builder gradle-container.",
            )
        self.home.mkdir(parents=True, exist_ok=True)
        gradle = "./gradlew" if (root / "gradlew").is_file() else "gradle"
        command = (gradle, *_GRADLE, ":raft:jar")
        job = _job(self.workshop.image, in_copy_of(_SOURCES, command), _FULL_MEMORY, _FULL_SECONDS)
        job = replace(
            job,
            mounts=(*job.mounts, Mount(root, _SOURCES), Mount(self.home, "/gradle-home", writable=True)),
            environment={**job.environment, "GRADLE_USER_HOME": "/gradle-home"},
            connected=True,
        )
        return _compiled(self.workshop, job, command, f"{_WORK}/raft/build/libs", out)


def place_of(jar: Path, cache: Path) -> str:
    """Return where a jar lies below a Maven repository: as in the cache, else in a place of its own."""
    if jar.is_relative_to(cache):
        return jar.relative_to(cache).as_posix()
    name = jar.stem
    return f"given/{name}/0/{name}-0.jar"


def coordinate_of(place: str) -> str:
    """Return group:name:version of a jar's place in a Maven repository."""
    *group, name, version, _ = PurePosixPath(place).parts
    return f"{'.'.join(group)}:{name}:{version}"


def in_copy_of(folder: str, command: Sequence[str]) -> tuple[str, ...]:
    """Return a command that runs another in a copy of a folder, since the folder itself cannot be written."""
    return ("sh", "-c", f'cp -R {folder} {_WORK} && cd {_WORK} && exec "$@"', "sh", *command)


def main_jar(names: Iterable[str]) -> str:
    """Return the one jar among files that holds the module's classes. Raises HarnessError when it is not clear."""
    jars = sorted(name for name in names if name.endswith(".jar") and not name.endswith(_NOT_CLASSES))
    if len(jars) != 1:
        raise HarnessError(
            f"The build ended well, but made {', '.join(jars) or 'no jar'} where one jar was expected.",
            "Check that the checkout's :raft:jar is Kafka's own.",
        )
    return jars[0]


def as_on_host(output: str) -> str:
    """Return a log with the container's paths of sources as they are in the checkout."""
    return output.replace(f"{_SOURCES}/", "").replace(f"{_WORK}/", "")


def _job(image: Image, command: tuple[str, ...], memory: int, timeout: float) -> Job:
    environment = {
        "HOME": "/tmp",  # noqa: S108 - in the container
        "GRADLE_USER_HOME": "/tmp/gradle-home",  # noqa: S108
        "GRADLE_OPTS": _QUICK,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }
    user = f"{os.getuid()}:{os.getgid()}"
    return Job(image.id, command, user, memory, timeout, image.mounts, environment=environment)


def order(sources: Sequence[str], places: Iterable[str], target: int) -> dict[str, bytes]:
    """Return the build script and its lists, by their place in the container."""
    scripts = sorted((data_root() / "builds" / "gradle").glob("*.gradle"))
    dependencies = [coordinate_of(place) for place in places]
    lists = {"sources": sources, "dependencies": dependencies, "target": [str(target)]}
    return {
        **{f"/order/{script.name}": script.read_bytes() for script in scripts},
        **{f"/order/{name}": "".join(f"{item}\n" for item in items).encode() for name, items in lists.items()},
    }


def _compiled(workshop: Workshop, job: Job, command: tuple[str, ...], libraries: str, out: Path) -> Compilation:
    with run_job(workshop.engine, job, workshop.report_progress) as done:
        if done.ended.exit_code != 0:
            trouble = why_failed(done.ended, job.memory, job.timeout)
            if trouble:
                raise trouble
            return Compilation(False, command, as_on_host(done.ended.output))
        made = done.take(libraries)
        _unpack_classes(made[main_jar(made)], out)
        return Compilation(True, command, as_on_host(done.ended.output))


def _unpack_classes(jar: bytes, out: Path) -> None:
    """Write a jar's classes below `out`. Raises HarnessError for a jar that is not sane."""
    with tempfile.NamedTemporaryFile(suffix=".jar") as file:
        file.write(jar)
        file.flush()
        with open_archive(Path(file.name)) as archive:
            for name in archive.namelist():
                if name.endswith(".class"):
                    target = out / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(read_entry(archive, name))
