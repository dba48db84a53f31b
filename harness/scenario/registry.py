"""Find scenarios: every file of the scenarios folder, each with one or more `@scenario` functions."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import HarnessError, unknown
from harness.base.paths import data_root
from harness.scenario.api import Scenario


def load_file(path: Path) -> list[Scenario]:
    """Import a scenario file and return its scenarios in the order in which they are written.

    Raises HarnessError when the file cannot be imported.
    """
    spec = importlib.util.spec_from_file_location(f"kafka_scenarios.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise HarnessError(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        story = f"The scenario file {path} cannot be imported: {type(error).__name__}: {error}."
        raise HarnessError(story, "See docs/scenarios.md for how a scenario is written.") from error
    return [value for value in vars(module).values() if isinstance(value, Scenario)]


def load_all(folder: Path | None = None) -> dict[str, Scenario]:
    """Return every scenario by name; the folder is the harness's own `scenarios/` unless given."""
    folder = folder or data_root() / "scenarios"
    found: dict[str, Scenario] = {}
    for path in sorted(folder.glob("[!_]*.py")):
        for scenario in load_file(path):
            if scenario.name in found:
                raise HarnessError(f"Two scenarios are named {scenario.name}: {found[scenario.name].file} and {path}.")
            found[scenario.name] = scenario
    return found


def select(known: dict[str, Scenario], names: Sequence[str], suite: str) -> list[Scenario]:
    """Return the named scenarios, or the whole suite when none is named. Raises HarnessError: did you mean …"""
    for name in names:
        if name not in known:
            raise HarnessError(unknown("scenario", name, known))
    if names:
        return [known[name] for name in dict.fromkeys(names)]
    suites = {scenario.suite for scenario in known.values()}
    if suite not in suites:
        raise HarnessError(unknown("suite", suite, suites))
    return [scenario for scenario in known.values() if scenario.suite == suite]
