"""An observer stands still for longer than its fetch time-out, as on a host that hangs, while its leader lives on."""

from harness.scenario import fails, follows_leader, has_leader, hold, kraft, let_pass, release, scenario, voter_moves
from harness.scenario.bounds import RecoveryBound


@scenario(
    kraft(controllers=3, observers=1),
    suite="gaps",
    budget="4m",
    expected=fails("observer_follows_after_pause", known="KAFKA-19354", before="4.2"),
)
def observer_held(plan, cluster, observer):
    """Does an observer whose configured addresses are stale follow its leader again after it stood still for 6 s?"""
    voter_moves.start_with_stale_addresses(plan, observer)
    with plan.phase("the observer stands still"):
        plan.do(hold(observer), let_pass("6s"), release(observer))
        plan.guard(has_leader(), within="10s")
        plan.expect(follows_leader(observer), within=RecoveryBound(voters=3), named="observer_follows_after_pause")
