"""Eclipse's compiler, which every host has: the harness fetches it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.building.builders.base import BuildHost, builder
from harness.building.compiling import Compilation, run_compiler
from harness.building.java_programs import QUICK
from harness.toolbox.java import JavaRuntime
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox


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
        command = [str(self.runtime.java), *QUICK, "-jar", str(self.jar)]
        return run_compiler([*command, *level], root, sources, class_path, out)


@builder(auto=3)
def ecj(host: BuildHost, _held: ExitStack) -> Ecj:
    """Return ecj. Raises HarnessError when it cannot be had."""
    return ecj_of(host.toolbox)


def ecj_of(toolbox: Toolbox) -> Ecj:
    """Return ecj on the bundled runtime, fetched if need be. Raises HarnessError when it cannot be had."""
    return Ecj(toolbox.tool(Purpose.COMPILER), toolbox.java())
