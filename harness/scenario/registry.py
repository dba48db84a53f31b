"""Find scenarios: every file of the scenarios folder and of folders of the user's own."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.base.errors import HarnessError, unknown
from harness.base.paths import data_root
from harness.scenario.capabilities.base import known
from harness.scenario.plan import Scenario
from harness.scenario.verbs import verbs


def load_file(path: Path) -> list[Scenario]:
    """Import a scenario file and return its scenarios in the order in which they are written.

    Raises HarnessError when the file cannot be imported.
    """
    verbs()  # so that capabilities are known
    name = f"kafka_scenarios.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise HarnessError(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    try:
        with _importable(path.parent):
            spec.loader.exec_module(module)
    except HarnessError:
        raise
    except Exception as error:
        story = f"The scenario file {path} cannot be imported: {type(error).__name__}: {error}."
        raise HarnessError(story, "See docs/scenarios.md for how a scenario is written.") from error
    found = [value for value in vars(module).values() if isinstance(value, Scenario) and Path(value.file) == path]
    for scenario in found:
        known(scenario.needs)
    return found


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let files of a folder import each other, behind everything that is installed."""
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def load_all(folders: Sequence[Path] = ()) -> dict[str, Scenario]:
    """Return every scenario by name: the harness's own, then those of the user's folders. Raises HarnessError."""
    found: dict[str, Scenario] = {}
    for folder in (data_root() / "scenarios", *folders):
        if not folder.is_dir():
            raise HarnessError(f"{folder} is no folder of scenarios.", "Name a folder that holds scenario files.")
        for path in sorted(folder.glob("[!_]*.py")):
            for scenario in load_file(path.absolute()):
                if scenario.name in found:
                    other = found[scenario.name].file
                    raise HarnessError(f"Two scenarios are named {scenario.name}: {other} and {path}.")
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
