"""docs/faults.md says which scenario asks what, and the plans do ask it."""

import re
from itertools import product
from pathlib import Path

from harness.scenario.registry import load_all
from harness.scenario.steps import Expect

SCENARIOS = load_all()
PAGE = (Path(__file__).parents[2] / "docs" / "faults.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("\n## Which scenario asks what\n")[2].partition("\n## ")[0]
# A question, its scenarios in either mode, and what the names of its expectations begin with.
ROWS = re.findall(r"^\| (.+) \|(.*)\|(.*)\| (`.+`) \|$", TABLE, re.MULTILINE)


def names(*cells):
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_every_scenario_of_faults_and_of_elections_stands_in_the_table_and_no_other():
    listed = {name for _, kraft, zookeeper, _ in ROWS for name in names(kraft, zookeeper)}
    assert listed == {name for name, each in SCENARIOS.items() if {"faults", "elections"} & {*each.suites}}


def test_every_scenario_of_a_row_has_expectations_of_the_names_that_stand_there():
    asked = {
        (question, scenario, named)
        for question, kraft, zookeeper, expectations in ROWS
        for scenario, named in product(names(kraft, zookeeper), names(expectations))
    }
    missing = [each for each in asked if not any(name.startswith(each[2]) for name in expectations_of(each[1]))]
    assert missing == []


def expectations_of(scenario):
    return [step.named for step in SCENARIOS[scenario].plan().steps if isinstance(step, Expect)]
