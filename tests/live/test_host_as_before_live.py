"""A harness that ends in the middle of a cut leaves the host as it was, however it ends."""

import shutil
import signal
from pathlib import Path

import psutil
import pytest
from host_state import changed, host_state

from harness.base.waiting import wait_until
from harness.cluster.runtime.namespace_runtime import why_not
from harness.model.events import FaultChanged
from harness.rundir.journal import events_of, read_journal

pytestmark = [
    pytest.mark.live,
    pytest.mark.clusters,
    pytest.mark.whole,
    pytest.mark.skipif(bool(why_not()), reason=f"no networks here: {why_not()}"),
    pytest.mark.skipif(shutil.which("ip") is None, reason="nothing here lists links and rules: no ip (iproute2)"),
]
VERIFY = ("verify", "--fresh", "--scenario", "partitions", "--arms", "base", "--claims", "none", "--out", "run")


@pytest.fixture
def before(tmp_path):
    return host_state(tmp_path)


def is_cut(run):
    """Whether a cut is in effect: it was proved, and has not ended."""
    journals = run.glob("runs/partitions/*/1/journal.jsonl")
    events = [event for journal in journals for event in events_of(read_journal(journal))]
    statuses = [event.status for event in events if isinstance(event, FaultChanged)]
    return statuses[-1:] == ["proved"]


def network_of(pid):
    try:
        return Path(f"/proc/{pid}/ns/net").readlink()
    except OSError:  # it ended meanwhile
        return None


def lives(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@pytest.mark.parametrize(
    ("ending", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)], ids=["SIGINT", "SIGKILL"]
)
def test_a_harness_that_ends_in_the_middle_of_a_cut_leaves_the_host_as_it_was(
    before, start_harness, tmp_path, ending, code
):
    harness = start_harness(*VERIFY)
    assert wait_until(lambda: harness.poll() is not None or is_cut(tmp_path / "run"), 300)
    assert harness.poll() is None, harness.stdout.read()
    children = psutil.Process(harness.pid).children(recursive=True)
    networks = {network_of(child.pid) for child in children} - {network_of("self"), None}
    assert len(networks) >= 4, "each node has a host of its own, which is what could be left"
    harness.send_signal(ending)
    told, _ = harness.communicate(timeout=60)
    assert harness.returncode == code, told
    assert wait_until(lambda: not any(map(lives, children)), 30)
    wait_until(lambda: not changed(before, host_state(tmp_path)), 10)
    assert changed(before, host_state(tmp_path)) == []
