"""The registry in which each builder stands under its own name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TypeVar

from harness.base.errors import HarnessError, NotOnThisHostError, unknown
from harness.building.compiling import Builder
from harness.toolbox.toolbox import Toolbox

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class BuildHost:
    """What builders are looked for on; `target` is the Java release of class files, `report` gets progress."""

    toolbox: Toolbox
    target: int
    report: Callable[[str], None]


Open = Callable[[BuildHost, ExitStack], Builder]
_Open = TypeVar("_Open", bound=Open)


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


def builder(*, auto: int | None = None, in_container: bool = False) -> Callable[[_Open], _Open]:
    """Register a builder under the name of its function, with hyphens."""

    def decorate(open_it: _Open) -> _Open:
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
        host.report(f"not built by {kind.name}: {error.message}")
        return None


def check_builder(name: str) -> None:
    """Raise HarnessError for a builder that is not there."""
    if name != AUTO:
        _named(name)


def _named(name: str) -> BuilderKind:
    known = builders()
    if name not in known:
        raise HarnessError(unknown("builder", name, (AUTO, *known)))
    return known[name]


@cache
def _import_own() -> None:
    package = importlib.import_module("harness.building.builders")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
