"""The compiler of a JDK."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError, NotOnThisHostError
from harness.building.builders.base import BuildHost, builder
from harness.building.compiling import Builder, Compilation, run_compiler
from harness.building.java_programs import QUICK
from harness.toolbox.java import JavaRuntime, runtime_at


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
        # C1 alone: a module is compiled before more would pay.
        quick = (f"-J{option}" for option in QUICK)
        return run_compiler([str(self.jdk.javac), *quick, *level], root, sources, class_path, out)


@builder(auto=2)
def javac(host: BuildHost, _held: ExitStack) -> Javac:
    """Return the first javac that compiles for the host's target: of --java-home, $JAVA_HOME, PATH."""
    tried = []
    for home in jdk_homes(host.toolbox.java_home):
        try:
            found = Javac(runtime_at(home))
        except HarnessError:  # of another machine, say: another one may do
            found = None
        if found and _compiles(found, host.target):
            return found
        tried.append(str(home))
    where = f"these do not compile for Java {host.target}: {', '.join(tried)}" if tried else "none has a javac"
    raise NotOnThisHostError(
        f"No JDK was found by --java-home, in $JAVA_HOME or on PATH: {where}.",
        "Install a JDK, or use --builder ecj, which needs none.",
    )


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


def _compiles(builder: Builder, target: int) -> bool:
    """Whether the compiler starts and knows the target: a `javac` on PATH may be a dangling alternative."""
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as folder:
        root = Path(folder)
        (root / "Try.java").write_text("class Try { java.util.List<String> list; }\n", encoding="utf-8")
        return builder.compile(root, ["Try.java"], (), root / "out", target).succeeded
