"""What live tests stand on: the real cache of this user, a locked Kafka, the bundled Java."""

from pathlib import Path

import pytest
from rich.console import Console

from harness.arms import Setup
from harness.cluster.prepare import Ground
from harness.progress import Reporter
from harness.sources.distribution import Distribution
from harness.stages.ground import distribution_of
from harness.stages.run import lay_ground

KAFKA = "3.9.1"
SETUP = Setup(java_home="", base_dist="", profile="fast", flag_key="", jobs=1)


@pytest.fixture(scope="session")
def quiet() -> Reporter:
    return Reporter(Console(quiet=True))


@pytest.fixture(scope="session")
def kafka(quiet: Reporter) -> Distribution:
    return distribution_of(SETUP, KAFKA, quiet)


@pytest.fixture(scope="session")
def ground(quiet: Reporter) -> Ground:
    return lay_ground(SETUP, KAFKA, quiet)


@pytest.fixture(scope="session")
def mutants() -> Path:
    return Path(__file__).parent.parent / "mutants"
