"""What a builder is, and the registry in which each stands under its own name."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, run
from harness.toolbox.toolbox import Toolbox

AUTO = "auto"
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


class NotOnThisHostError(HarnessError):
    """This host has no such builder at all; where none was named, another is taken without a word."""


@dataclass(frozen=True, slots=True)
class BuildHost:
    """What builders are looked for on; `target` is the Java release that class files are for, `say` hears progress."""

    toolbox: Toolbox
    target: int
    say: Callable[[str], None]


Open = Callable[[BuildHost, ExitStack], Builder]


@dataclass(frozen=True, slots=True)
class BuilderKind:
    """A registered builder: `open` gives it, with what it holds put on the stack, or raises HarnessError.

    `auto` is its place when none is named (1 is tried first), None for one that must be named. What runs
    `in_container` cannot compile the harness's own small programs.
    """

    name: str
    open: Open
    auto: int | None
    in_container: bool


_kinds: dict[str, BuilderKind] = {}


def builder(*, auto: int | None = None, in_container: bool = False) -> Callable[[Open], Open]:
    """Register a builder under the name of its function, with hyphens."""

    def decorate(open_it: Open) -> Open:
        name = open_it.__name__.replace("_", "-")
        _kinds[name] = BuilderKind(name, open_it, auto, in_container)
        return open_it

    return decorate


def builders() -> Mapping[str, BuilderKind]:
    """Return every builder by name, those that are taken without being named first."""
    _import_own()
    known = sorted(_kinds.items(), key=lambda item: (item[1].auto is None, item[1].auto or 0, item[0]))
    return MappingProxyType(dict(known))


def open_builder(name: str, host: BuildHost, held: ExitStack) -> Builder:
    """Return the builder of this name, or with `auto` the first that works here.

    Raises HarnessError for an unknown name, and for a named builder that does not work here.
    """
    return _first(usual_builders(), host, held) if name == AUTO else _named(name).open(host, held)


def host_compiler(name: str, host: BuildHost) -> Builder:
    """Return the compiler of this name, or this host's own where it names `auto` or a builder in a container."""
    if name != AUTO and not _named(name).in_container:
        return _named(name).open(host, ExitStack())
    return _first(_host_compilers(), host, ExitStack())


def compilers_at_hand(host: BuildHost) -> tuple[Builder, ...]:
    """Return every compiler of this host that works, the one that every host has last."""
    return tuple(found for kind in _host_compilers() if (found := _tried(kind, host, ExitStack())))


def usual_builders() -> list[BuilderKind]:
    """Return the builders that need not be named, in the order in which they are tried."""
    return [kind for kind in builders().values() if kind.auto is not None]


def _host_compilers() -> list[BuilderKind]:
    return [kind for kind in usual_builders() if not kind.in_container]


def _first(kinds: Sequence[BuilderKind], host: BuildHost, held: ExitStack) -> Builder:
    """Return the first that works; the last one's error is raised where none does."""
    for kind in kinds[:-1]:
        if found := _tried(kind, host, held):
            return found
    return kinds[-1].open(host, held)


def _tried(kind: BuilderKind, host: BuildHost, held: ExitStack) -> Builder | None:
    try:
        return kind.open(host, held)
    except NotOnThisHostError:
        return None
    except HarnessError as error:
        host.say(f"not built by {kind.name}: {error.message}")
        return None


def _named(name: str) -> BuilderKind:
    known = builders()
    if name not in known:
        raise HarnessError(f"There is no builder {name!r}.", f"Choose one of {', '.join((AUTO, *known))}.")
    return known[name]


@cache
def _import_own() -> None:
    package = importlib.import_module("harness.building.builders")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


def first_errors(output: str, most: int = 3) -> str:
    """Return the first errors in a compiler's output, with code and caret; all of a short output that names none."""
    errors = [found.group() for found in islice(_ERROR.finditer(output), most)]
    return "\n".join(errors) or output.strip()[-500:]


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
