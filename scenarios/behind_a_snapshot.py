"""An observer that is far behind learns the voters from a snapshot."""

from harness.scenario import (
    create_topics,
    fails,
    follows_leader,
    has_new_leader,
    has_snapshot,
    is_up,
    kraft,
    let_pass,
    scenario,
    start,
    starts_at_snapshot,
    stop,
    voter_moves,
    voters_caught_up,
    wipe,
)
from harness.scenario.bounds import RecoveryBound

EVERY_FIVE_SECONDS = {"metadata.log.max.snapshot.interval.ms": "5000", **voter_moves.SHORT_SESSIONS}


@scenario(
    kraft(controllers=3, observers=1),
    suite="gaps",
    budget="5m",
    properties=EVERY_FIVE_SECONDS,
    expected=fails("observer_recovers_after_snapshot", known=voter_moves.ASKS_CONFIGURED_ONLY),
)
def behind_a_snapshot(plan, cluster, observer):
    """Does an observer that got newer voters by a snapshot, from its one right address, find the next leader?"""
    voter_moves.start_all(plan, observer)
    leader, first, second = plan.name_voters("first leader", "second voter", "third voter")
    with plan.phase("the followers move while the observer is down"):
        plan.do(stop(observer))
        voter_moves.move(plan, first)
        voter_moves.move(plan, second)
        plan.do(create_topics("meanwhile", 20), let_pass("6s"))
        plan.guard(has_snapshot(leader), within="30s")
    with plan.phase("the observer fetches the snapshot"):
        plan.do(wipe(observer, identity="new"), start(observer, knows=cluster.leader))
        plan.guard(is_up(), follows_leader(observer), within="60s")
        plan.guard(starts_at_snapshot(observer), voters_caught_up(), within="10s")
    with plan.phase("the leader stops"):
        plan.do(stop(cluster.leader))
        plan.guard(has_new_leader(), within="30s")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_recovers_after_snapshot")
