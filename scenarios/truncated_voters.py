"""Voters that are written where an observer has truncated its log."""

from harness.scenario import (
    append_in_vain,
    fails,
    follows_leader,
    has_leader,
    has_logged,
    has_new_leader,
    has_uncommitted_tail,
    hold_followers,
    is_up,
    kill,
    kraft,
    let_pass,
    register_endpoint,
    release_followers,
    restart,
    scenario,
    start,
    start_voters,
    stop,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import RecoveryBound

STARTED = "Kafka Server started"


@scenario(
    kraft(controllers=3, observers=1),
    suite="gaps",
    budget="5m",
    properties=voter_moves.SHORT_SESSIONS,
    expected=fails("observer_reads_replaced_voters", known="docs/upstream/unread-voters-after-truncation.md"),
)
def truncated_voters(plan, cluster, observer):
    """Does an observer read the voters that are written in place of records which it has truncated?

    It fetched 400 records of a leader without a majority. In 3.9.1 it reads none of those that take their offsets
    (KRaftControlRecordStateMachine.truncateNewEntries leaves the offset up to which it has read where it was).
    """
    with plan.phase("start"):
        plan.do(start_voters())
        plan.guard(is_up(), has_leader(), within="90s")
        lost, known, third = plan.name_voters("leader that is lost", "voter that the observer knows", "third voter")
        plan.do(start(observer, knows=known))
        plan.guard(is_up(), voters_caught_up(), follows_leader(observer), within="60s")
    with plan.phase("the leader appends alone, and dies"):
        # A fetch that waits at the leader would be answered with the records: it waits for half a second at most.
        plan.do(hold_followers(), let_pass("1s"), append_in_vain(lost, topics=200))
        plan.guard(has_uncommitted_tail(lost), within="2s")
        plan.do(kill(lost), release_followers())
        plan.guard(has_new_leader(), within="30s")
        plan.guard(has_logged(observer, "Truncated to offset"), follows_leader(observer), within="30s")
    with plan.phase("voters move, in the place of what was truncated"):
        # It truncates its log as well. Where it moves it starts again, and reads all of it; else it could not vote for
        # who moves next.
        plan.do(start(lost))
        plan.guard(has_leader(), voters_caught_up(), has_logged(lost, STARTED), within="60s")
        _move(plan, lost)
        # A leader that moved would be missed at once by an observer which knows no other voter: another one leads then.
        plan.do(restart(known))
        plan.guard(has_leader(), voters_caught_up(), has_logged(known, STARTED), within="60s")
        plan.guard(follows_leader(observer), within="30s")
        _move(plan, known)
        plan.guard(follows_leader(observer), within="30s")
    with plan.phase("only voters are left that moved, and both are gone for longer than a fetch time-out"):
        plan.do(stop(third))
        plan.guard(has_leader(), voters_caught_up(), within="30s")
        # Whoever leads then, the observer has to look for: nobody is where it was before, for all that it has read.
        plan.do(kill(lost), kill(known), let_pass("3s"), start(lost), start(known))
        plan.guard(has_leader(), voters_caught_up(), within="60s")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_reads_replaced_voters")


def _move(plan, voter):
    """Move and register a voter; whether every broker is still unfenced is not asked.

    The observer's broker looks for the active controller where its voter set says, and that is what it does not read.
    """
    plan.do(restart(voter, ports="new"))
    plan.guard(has_leader(), voters_caught_up(), has_logged(voter, STARTED), within="60s")
    plan.do(register_endpoint(voter))
    plan.guard(voters_caught_up(), within="30s")
