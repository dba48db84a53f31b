"""The Kafka that each arm's nodes run: found again where run.json declares it, and seen to be the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from harness.base.errors import HarnessError
from harness.cluster.prepare import NodeParts
from harness.kafka.distribution import Distribution, as_declared, changed_jar, distribution_of
from harness.model.arms import Arm, Build, Kafka
from harness.model.request import Request
from harness.stages.node_parts import prepare_node_parts
from harness.toolbox.toolbox import Toolbox


def kafka_of(build: Build, request: Request, toolbox: Toolbox) -> Distribution:
    """Return the Kafka that a declared build runs in.

    A folder of before the harness knew has one for all arms, which the request names. Raises HarnessError when a jar of
    it is another than was declared.
    """
    declared = build.kafka
    if not declared.jars:
        return distribution_of(request.base_dist, build.kafka_version, toolbox)
    place = Path(declared.place) if declared.place else None
    found = distribution_of(place, declared.version, toolbox)
    if name := changed_jar(declared, as_declared(found, place)):
        raise HarnessError(
            f"{name} of {found.description} is not the jar that run.json declares for {build.name}.",
            "What was declared cannot be run any more: put that Kafka back, or begin anew.",
        )
    return found


def parts_of_arms(
    arms: Iterable[Arm], request: Request, toolbox: Toolbox, report: Callable[[str], None]
) -> Mapping[str, NodeParts]:
    """Prepare what the nodes of each arm are made of, by the arm's name; once for arms of one Kafka."""
    made: list[tuple[Kafka, NodeParts]] = []
    found: dict[str, NodeParts] = {}
    for arm in arms:
        known = next((parts for kafka, parts in made if kafka == arm.build.kafka), None)
        if known is None:
            known = prepare_node_parts(request, kafka_of(arm.build, request, toolbox), toolbox, report)
            made.append((arm.build.kafka, known))
        found[arm.name] = known
    return found
