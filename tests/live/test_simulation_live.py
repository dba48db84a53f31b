"""Simulations for real: stock holds them, a fix of upstream that is taken back does not, and a seed can be replayed."""

from pathlib import Path

import pytest

from harness.building.builders.ecj import ecj_of
from harness.building.patched_jar import patched_jar
from harness.kafka.lock import read_lock
from harness.kafka.patching import load_patch
from harness.kafka.release_lines import line_of
from harness.proof.junit import TestBench
from harness.proof.simulation import simulate, simulated_jars
from harness.toolbox.lockfile import Purpose

pytestmark = pytest.mark.live

VERSION = "3.9.1"
MUTANTS = Path(__file__).parents[1] / "mutants" / "stock"
VOTERS = "org.apache.kafka.raft.VoterChangeSimulation"


@pytest.fixture
def jars(toolbox, kafka, tmp_path):
    """Hold stock with one of the mutants' patches against stock."""
    tests = toolbox.downloads.fetch_all(read_lock(VERSION).of(Purpose.TESTS))
    bench = TestBench(line_of(VERSION), toolbox.java(), tests, kafka.others, ecj_of(toolbox), toolbox.cache)

    def make(*mutants):
        patches = [load_patch(MUTANTS, f"{name}.patch") for name in mutants]
        jar = patched_jar(VERSION, patches, tmp_path / "jar", toolbox, lambda _: None, "ecj")
        return simulated_jars(bench, jar, kafka.raft_jar)

    return make


def test_a_jar_in_which_nothing_is_wrong_holds_every_property_that_stock_holds(jars, tmp_path):
    found = simulate(jars(), "20s", 20, tmp_path / "logs")
    assert (found.blockers, found.doubts, found.left_out) == ((), (), "")
    assert found.runs > 0
    unsound = [each.name for each in found.properties if each.base_failed]
    assert unsound in ([], ["org.apache.kafka.raft.LossyVoterChangeSimulation#votersComeAndGoWhileMessagesAreLost"])


def test_commits_without_a_majority_are_found_and_replayed(jars, tmp_path):
    """Nearly every seed shows it, so that this takes seconds."""
    pair = jars("commits-without-a-majority")
    found = simulate(pair, "5s", 5, tmp_path / "logs")
    seed = found.failed[0]
    assert (seed.fails_again, seed.fails_on_base) == (True, False)
    assert found.blockers
    again, on_base = pair.replay(seed.name, seed.seed, tmp_path / "replay")
    assert (again.passed, on_base.passed) == (False, True)
    assert again.ended.message == seed.message


@pytest.mark.whole
def test_a_voter_that_lost_its_disk_and_is_refused_is_found_and_replayed(jars, tmp_path):
    """KAFKA-12181 taken back: the leader throws at a fetch that begins before an earlier one."""
    pair = jars("fetch-offset-may-not-fall")
    # Seeds come from 0 on, and how far they come in a time is the host's doing.
    rounds = (simulate(pair, f"{seconds}s", seconds, tmp_path / "logs") for seconds in (60, 120, 240))
    found = next((each for each in rounds if each.failed), None)
    assert found, "no seed showed it in four minutes"
    assert {each.name for each in found.failed} == {
        f"{VOTERS}#aVoterThatLostItsDiskComesBackWithItsDirectoryId",
    }
    seed = found.failed[0]
    assert (seed.fails_again, seed.fails_on_base) == (True, False)
    assert "Non-monotonic update to end offset" in (tmp_path / "logs" / seed.log).read_text()
    assert len(found.blockers) == 1
    again, on_base = pair.replay(seed.name, seed.seed, tmp_path / "replay")
    assert (again.passed, on_base.passed) == (False, True)
    assert again.ended.message == seed.message
