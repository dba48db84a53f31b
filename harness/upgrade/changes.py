"""Two inventories held against each other: everything that changes for an operator, what breaks first; pure."""

from __future__ import annotations

from collections.abc import Iterable

from harness.model.kafka_inventory import ConfigOwner, KafkaInventory
from harness.model.operator_changes import SCHEMA, Area, Change, OperatorChanges, Weight
from harness.upgrade.command_changes import command_changes
from harness.upgrade.config_changes import config_changes
from harness.upgrade.figures import figure_changes, figures_of
from harness.upgrade.log_changes import log_changes
from harness.upgrade.metric_changes import metric_changes
from harness.upgrade.protocol_changes import library_changes, protocol_changes, runtime_changes

_WEIGHTS, _AREAS = list(Weight), list(Area)


def operator_changes(base: KafkaInventory, candidate: KafkaInventory) -> OperatorChanges:
    """Return what changes; an area that one of them does not know is compared with nothing, and is a gap."""
    figures = figures_of(base.boots, candidate.boots)
    changes = (
        *runtime_changes(base, candidate),
        *(protocol_changes(base, candidate) if base.apis and candidate.apis else ()),
        *config_changes(*_configurations(base, candidate)),
        *command_changes(base.commands, candidate.commands),
        *(metric_changes(base.metrics, candidate.metrics) if base.metrics and candidate.metrics else ()),
        *(log_changes(base.statements, candidate.statements) if base.statements and candidate.statements else ()),
        *figure_changes(figures),
        *library_changes(base.libraries, candidate.libraries),
    )
    return OperatorChanges(
        SCHEMA,
        base.description,
        candidate.description,
        base.digest,
        candidate.digest,
        in_order(changes),
        figures,
        _compared(base, candidate),
        gaps=tuple(dict.fromkeys((*base.gaps, *candidate.gaps))),
        booted_on=base.booted_on,
    )


def _configurations(*both: KafkaInventory) -> tuple[tuple[ConfigOwner, ...], ...]:
    """Return the configuration of each, of classes that could be asked in both."""
    unread = {owner for inventory in both for owner in inventory.unread}
    return tuple(
        tuple(each for each in inventory.configuration if each.owner.partition("#")[0] not in unread)
        for inventory in both
    )


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return changes, what breaks first; of one weight what the operator's own files name, then by area and rank."""
    return tuple(
        sorted(
            changes,
            key=lambda each: (
                _WEIGHTS.index(each.weight),
                not each.used,
                _AREAS.index(each.area),
                each.rank,
                each.where,
                each.subject,
                each.base,
                each.candidate,
            ),
        )
    )


def _compared(base: KafkaInventory, candidate: KafkaInventory) -> dict[str, tuple[int, int]]:
    return {
        Area.CONFIGURATION: (_keys(base), _keys(candidate)),
        Area.COMMANDS: (len(base.commands), len(candidate.commands)),
        Area.METRICS: (len(base.metrics), len(candidate.metrics)),
        Area.PROTOCOL: (len(base.apis), len(candidate.apis)),
        Area.LOGS: (len(base.statements), len(candidate.statements)),
        Area.LIBRARIES: (len(base.libraries), len(candidate.libraries)),
    }


def _keys(inventory: KafkaInventory) -> int:
    return len({key.name for owner in inventory.configuration for key in owner.keys})
