"""What finalising features comes to between the two builds of a rollout: asked of both before anything is declared."""

from __future__ import annotations

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.building.builders.base import BuildHost, host_compiler
from harness.kafka.release_lines import line_of
from harness.model.arms import Build
from harness.model.features import FeaturePlan
from harness.model.request import Request
from harness.rollout.feature_facts import read_features
from harness.rollout.features import check_levels, feature_plan
from harness.stages.arm_kafka import kafka_of
from harness.toolbox.toolbox import Toolbox


def features_of_roll(
    base: Build, candidate: Build, request: Request, toolbox: Toolbox, reporter: Reporter
) -> FeaturePlan | None:
    """Return what is finalised after the roll, None where only a raft jar is replaced; tell what going back means.

    Raises HarnessError where no jar differs, and where the candidate's nodes would not start in base's cluster.
    """
    if candidate.kafka.is_same(base.kafka):
        _check_something_differs(base, candidate)
        return None
    target = line_of(candidate.kafka.version).class_files
    compiler = host_compiler(request.builder, BuildHost(toolbox, target, reporter.report))
    before, after = (
        read_features(kafka_of(each, request, toolbox), compiler, toolbox.node_java(), toolbox.cache)
        for each in (base, candidate)
    )
    check_levels(before, after)
    plan = feature_plan(before, after)
    for sentence in plan.told:
        reporter.report(sentence)
    return plan


def _check_something_differs(base: Build, candidate: Build) -> None:
    """Raise HarnessError where a roll would replace each jar by itself, and there is no flag to set either."""
    if base.jar_sha256 == candidate.jar_sha256 and not candidate.flag.known:
        raise HarnessError(
            f"There is nothing to roll: base and the candidate are {base.kafka.label}, and no jar of them differs.",
            "Name another Kafka or another raft jar on one side (--kafka, --dist, --jar, --series, --base-…).",
        )
