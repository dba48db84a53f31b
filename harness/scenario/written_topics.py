"""A stretch of plan for the end of what befell replicas: every topic that clients wrote to is whole, and the same."""

from __future__ import annotations

from harness.scenario.conditions.isr_is_whole import isr_is_whole
from harness.scenario.conditions.replicas_agree import replicas_agree
from harness.scenario.loads.ledger import KeepLedger
from harness.scenario.loads.records import Records
from harness.scenario.plan import Plan
from harness.scenario.steps import Background, Step


def expect_whole(plan: Plan) -> None:
    """Expect every replica of each topic that a load writes to to be in sync again, and to hold the same batches.

    Every broker must be up by then, and every link good.
    """
    with plan.phase("replicas are compared"):
        for topic in filter(None, map(_written_by, plan.steps)):
            named = topic.replace("-", "_")
            plan.expect(isr_is_whole(topic), within="30s", named=f"isr_is_whole_of_{named}")
            plan.expect(replicas_agree(topic), within="20s", named=f"replicas_agree_on_{named}")


def _written_by(step: Step) -> str:
    """Return the topic that a step begins to write to, empty for none."""
    load = step.load if isinstance(step, Background) else None
    return load.topic if isinstance(load, KeepLedger | Records) else ""
