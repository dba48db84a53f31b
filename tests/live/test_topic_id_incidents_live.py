"""Incidents of topic ids, and their repairs, on stock in ZooKeeper mode with the real tool of Kafka 1.0.0."""

import pytest

from harness.cluster.install import Install
from harness.engine.cancel import Cancellation
from harness.engine.executor import run_cell
from harness.engine.planned_run import PlannedRun
from harness.kafka.distribution import distribution_of
from harness.model.arms import Role
from harness.model.request import Request
from harness.model.runs import Outcome, RunKey
from harness.rundir.directory import RunDirectory
from harness.scenario.host_meter import calibrate
from harness.scenario.registry import load_all
from harness.stages.node_parts import prepare_node_parts
from harness.toolbox.downloads import sha256_of
from harness.toolbox.lockfile import Purpose

pytestmark = [pytest.mark.live, pytest.mark.clusters]

INCIDENT = ("topic-id-lost", "3.9.1")  # the others take minutes each, and show it of other versions and repairs
OTHERS = [
    ("topic-id-lost", "2.8.2"),
    *(
        (name, version)
        for name in ("topic-id-mixed", "topic-id-file-deleted", "topic-id-unclean")
        for version in ("3.9.1", "2.8.2")
    ),
]


@pytest.fixture(scope="module")
def on(toolbox, quiet, tmp_path_factory):
    """Return a function that runs a scenario on Apache's release of a version."""
    toolbox.tools(Purpose.OLD_TOPICS)
    folder = tmp_path_factory.mktemp("topic-ids")
    made = {}

    def run(version, name):
        if version not in made:
            kafka = distribution_of(None, version, toolbox)
            stock = Install("stock", kafka.raft_jar, sha256_of(kafka.raft_jar), "absent")
            made[version] = prepare_node_parts(Request(), kafka, toolbox, quiet.report), stock
        root = folder / version
        root.mkdir(exist_ok=True)
        RunDirectory(root).host.write(calibrate())
        cell = PlannedRun(RunKey(name, "stock", 1), load_all()[name], Role.BASE, *made[version])
        return run_cell(cell, root, lambda _: None, Cancellation())

    return run


@pytest.mark.parametrize(
    ("name", "version"), [INCIDENT, *(pytest.param(*each, marks=pytest.mark.whole) for each in OTHERS)]
)
def test_stock_shows_what_its_scenario_expects(on, name, version):
    result = on(version, name)
    assert result.outcome is Outcome.PASSED, result.reason
