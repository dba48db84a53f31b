"""What the listeners of a live node serve: requests with their versions, and features (KIP-511, KIP-584)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.cluster.config import NodeConfig
from harness.cluster.probes import api_versions
from harness.model.kafka_inventory import Api, Feature


def apis_and_features(node: NodeConfig, names: Mapping[int, str]) -> tuple[tuple[Api, ...], tuple[Feature, ...]]:
    """Return the requests of both listeners, and the node's features; `names` are those of requests by number.

    Raises Unreachable.
    """
    assert node.broker is not None
    assert node.controller is not None
    answers = {"broker": api_versions(node.broker), "controller": api_versions(node.controller)}
    apis = (api for listener, answer in answers.items() for api in _apis(listener, answer, names))
    return tuple(apis), _features(answers["broker"])


def _apis(listener: str, answer: Any, names: Mapping[int, str]) -> Iterator[Api]:
    for each in sorted(answer.api_keys, key=lambda each: int(each.api_key)):
        number = int(each.api_key)
        yield Api(
            listener, number, names.get(number, f"request {number}"), int(each.min_version), int(each.max_version)
        )


def _features(answer: Any) -> tuple[Feature, ...]:
    begun = {str(each.name): int(each.max_version_level) for each in answer.finalized_features}
    return tuple(
        Feature(str(each.name), int(each.min_version), int(each.max_version), begun.get(str(each.name), 0))
        for each in sorted(answer.supported_features, key=lambda each: str(each.name))
    )
