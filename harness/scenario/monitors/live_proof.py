"""Every node must run what was installed on it, as seen on the live process, and log where the harness reads."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from harness.cluster.cluster import Cluster
from harness.cluster.node import Node, NodeState
from harness.cluster.observed_arm import apart_from_base, mismatch
from harness.cluster.protocol import Unreachable
from harness.model.events import NodeProved, Noted
from harness.model.incidents import Incident, IncidentKind
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.verbs import monitor


@monitor
class LiveProof(Monitor):
    """Looks at each node when it has become ready; a node that never was ready was never seen."""

    name: ClassVar[str] = "live_proof"

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._proved: set[int] = set()

    def on_node(self, node: Node, line: int) -> None:  # noqa: ARG002
        """Look at a node that has become ready."""
        if node.state is NodeState.READY:
            self._prove(node)

    def _look_at_log(self, node: Node) -> None:
        """Without its log nothing is compared, and rules of Raft judge nothing; both would say that all is well."""
        with suppress(FileNotFoundError):
            if node.log_file.stat().st_size:
                return
        story = (
            f"node {node.id} is ready and wrote nothing into its {node.log_file.name}: its Kafka may log by another "
            "library than its release line does"
        )
        self._report(IncidentKind.HARNESS_FAILED, story, self.record.write(Noted(story, node.id)))

    def _prove(self, node: Node) -> None:
        try:
            proof = node.prove(self.record.flag_key)
        except (Unreachable, OSError) as error:
            if node.is_running:  # else it was stopped while being asked
                line = self.record.write(NodeProved(node.id, error=str(error)))
                self._report(IncidentKind.NOT_PROVED, f"what node {node.id} runs could not be checked: {error}", line)
            return
        seen = NodeProved(node.id, proof.pid, Path(proof.jar).name, proof.sha256, proof.flag, self.record.java)
        apart = apart_from_base(proof, node.install.base_jars) if node.install.base_jars else ()
        line = self.record.write(replace(seen, jars=len(proof.jars), differing=apart))
        if problem := mismatch(proof, node.install):
            self._report(IncidentKind.WRONG_BUILD, f"node {node.id} {problem}", line)
        self._proved.add(node.id)
        self._look_at_log(node)

    def after(self) -> None:
        """Every node that was started must have been seen."""
        missing = sorted(
            node.id for node in self.cluster.nodes.values() if node.was_started and node.id not in self._proved
        )
        if missing:
            story = f"nodes {missing} were never ready, so what they run was not checked"
            self._report(IncidentKind.NEVER_PROVED, story, self.record.write(NodeProved(missing[0], error=story)))

    def _report(self, kind: IncidentKind, story: str, line: int) -> None:
        self.record.report(Incident(kind, self.name, story), line)
