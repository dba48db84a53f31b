"""Jars that cost more than base, on live clusters at one repeat: what nobody asked about is noticed."""

import zipfile
from pathlib import Path

import pytest

from harness.base.files import sha256_of
from harness.building.builders.ecj import ecj_of
from harness.cluster.install import Install
from harness.engine.cancel import Cancellation
from harness.engine.executor import run_cell
from harness.engine.planned_run import PlannedRun
from harness.judge.costs.beside_base import costs_of
from harness.judge.costs.limits import shipped_limits
from harness.kafka.lock import read_lock
from harness.model.arms import Role
from harness.model.costs import Cost
from harness.model.runs import Outcome, RunKey, RunResult
from harness.scenario.registry import load_all
from harness.toolbox.lockfile import Purpose

pytestmark = [pytest.mark.live, pytest.mark.clusters]

VERSION, CLIENT = "3.9.1", "org/apache/kafka/raft/KafkaRaftClient.java"
# An observer that knows no leader asks whether it may send again, and again, instead of waiting until it may.
POLLS_WITHOUT_WAITING = (
    "        return Math.min(fetchBackoffMs, state.remainingElectionTimeMs(currentTimeMs));",
    "        return quorum.isVoter() ? Math.min(fetchBackoffMs, state.remainingElectionTimeMs(currentTimeMs)) : 0L;",
)
APPENDED = "            kafkaRaftMetrics.updateFetchedRecords(info.lastOffset - info.firstOffset + 1);\n"
KEEPS_WHAT_IT_APPENDED = (
    APPENDED,
    f'{APPENDED}            System.getProperties().put("kept." + info.lastOffset, new byte[200_000]);\n',
)


@pytest.fixture
def variant(toolbox, kafka, tmp_path):
    """Return a function that installs the released jar with one edit of its client."""

    def make(edit: tuple[str, str]) -> Install:
        sources = zipfile.ZipFile(toolbox.downloads.fetch(read_lock(VERSION).one(Purpose.SOURCES)))
        text, (old, new) = sources.read(CLIENT).decode(), edit
        assert text.count(old) == 1
        (tmp_path / "src" / CLIENT).parent.mkdir(parents=True)
        (tmp_path / "src" / CLIENT).write_text(text.replace(old, new))
        made = ecj_of(toolbox).compile(tmp_path / "src", [CLIENT], kafka.jars, tmp_path / "classes", 8)
        assert made.succeeded, made.output
        jar = with_classes(kafka.raft_jar, tmp_path / "classes", tmp_path / kafka.raft_jar.name)
        return Install("jar", jar, sha256_of(jar), "absent")

    return make


def with_classes(jar: Path, folder: Path, into: Path) -> Path:
    """Write a copy of a jar in which the classes of a folder take the place of its own."""
    changed = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.class")}
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in ({each: old.read(each) for each in old.namelist()} | changed).items():
            new.writestr(name, content)
    return into


@pytest.fixture
def compared(node_parts, stock, tmp_path):
    """Return a function that runs a scenario on stock and on a jar, once each, and returns both with their costs."""

    def compare(name: str, install: Install, soak: float = 0.0) -> tuple[RunResult, RunResult, tuple[Cost, ...]]:
        found = [
            run_cell(
                PlannedRun(RunKey(name, each.name, 1), load_all()[name], role, node_parts, each, soak=soak),
                tmp_path / "run",
                lambda _: None,
                Cancellation(),
            )
            for each, role in ((stock, Role.BASE), (install, Role.ON))
        ]
        return *found, costs_of([("stock", "jar")], found, shipped_limits())

    return compare


def test_a_lost_observer_that_burns_a_core_is_over_its_limit_at_one_repeat_however_crowded_the_host_is(
    variant, compared
):
    base, _, costs = compared("turn2", variant(POLLS_WITHOUT_WAITING))
    assert base.label == "FAILED(observer_recovers)"
    assert "observer_raft_busiest_percent" in {cost.figure for cost in costs if cost.over}


@pytest.mark.whole
def test_a_leak_shows_in_a_measured_window(variant, compared):
    base, candidate, costs = compared("turn1", variant(KEEPS_WHAT_IT_APPENDED), soak=20)
    assert (base.outcome, candidate.outcome) == (Outcome.PASSED, Outcome.PASSED)
    assert "idle_observer_heap_growth_megabytes" in {cost.figure for cost in costs if cost.over}
