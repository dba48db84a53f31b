"""Two voters move and the unmoved one stops: the observer keeps a right address, so that stock is fine too."""

from harness.scenario import has_leader, kraft, scenario, stop, voter_moves


@scenario(kraft(controllers=3, observers=1), suite=("bootstrap", "standard"), budget="4m")
def turn1(plan, cluster, observer):
    """Does the observer keep following when two of three voters have moved and the third one stops?

    This is the manual test that misled the patch's authors: nothing in it needs the patch.
    """
    voter_moves.start_all(plan, observer)
    unmoved = voter_moves.move_all_voters_but_one(plan, observer)
    with plan.phase("the unmoved voter stops"):
        plan.do(stop(unmoved))
        plan.guard(has_leader(), within="30s")
        voter_moves.expect_recovery(plan, observer)
