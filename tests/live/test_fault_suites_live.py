"""Every scenario of the suites of faults on stock, but for those that shorter tests run; and one seed of chaos."""

import pytest

from harness.model.runs import Outcome
from harness.scenario.registry import load_all

pytestmark = [pytest.mark.live, pytest.mark.clusters, pytest.mark.whole]

SUITES = {"faults", "elections", "zookeeper"}
RUN_ELSEWHERE = {  # test_faults_live, test_partition_cuts_live, test_elections_live
    "observer-cut",
    "partitions",
    "isr-of-one",
    "elections",
    "unclean-elections",
    "zookeeper-elections",
}
NAMES = sorted(name for name, each in load_all().items() if SUITES & {*each.suites} and name not in RUN_ELSEWHERE)


@pytest.mark.parametrize("name", [*NAMES, "chaos-17"])
def test_stock_shows_what_its_scenario_expects(on_stock, name):
    scenario = load_all()[name]
    result, _ = on_stock(scenario)
    if result.outcome is Outcome.UNSUPPORTED:
        pytest.skip(result.reason)
    failure = scenario.failure_of("3.9.1")
    assert result.summary.startswith(failure.label if failure else "PASSED"), result.reason
