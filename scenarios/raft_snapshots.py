"""Snapshots of the metadata log, by time and by size, fetched by who needs them; and the log cut behind them."""

from harness.scenario import (
    create_topics,
    has_logged,
    kraft,
    raft_lines,
    scenario,
    start,
    starts_at_snapshot,
    stop,
    voter_moves,
    wipe,
)

# A snapshot every ten seconds, and after every 20 KB of records: that of a topic has a few hundred bytes. Segments of
# two seconds, and nothing kept that a snapshot has; Kafka cleans once a minute.
SMALL_LOG = {
    "metadata.log.max.snapshot.interval.ms": "10000",
    "metadata.log.max.record.bytes.between.snapshots": "20000",
    "metadata.log.segment.ms": "2000",
    "metadata.max.retention.bytes": "1",
    **voter_moves.SHORT_SESSIONS,
}
DEDICATED = kraft(controllers=3, observers=1, combined=False)


@scenario(DEDICATED, suite="raft", budget="3m", properties=SMALL_LOG)
def raft_snapshots(plan, cluster, observer):
    """Are snapshots taken by time and by size, and fetched by who lost its disk, and is the log cut behind them?"""
    voter_moves.start_all(plan, observer)
    leader, away, _ = plan.name_voters("leader", "voter that loses its disk", "voter that keeps it")
    with plan.phase("a snapshot by time"):
        by_time = has_logged(leader, *raft_lines.SNAPSHOT_BY_TIME)
        plan.expect(by_time, within="30s", named="snapshot_is_taken_by_time")
    with plan.phase("a snapshot by size"):
        plan.do(create_topics("many", 200))
        by_size = has_logged(leader, *raft_lines.SNAPSHOT_BY_SIZE)
        plan.expect(by_size, within="20s", named="snapshot_is_taken_by_size")
    with plan.phase("a snapshot is fetched"):
        plan.do(stop(away), wipe(away), start(away))
        fetched = has_logged(away, *raft_lines.FETCHES_SNAPSHOT)
        plan.expect(fetched, within="20s", named="snapshot_is_fetched")
        begins = has_logged(away, *raft_lines.BEGINS_AT_SNAPSHOT)
        plan.expect(begins, within="20s", named="log_begins_at_snapshot")
        plan.expect(starts_at_snapshot(away), within="5s", named="voter_starts_at_snapshot")
        voter_moves.expect_whole(plan, observer, "after_snapshot_was_fetched")
    with plan.phase("the log is cut"):
        moved = has_logged(leader, *raft_lines.LOG_START_MOVED)
        plan.expect(moved, within="90s", named="log_start_moves")
        plan.expect(starts_at_snapshot(leader), within="5s", named="log_is_cut")
        deleted = has_logged(leader, *raft_lines.SEGMENT_DELETED)
        plan.expect(deleted, within="5s", named="segments_are_deleted")
        plan.expect(has_logged(leader, *raft_lines.SNAPSHOT_DELETED), within="5s", named="older_snapshot_is_deleted")
        voter_moves.expect_whole(plan, observer, "after_log_was_cut")
