"""The canary of the metadata log: it raises every alarm, and finds out an oracle that is dumb, or always speaks."""

import pytest
from log_bytes import segment

from harness.cluster.metadata_log.broken import COMMITTED_STAYS, Broken
from harness.model.events import QuorumSeen
from harness.rundir.journal import Journal
from harness.rundir.parts import RunFolder
from harness.selftest import log_tampering
from harness.selftest.canary import NotDetected
from harness.selftest.log_tampering import alarms

STATE = '{"leaderId":0,"leaderEpoch":2,"votedId":-1,"data_version":1}'


@pytest.fixture
def run(tmp_path):
    """Return a run that three voters have left, without a fault."""
    run = RunFolder(tmp_path, "runs/canary/stock/1")
    for node in range(3):
        log = run.nodes / str(node) / "data" / "__cluster_metadata-0"
        log.mkdir(parents=True)
        (log / "../meta.properties").write_text("")
        (log / "partition.metadata").write_text("")
        (log / "quorum-state").write_text(STATE)
        (log / "00000000000000000000.log").write_bytes(segment(*[(1, [b"a"])] * 3, *[(2, [b"b"])] * 3))
    with Journal(run.journal) as journal:
        journal.write(QuorumSeen(0, 2, 6, {0: 6, 1: 6, 2: 6}))
    return run


def test_every_promise_is_seen_to_break_by_its_tampering(run, tmp_path):
    assert alarms(run, tmp_path / "scratch").split(", ") == [
        "metadata_log_whole",
        "metadata_logs_agree",
        "epoch_never_falls",
        "committed_stays",
        "quorum_state_agrees",
        "high_watermark_never_falls",
    ]


def test_an_oracle_that_says_nothing_is_found_out(run, tmp_path, monkeypatch):
    monkeypatch.setattr(log_tampering, "judge", lambda known, *_: (known, ()))
    with pytest.raises(NotDetected, match="instead of metadata_log_whole"):
        alarms(run, tmp_path / "scratch")


def test_an_oracle_that_always_speaks_is_found_out(run, tmp_path, monkeypatch):
    monkeypatch.setattr(log_tampering, "judge", lambda known, *_: (known, (Broken(COMMITTED_STAYS, "gone"),)))
    with pytest.raises(NotDetected, match="the logs as they were break"):
        alarms(run, tmp_path / "scratch")
