"""The oracle of the metadata log over kept runs: python benchmarks/metadata_logs.py RUN_DIRECTORY…

Nothing is started: each run's journal says what leaders said, its nodes' folders what lies on their disks. Runs of
stock and of sound jars must raise no alarm.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from harness.cluster.formatting import METADATA_LOG
from harness.cluster.metadata_log.broken import Broken
from harness.cluster.metadata_log.folder import LogFolder
from harness.cluster.metadata_log.looks import Watched, watch
from harness.cluster.metadata_log.oracle import Known, judge
from harness.cluster.probes import Quorum
from harness.model.events import NodeChanged, QuorumSeen
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import events_of, read_undamaged
from harness.rundir.parts import RunFolder


def found_in(run: RunFolder) -> tuple[list[Broken], int]:
    """Return what the oracle finds in a run that is over, and how many batches it read."""
    watched, found, states = Watched(), [], {}
    for event in events_of(read_undamaged(run.journal)):
        if isinstance(event, NodeChanged):
            states[event.node] = event.state
        if isinstance(event, QuorumSeen) and event.leader >= 0:
            leaders = ((event.epoch, event.leader),)
            quorum = Quorum(event.leader, event.epoch, event.high_watermark, event.voters, event.observers, {}, leaders)
            watched, broken = watch(watched, quorum)
            found += broken
    folders = {node: LogFolder(node, run.nodes / str(node) / "data" / METADATA_LOG) for node in states}
    logs = [folder.read(ended_in_order=states[node] == "stopped") for node, folder in folders.items()]
    return [*found, *judge(Known(), logs, watched)[1]], sum(len(log.batches) for log in logs)


def main(directories: list[str]) -> int:
    runs = batches = alarms = 0
    began = time.process_time()
    everything = (run for directory in directories for run in RunDirectory(Path(directory)).runs())
    for run in (run for run in everything if any(run.nodes.glob(f"*/data/{METADATA_LOG}"))):
        found, read = found_in(run)
        runs, batches, alarms = runs + 1, batches + read, alarms + bool(found)
        for broken in found:
            print(f"{run.path}: {broken.name}: {broken.reason}")
    print(f"{runs} runs, {batches} batches, {time.process_time() - began:.1f} CPU s: {alarms} with an alarm")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
