"""Nodes that lost their disk come back through a snapshot, before and after the log was cut."""

from harness.scenario import (
    add_controller,
    create_topics,
    has_new_leader,
    has_snapshot,
    is_cut_like,
    is_up,
    kill,
    kraft,
    leads,
    quorum_is_described,
    remove_controller,
    scenario,
    sees_topic,
    start,
    starts_at_snapshot,
    stop,
    voter_moves,
    votes,
    votes_no_more,
    wipe,
)
from harness.scenario.bounds import AN_ELECTION

# A snapshot every five seconds, segments of two, and nothing kept that the newest snapshot has: within a minute the
# beginning of the log is gone. Kafka cleans once a minute (KafkaRaftClient: RaftMetadataLogCleanerManager).
SMALL_LOG = {
    "metadata.log.max.snapshot.interval.ms": "5000",
    "metadata.log.segment.ms": "2000",
    "metadata.max.retention.bytes": "1",
    **voter_moves.SHORT_SESSIONS,
}


@scenario(kraft(controllers=3, observers=1), suite="standard", budget="5m", properties=SMALL_LOG)
def snapshots(plan, cluster, observer):
    """Do a broker and voters that lost their disk catch up through a snapshot, and can they lead then?"""
    voter_moves.start_all(plan, observer)
    with plan.phase("the broker loses its disk"):
        leader, first, second = plan.name_voters("leader", "first to lose its disk", "second to lose its disk")
        plan.do(create_topics("before", 20))
        plan.guard(has_snapshot(leader), within="30s")
        plan.do(stop(observer), wipe(observer, identity="new"), create_topics("meanwhile", 20), start(observer))
        voter_moves.expect_whole(plan, observer, "after_broker_lost_disk")
        plan.expect(starts_at_snapshot(observer), within="5s", named="broker_fetched_snapshot")
        plan.expect(sees_topic(observer, "meanwhile-19"), within="5s", named="broker_knows_metadata")
    with plan.phase("a voter loses its disk"):
        plan.do(stop(first), wipe(first), create_topics("later", 20), start(first))
        voter_moves.expect_whole(plan, observer, "after_voter_lost_disk")
        plan.expect(starts_at_snapshot(first), within="5s", named="voter_fetched_snapshot")
    with plan.phase("another voter gets a new disk"):
        plan.do(stop(second), remove_controller(second))
        plan.expect(votes_no_more(second), within="5s", named="removed_voter_is_unlisted")
        plan.do(wipe(second, identity="new"), start(second))
        plan.guard(is_up(), within="45s")
        plan.do(add_controller(second))
        plan.expect(votes(second), within="5s", named="added_voter_is_listed")
        plan.expect(quorum_is_described(), within="10s", named="added_voter_is_described")
        voter_moves.expect_whole(plan, observer, "after_voter_got_new_disk")
    with plan.phase("the log is cut"):
        plan.expect(starts_at_snapshot(leader), within="90s", named="log_is_cut")
        plan.do(stop(first), wipe(first), start(first))
        voter_moves.expect_whole(plan, observer, "after_log_was_cut")
    with plan.phase("the only voter that kept its disk dies"):
        plan.guard(leads(leader), within="5s")
        plan.do(kill(leader))
        plan.expect(has_new_leader(), within=AN_ELECTION, named="restored_voter_leads")
        plan.do(create_topics("last", 1))
        plan.expect(sees_topic(observer, "last-0"), within="15s", named="metadata_goes_on")
    with plan.phase("nothing happens"):
        plan.measure("idle", "20s")
    with plan.phase("every log is cut"):
        plan.expect(is_cut_like(observer, leader), within="75s", named="log_of_broker_is_cut")
        plan.expect(is_cut_like(second, leader), within="75s", named="log_of_voter_is_cut")
