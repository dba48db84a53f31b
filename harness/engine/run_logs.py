"""Which logs a run left, for the log diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.cluster.config import LOG_PATTERN
from harness.engine.planned_run import PlannedRun
from harness.model.node_logs import NodeLogs, PhaseSpan
from harness.rundir.parts import RunFolder


def node_logs(
    cell: PlannedRun,
    folder: RunFolder,
    phases: Sequence[PhaseSpan],
    names: Mapping[str, str],
    roles: Mapping[int, Mapping[str, str]],
) -> tuple[NodeLogs, ...]:
    """Return the log of every node that wrote one; `roles` is what each node was in each phase."""
    topology = cell.scenario.topology
    return tuple(
        NodeLogs(
            cell.key.scenario,
            cell.key.arm,
            cell.key.repeat,
            node,
            "voter" if node in topology.controller_ids else topology.observer_word,
            (folder.evidence(folder.node_log(node)).path,),
            LOG_PATTERN,
            tuple(phases),
            names,
            roles.get(node, {}),
        )
        for node in topology.node_ids
        if folder.node_log(node).exists()
    )
