"""Levels of a live broker's loggers (KIP-412)."""

from __future__ import annotations

from kio.schema.errors import ErrorCode
from kio.static.primitive import i8

from harness.cluster.address import Address
from harness.cluster.protocol import Wire, ask, fitting
from harness.cluster.voter_changes import Answer

_BROKER_LOGGER, _SET = i8(8), i8(0)  # ConfigResource.Type, AlterConfigOp.OpType
_TIMEOUT_SECONDS = 5.0


def set_level(wire: Wire, broker: Address, node: int, logger: str, level: str) -> Answer:
    """Have a broker log a class at `DEBUG`, `INFO` or another level. Raises Unreachable."""
    of = wire.schemas("incremental_alter_configs", broker)
    config = of.AlterableConfig(name=logger, config_operation=_SET, value=level)
    resource = of.AlterConfigsResource(resource_type=_BROKER_LOGGER, resource_name=str(node), configs=(config,))
    request = fitting(of.IncrementalAlterConfigsRequest, resources=(resource,), validate_only=False)
    answer = ask(broker, request, timeout=_TIMEOUT_SECONDS)
    wrong = next((each for each in answer.responses if each.error_code is not ErrorCode.none), None)
    return Answer(wrong.error_code.name, wrong.error_message or "") if wrong else Answer(ErrorCode.none.name)
