"""When a plan needs quiet: what runs beside the clusters is held then.

docs/adr/0034-tests-run-beside-the-clusters.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from harness.scenario.steps import Expect, Guard, Measure, OnlyIf, Step

# Gives a block that lasts as long as the quiet does; several may ask at once.
Quiet = Callable[[], AbstractContextManager[None]]


def need_quiet(steps: Sequence[Step]) -> tuple[bool, ...]:
    """Return of each step whether it needs quiet: measured windows, expectations, and what leads to an expectation.

    That is everything since the last guard, a fault among it: from the fault to its recovery.
    """
    found: list[bool] = []
    leads_on = False
    for step in reversed(steps):
        if isinstance(step, Expect | Guard | OnlyIf):
            leads_on = isinstance(step, Expect)
        found.append(leads_on or isinstance(step, Measure))
    return tuple(reversed(found))
