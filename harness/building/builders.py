"""Builders: what turns Java sources into classes on this machine, behind one interface."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, run
from harness.toolbox.java import JavaRuntime, runtime_at
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

GRADLE_CONTAINER, GRADLE_FULL = "gradle-container", "gradle-full"  # made by harness.building.containers
GRADLE_BUILDERS = (GRADLE_CONTAINER, GRADLE_FULL)
COMPILERS = ("auto", "javac", "ecj")
BUILDERS = (*COMPILERS, *GRADLE_BUILDERS)
_TIMEOUT_SECONDS = 600
_COMMON = ("-g", "-proc:none", "-nowarn", "-encoding", "UTF-8")
# With the line of code and the caret below it, where the compiler shows them.
_ERROR = re.compile(r"^\S.*?:\d+: error: .*(?:\n.*\n[ \t]*\^+$)?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Compilation:
    """How a compiler ended, the command that was run, and everything it wrote."""

    succeeded: bool
    command: tuple[str, ...]
    output: str


class Builder(Protocol):
    """Compiles sources to class files."""

    @property
    def label(self) -> str:
        """Name and version, as in `model.Build.builder`: `javac 17.0.15`."""

    @property
    def note(self) -> str:
        """What a reader of the report must know of jars built this way; empty when nothing."""

    def compile(
        self, root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path, target: int
    ) -> Compilation:
        """Compile `sources`, paths relative to `root`, for the Java release `target`, into the folder `out`.

        A compile error is no exception.
        """


@dataclass(frozen=True, slots=True)
class Javac:
    """The compiler of a JDK."""

    jdk: JavaRuntime
    note: str = ""

    @property
    def label(self) -> str:
        """`javac` and the JDK's version."""
        return f"javac {self.jdk.version}"

    def compile(
        self, root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path, target: int
    ) -> Compilation:
        """Compile against the API of the target itself (`--release`)."""
        level = ("--release", str(target), "-Xlint:-options")
        return run_compiler([str(self.jdk.javac), *level], root, sources, class_path, out)


@dataclass(frozen=True, slots=True)
class Ecj:
    """Eclipse's compiler, a jar, on a runtime that needs no compiler of its own."""

    jar: Path
    runtime: JavaRuntime

    @property
    def label(self) -> str:
        """`ecj`, its version, and the Java whose class library it compiled against."""
        return f"ecj {self.jar.stem.removeprefix('ecj-')} on Java {self.runtime.version}"

    @property
    def note(self) -> str:
        """Ecj's classes are not javac's, and a bare runtime has no API of another Java to compile against."""
        return (
            "built without a JDK: ecj's classes differ from javac's, and they are compiled against the class "
            f"library of Java {self.runtime.version}; compare with a baseline from the same compiler"
        )

    def compile(
        self, root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path, target: int
    ) -> Compilation:
        """Compile to class files of the target; the API is the runtime's: older signatures only a JDK has."""
        level = ("-source", str(target), "-target", str(target), "-Xemacs")
        command = [str(self.runtime.java), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar", str(self.jar)]
        return run_compiler([*command, *level], root, sources, class_path, out)


def ecj_of(toolbox: Toolbox) -> Ecj:
    """Return ecj on the bundled runtime, fetched if need be. Raises HarnessError when it cannot be had."""
    return Ecj(toolbox.tool(Purpose.COMPILER), toolbox.java())


def choose_builder(name: str, ecj: Callable[[], Ecj], target: int, java_home: Path | None = None) -> Builder:
    """Return the compiler called `name`, one of COMPILERS; `auto` is a JDK's javac where one works, else ecj.

    A JDK is looked for in `java_home`, $JAVA_HOME and on PATH, and is tried out for the Java release
    `target`. `ecj` fetches ecj when it is needed. Raises HarnessError for an unknown name, and for `javac` where no
    JDK works.
    """
    if name not in COMPILERS:
        raise HarnessError(f"There is no builder {name!r}.", f"Choose one of {', '.join(BUILDERS)}.")
    if name != "ecj":
        tried = []
        for home in jdk_homes(java_home):
            builder = Javac(runtime_at(home))
            if _compiles(builder, target):
                return builder
            tried.append(str(home))
        if name == "javac":
            where = f"these do not compile for Java {target}: {', '.join(tried)}" if tried else "none has a javac"
            raise HarnessError(
                f"No JDK was found by --java-home, in $JAVA_HOME or on PATH: {where}.",
                "Install a JDK, or use --builder ecj, which needs none.",
            )
    return ecj()


def compilers_at_hand(ecj: Ecj, target: int, java_home: Path | None = None) -> tuple[Builder, ...]:
    """Return every compiler that works here: a JDK's javac where there is one, and ecj last, which every host has."""
    builder = choose_builder("auto", lambda: ecj, target, java_home)
    return (ecj,) if builder.label == ecj.label else (builder, ecj)


def jdk_homes(java_home: Path | None) -> Iterator[Path]:
    """Yield the homes that have a `javac`, best first."""
    on_path = shutil.which("javac")
    named = os.environ.get("JAVA_HOME")
    candidates = (
        java_home,
        Path(named) if named else None,
        Path(on_path).resolve().parents[1] if on_path else None,
    )
    seen = set()
    for home in filter(None, candidates):
        if home not in seen and all(os.access(home / "bin" / name, os.X_OK) for name in ("java", "javac")):
            seen.add(home)
            yield home


def first_errors(output: str, most: int = 3) -> str:
    """Return the first errors in a compiler's output, with code and caret; all of a short output that names none."""
    errors = [found.group() for found in islice(_ERROR.finditer(output), most)]
    return "\n".join(errors) or output.strip()[-500:]


def _compiles(builder: Builder, target: int) -> bool:
    """Whether the compiler starts and knows the target: a `javac` on PATH may be a dangling alternative."""
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as folder:
        root = Path(folder)
        (root / "Try.java").write_text("class Try { java.util.List<String> list; }\n", encoding="utf-8")
        return builder.compile(root, ["Try.java"], (), root / "out", target).succeeded


def run_compiler(
    compiler: Sequence[str], root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path
) -> Compilation:
    """Run a compiler, given with the options of its own, on sources of `root`; one that never ends has failed."""
    out.mkdir(parents=True, exist_ok=True)
    # An empty class path would mean the current folder.
    jars = os.pathsep.join(str(jar.absolute()) for jar in class_path) or str(out)
    command = (*compiler, *_COMMON, "-cp", jars, "-d", str(out.absolute()), *sources)
    try:
        done = run(command, cwd=root, env=bare_environment(), timeout=_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return Compilation(False, command, f"The compiler did not end within {_TIMEOUT_SECONDS} s.")
    return Compilation(done.returncode == 0, command, done.stdout + done.stderr)
