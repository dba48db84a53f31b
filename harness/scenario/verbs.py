"""What plans are made of: every action, fault, condition, load and monitor is registered here under its own name.

A file of `actions/`, `conditions/`, `loads/` or `monitors/`, or one from outside the repository, registers its verbs
by decorating the functions that a plan calls:

    @fault
    def pause(node: NodeRef) -> Pause:
        '''Stop a node's processes where they are (SIGSTOP).'''
        return Pause(node)

Plans import them from `harness.scenario`, whichever file they stand in.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from harness.base.errors import HarnessError, unknown

_Make = TypeVar("_Make", bound=Callable[..., Any])
_PACKAGES = ("actions", "conditions", "loads", "monitors", "capabilities")


class Kind(StrEnum):
    """What a verb is for."""

    ACTION = "action"
    FAULT = "fault"
    CONDITION = "condition"
    LOAD = "load"
    MONITOR = "monitor"  # watches every run
    OPTIONAL_MONITOR = "optional monitor"  # watches the runs of plans that ask for it


@dataclass(frozen=True, slots=True)
class Verb:
    """A function that plans call; `summary` is the first line of its docstring, `file` where it stands."""

    name: str
    kind: Kind
    make: Callable[..., Any]
    summary: str
    file: Path


_verbs: dict[str, Verb] = {}


def _register(kind: Kind) -> Callable[[_Make], _Make]:
    def decorate(make: _Make) -> _Make:
        summary = (inspect.getdoc(make) or "").partition("\n")[0]
        name = getattr(make, "name", make.__name__)  # a monitor is a class, and has its name from itself
        _add(Verb(name, kind, make, summary, Path(inspect.getfile(make))))
        return make

    return decorate


def _add(verb: Verb) -> None:
    """Register a verb. Raises HarnessError when another file has one of that name."""
    there = _verbs.get(verb.name)
    if there is not None and there.file != verb.file:
        raise HarnessError(f"{verb.file} and {there.file} both define {verb.name}.", "Give one of them another name.")
    _verbs[verb.name] = verb


action = _register(Kind.ACTION)
fault = _register(Kind.FAULT)
condition = _register(Kind.CONDITION)
load = _register(Kind.LOAD)
monitor = _register(Kind.MONITOR)
optional_monitor = _register(Kind.OPTIONAL_MONITOR)


def verbs() -> Mapping[str, Verb]:
    """Return every verb by name: the harness's own and those of files that were imported since."""
    _import_own()
    return MappingProxyType(_verbs)


def monitors_of_every_run() -> list[Callable[..., Any]]:
    """Return what watches every run, by name."""
    return [verb.make for _, verb in sorted(verbs().items()) if verb.kind is Kind.MONITOR]


def verb(name: str) -> Callable[..., Any]:
    """Return what a plan calls by this name. Raises HarnessError: did you mean …"""
    known = verbs()
    if name not in known:
        raise HarnessError(unknown("action, condition, load or monitor", name, known))
    return known[name].make


@cache
def _import_own() -> None:
    for name in _PACKAGES:
        package = importlib.import_module(f"harness.scenario.{name}")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
