"""Incidents of topic ids, and their repairs, on stock in ZooKeeper mode with the real tool of Kafka 1.0.0."""

import pytest

from harness.model.runs import Outcome
from harness.scenario.registry import load_all
from harness.toolbox.lockfile import Purpose

pytestmark = [pytest.mark.live, pytest.mark.clusters, pytest.mark.whole]  # minutes each

NAMES = sorted(name for name, scenario in load_all().items() if "topic-ids" in scenario.suites)


@pytest.fixture(scope="module", autouse=True)
def _old_tools(toolbox):
    toolbox.tools(Purpose.OLD_TOPICS)


@pytest.mark.parametrize("version", ["3.9.1", "2.8.2"])
@pytest.mark.parametrize("name", NAMES)
def test_stock_shows_what_its_scenario_expects(on_stock, name, version):
    result, _ = on_stock(load_all()[name], version)
    assert result.outcome is Outcome.PASSED, result.reason
