"""Two voters move and the unmoved one stops: the observer keeps a right address, so that stock is fine too."""

from harness.scenario import kraft, rolls, scenario


@scenario(kraft(controllers=3, observers=1), suite="bootstrap", budget="4m")
def turn1(plan, cluster, observer):
    """Does the observer keep following when two of three voters have moved and the third one stops?

    This is the manual test that misled the patch's authors: nothing in it needs the patch.
    """
    rolls.start_all(plan, cluster, observer)
    unmoved = rolls.move_all_voters_but_one(plan, cluster, observer)
    with plan.phase("the unmoved voter stops"):
        plan.do(unmoved.stop())
        plan.guard(cluster.has_leader(), within="30s")
        rolls.expect_recovery(plan, cluster, observer)
