"""How the quorum got on: elections, pauses of its high watermark, and observers that fell behind."""

from harness.cluster.probes import Quorum
from harness.engine.quorum_progress import QuorumProgress
from harness.engine.watch import Look


def figures(*looks):
    progress = QuorumProgress()
    for at, leader, epoch, high_watermark, end, observer in looks:
        quorum = Quorum(leader, epoch, high_watermark, {leader: end} if leader >= 0 else {}, {3: observer})
        progress.on_look(Look(at, quorum, {}))
    return progress.measures()


def test_a_quorum_that_gets_on_pauses_for_a_no_op_at_most():
    found = figures((0.0, 1, 2, 10, 10, 10), (0.5, 1, 2, 11, 11, 10), (1.0, 1, 2, 12, 12, 12))
    assert found == {"leader_changes": 0, "high_watermark_pause_seconds": 0.5, "observer_lag_records": 1}


def test_an_election_is_counted_once_and_its_pause_lasts_until_the_high_watermark_grows():
    found = figures(
        (0.0, 1, 2, 10, 10, 10),
        (0.5, -1, -1, -1, -1, 10),
        (2.0, 0, 3, 10, 11, 10),
        (2.5, 0, 3, 12, 12, 10),
        (3.0, 0, 3, 13, 13, 13),
    )
    assert found == {"leader_changes": 1, "high_watermark_pause_seconds": 2.5, "observer_lag_records": 2}


def test_a_pause_that_has_not_ended_counts():
    assert figures((0.0, 1, 2, 10, 10, 10), (9.0, 1, 2, 10, 10, 10))["high_watermark_pause_seconds"] == 9.0


def test_an_observer_that_has_not_fetched_yet_is_not_behind():
    assert figures((0.0, 1, 2, 10, 10, -1))["observer_lag_records"] == 0
