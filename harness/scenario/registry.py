"""Find scenarios: every file of the scenarios folder and of folders of the user's own.

Each folder is imported as a package of its own, so that a file is imported once, may import its neighbours
(`from .pause import pause`), and may bear any name. Files without a scenario come first: their verbs then stand in
`harness.scenario`, whatever the files are called.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

from harness.base.errors import HarnessError, unknown
from harness.base.paths import data_root
from harness.scenario.capabilities.base import known
from harness.scenario.chaos.plans import SUITE as CHAOS
from harness.scenario.chaos.plans import chaos_scenario, seeded
from harness.scenario.mistakes import mistake
from harness.scenario.plan import Scenario
from harness.scenario.steps import named_expectations, waits
from harness.scenario.verbs import verbs

_MARK = b"@scenario("
FIRST_SEED = 1
_FILES = "[!_]*.py"


class Scenarios(dict[str, Scenario]):
    """Scenarios by name: those of files, and whichever of chaos is asked for (it is made from its name).

    Each can be sent to another process, which then loads the same `folders`: their verbs and monitors are part of it.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        super().__init__()
        self._folders = tuple(folders)

    def can_be_sent(self, scenario: Scenario) -> Scenario:
        """Return a scenario with how another process makes it."""
        return replace(scenario, again=partial(_named, self._folders, scenario.name))

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and chaos_scenario(name) is not None)

    def __missing__(self, name: str) -> Scenario:
        made = chaos_scenario(name)
        if made is None:
            raise KeyError(name)
        return self.can_be_sent(made)


def holds_scenarios(path: Path) -> bool:
    """Whether a line of the file begins with `@scenario(`. Raises HarnessError when it cannot be read."""
    try:
        return any(line.startswith(_MARK) for line in path.read_bytes().splitlines())
    except OSError as error:
        raise HarnessError(f"The scenario file {path} cannot be read: {error.strerror}.") from error


def load_file(path: Path) -> list[Scenario]:
    """Import a scenario file and return its scenarios in the order in which they are written.

    The verbs of the files beside it are imported first. Raises HarnessError when a file cannot be imported.
    """
    path = path.resolve()
    for other in _files_of(path.parent):
        if not holds_scenarios(other):
            _import(other)
    return _scenarios_of(path)


def load_all(folders: Sequence[Path] = ()) -> Scenarios:
    """Return every scenario by name: the harness's own, then those of the user's folders. Raises HarnessError."""
    own = [each.resolve() for each in folders]
    found = Scenarios(own)
    for folder in dict.fromkeys([(data_root() / "scenarios").resolve(), *own]):
        if not folder.is_dir():
            raise HarnessError(f"{folder} is not a folder of scenarios.", "Name a folder that holds scenario files.")
        for path in sorted(_files_of(folder), key=holds_scenarios):
            for scenario in _scenarios_of(path):
                if scenario.name in found:
                    other = found[scenario.name].file
                    raise HarnessError(f"Two scenarios are named {scenario.name}: {other} and {path}.")
                found[scenario.name] = found.can_be_sent(scenario)
    return found


def select(known: Scenarios, names: Sequence[str], suite: str, seeds: int = 1) -> list[Scenario]:
    """Return the named scenarios, or the whole suite when none is named. Raises HarnessError: did you mean …

    The suite of chaos is as long as it is asked to be: so many `seeds`.
    """
    suites = {CHAOS, *(each for scenario in known.values() for each in scenario.suites)}
    if (suite or not names) and suite not in suites:
        raise HarnessError(unknown("suite", suite, suites))
    if suite == CHAOS and not names:
        names = seeded(range(FIRST_SEED, FIRST_SEED + seeds))
    for name in names:
        if name not in known:
            raise HarnessError(unknown("scenario", name, known))
    if names:
        return [known[name] for name in dict.fromkeys(names)]
    return [scenario for scenario in known.values() if suite in scenario.suites]


def _files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(_FILES) if path.is_file())


def _scenarios_of(path: Path) -> list[Scenario]:
    module = _import(path)
    _check_names(path)
    found = [value for value in vars(module).values() if isinstance(value, Scenario) and Path(value.file) == path]
    for scenario in found:
        known(scenario.needs)
        _check_plan(scenario)  # a mistake in it shows now, and not when everything else is built
    return found


def _check_plan(scenario: Scenario) -> None:
    """Raise HarnessError for a plan that cannot be built, or that shows nothing."""
    steps, where = scenario.plan().everything, f"{scenario.name} in {scenario.file}"
    if not any(named_expectations(steps)):
        raise HarnessError(
            f"{where} asks nothing: its plan has no expectation, and every run of it would pass.",
            "Ask by plan.expect(…); docs/scenarios.md has an example.",
        )
    for step in waits(steps):
        if isinstance(step.within, float) and step.within > scenario.budget:
            waited = f"waits {step.within:g} s for “{step.condition.description}”"
            raise HarnessError(
                f"{where} {waited}, and its budget is {scenario.budget:g} s.", "Give it a longer budget, or less time."
            )


def _check_names(path: Path) -> None:
    """Raise HarnessError where a file has two functions of one name: only the last of them is there at all."""
    lines: dict[str, int] = {}
    for each in ast.parse(path.read_bytes()).body:
        if isinstance(each, ast.FunctionDef) and each.decorator_list:
            if each.name in lines:
                places = f"in the lines {lines[each.name]} and {each.lineno}"
                raise HarnessError(
                    f"{path} has two functions named {each.name}, {places}: only the last would be run.",
                    "Give one of them another name.",
                )
            lines[each.name] = each.lineno


def _named(folders: Sequence[Path], name: str) -> Scenario:
    """Return a scenario in a process that has not loaded these folders of the user's yet."""
    return load_all(folders)[name]


def _import(path: Path) -> ModuleType:
    """Return a file's module, imported at the first call. Raises HarnessError when it cannot be imported."""
    verbs()  # so that the harness's own are there first, and capabilities are known
    name = f"{_package_of(path.parent)}.{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # it ends in .py
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, HarnessError) or not isinstance(error, (Exception, SystemExit)):
            raise
        raise mistake(f"The scenario file {path} cannot be imported", error, str(path)) from error
    return module


def _package_of(folder: Path) -> str:
    """Return the name of the package that a folder's files are imported as, made at the first call."""
    name = f"kafka_scenarios_{hashlib.sha256(bytes(folder)).hexdigest()[:12]}"
    if name not in sys.modules:
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(folder)]
    return name
