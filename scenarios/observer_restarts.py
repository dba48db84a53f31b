"""An observer restarts in each state that its disk and its configuration can be in."""

from harness.scenario import (
    fails,
    follows_leader,
    has_leader,
    has_new_leader,
    kill,
    kraft,
    restart,
    runs,
    scenario,
    start,
    stop,
    voter_moves,
    voters_caught_up,
)
from harness.scenario.bounds import RecoveryBound


@scenario(
    kraft(controllers=3, observers=1),
    suite="gaps",
    budget="6m",
    properties=voter_moves.SHORT_SESSIONS,
    expected=fails("observer_follows_by_its_disk", known=voter_moves.ASKS_CONFIGURED_ONLY),
)
def observer_restarts(plan, cluster, observer):
    """Does an observer whose configured addresses are stale find the leader when it restarts?

    Under the leader that its disk knows; with its configuration corrected and its disk stale, after all voters moved;
    and with a disk that knows all voters, after the leader that it knew went while it was down.
    """
    bound = RecoveryBound(voters=3)
    voters = voter_moves.start_with_stale_addresses(plan, observer)
    with plan.phase("it restarts under the same leader"):
        plan.do(restart(observer))
        plan.guard(has_leader(), within="10s")
        plan.expect(follows_leader(observer), within=bound, named="observer_follows_after_restart")
    with plan.phase("all voters move while it is down, and its configuration is corrected"):
        plan.do(stop(observer))
        for voter in voters:
            voter_moves.move(plan, voter)
        plan.do(start(observer, knows=cluster.leader))
        plan.guard(has_leader(), within="10s")
        plan.expect(follows_leader(observer), within=bound, named="observer_follows_by_corrected_configuration")
    with plan.phase("the leader goes while it is down"):
        plan.do(stop(observer), stop(cluster.leader))
        plan.guard(has_new_leader(), voters_caught_up(), within="30s")
        plan.do(start(observer))
        plan.expect(follows_leader(observer), within=bound, named="observer_follows_by_its_disk")
    with plan.phase("it restarts again"):
        plan.do(kill(observer), start(observer))
        plan.guard(has_leader(), within="10s")
        plan.expect(follows_leader(observer), within=bound, named="observer_follows_after_another_restart")
    with plan.afterwards(), plan.phase("the lost observer restarts"):
        plan.do(kill(observer), when=runs(observer))
        plan.do(start(observer))
        plan.guard(has_leader(), within="10s")
        plan.expect(follows_leader(observer), within=bound, named="lost_observer_recovers_by_a_restart")
