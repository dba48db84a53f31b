"""docs/scenarios.md: its scenario is complete, and what it says there is, is there."""

import inspect
import re
from pathlib import Path

import pytest

from harness.scenario import voter_moves
from harness.scenario.capabilities.base import capabilities
from harness.scenario.plan import Plan
from harness.scenario.registry import load_all
from harness.scenario.steps import Expect, Phase
from harness.scenario.verbs import Kind, verbs
from harness.scenario.world import World

GUIDE = (Path(__file__).parent.parent.parent / "docs" / "scenarios.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return GUIDE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def first_column(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


def test_the_scenario_of_the_guide_is_a_whole_file(tmp_path):
    (code,) = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    (tmp_path / "leader_dies.py").write_text(code)
    scenario = load_all([tmp_path])["leader-dies"]
    steps = scenario.plan().steps
    assert [step.name for step in steps if isinstance(step, Phase)] == ["start", "the leader dies"]
    assert [step.named for step in steps if isinstance(step, Expect)] == ["observer_recovers"]


_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def call_of(name: str, make) -> str:
    """Return a verb as the guide writes it: parameters by name, defaults as Python."""
    given = inspect.signature(make).parameters.values()
    return f"{name}({', '.join(_STARS.get(each.kind, '') + each.name + default_of(each) for each in given)})"


def default_of(parameter: inspect.Parameter) -> str:
    value = parameter.default
    quoted = f'"{value}"' if isinstance(value, str) else str(value)
    return "" if value is parameter.empty else f"={quoted}"


@pytest.mark.parametrize(
    "kinds", [(Kind.ACTION, Kind.FAULT), (Kind.CONDITION,), (Kind.LOAD,)], ids=["actions", "conditions", "loads"]
)
def test_the_guide_lists_every_verb_with_its_parameters(kinds):
    own = {call_of(name, verb.make) for name, verb in verbs().items() if verb.kind in kinds and _is_shipped(verb)}
    tables = section("Verbs").split("\n\n")
    (listed,) = [set(first_column(table)) for table in tables if own & set(first_column(table))]
    assert listed == own


def test_the_guide_lists_every_monitor_and_every_capability():
    monitors = {n for n, v in verbs().items() if v.kind in (Kind.MONITOR, Kind.OPTIONAL_MONITOR) and _is_shipped(v)}
    assert set(first_column(section("Monitors"))) == monitors
    shipped = {name for name, each in capabilities().items() if each.probe.__module__.startswith("harness.")}
    assert set(first_column(section("Capabilities"))) == shipped


def test_the_guide_lists_every_scenario_that_is_shipped_with_its_suites():
    rows = re.findall(r"^\| (`[^|]+`) \| (`[^|]+`) \|", section("What is shipped"), re.MULTILINE)
    names = [(re.findall(r"`([^`]+)`", row), tuple(re.findall(r"`([^`]+)`", suites))) for row, suites in rows]
    listed = [(name, suites) for group, suites in names for name in group]
    assert sorted(listed) == sorted((name, each.suites) for name, each in load_all().items())


def test_the_guide_explains_every_step_of_a_plan():
    shown = set(re.findall(r"`(?:with )?plan\.(\w+)\(", section("Steps")))
    assert shown == {name for name, value in vars(Plan).items() if callable(value) and not name.startswith("_")}


def test_what_the_guide_says_of_world_and_of_shared_stretches_is_there():
    named = [re.match(r"\w+", each)[0] for each in first_column(section("Verbs of your own")) if each != "world."]
    shared = re.findall(r"`(\w+)\(plan, observer(?:, named)?\)`", section("Verbs"))
    source = inspect.getsource(World)
    assert [name for name in named if f"def {name}(" not in source and f"self.{name}" not in source] == []
    assert [name for name in shared if not callable(getattr(voter_moves, name, None))] == []
    assert len(named) > 5
    assert len(shared) == 5


def _is_shipped(verb) -> bool:
    return "harness/scenario/" in verb.file.as_posix()
