"""The folders within a run directory: those of a run, of a build, of its proof, and of the log diff."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from harness.base.errors import HarnessError
from harness.base.recordfile import RecordFile
from harness.model import kafka_inventory, operator_changes, stock_noise, topic_ids
from harness.model.arms import Build
from harness.model.findings import Contrast
from harness.model.kafka_inventory import KafkaInventory
from harness.model.log_comparison import LogComparison
from harness.model.log_totals import Totals
from harness.model.node_logs import NodeLogs
from harness.model.operator_changes import OperatorChanges
from harness.model.proof import Coverage, Proof
from harness.model.rollout import Rehearsal
from harness.model.runs import Evidence, RunKey, RunResult
from harness.model.seal import Seal
from harness.model.stock_noise import StockNoise
from harness.model.topic_ids import TopicIdCheck

NODE_LOG = "server.log"  # what a node logs by log4j
NODE_OUTPUT = "stdout.log"  # what its JVM prints
NODE_FIGURES = "figures.txt"  # what it counts of itself, a line a second
SHUTDOWN_LOG = "shutdown.log"  # what a node logs when the plan is over and it is asked to stop
NODE_DATA = "data"  # its `log.dirs`
JOURNAL = "journal.jsonl"
CRASH = "crash.txt"
RESULT = "result.json"
# What Kafka keeps of a node: read while the run lasts, and what is found in it is copied beside it.
STORAGE_OF_NODES = re.compile(r"(?:.*/)?(?P<run>runs/[^/]+/[^/]+/[^/]+)/(?:[^/]+/){1,2}data/.+")


def shutdown_log(log: str) -> str:
    """Return what a node logs beside its log, when the plan is over."""
    return str(PurePosixPath(log).with_name(SHUTDOWN_LOG))


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run; `name` is its path in the run directory `root`, such as `runs/turn2/stock/1`."""

    root: Path
    name: str

    @property
    def path(self) -> Path:
        """The folder itself."""
        return self.root / self.name

    @property
    def of_scenario(self) -> Path:
        """The folder of all runs of its scenario, on every arm."""
        return self.path.parents[1]

    @property
    def key(self) -> RunKey:
        """The run that the folder is named after; repeat 0 where its name is no number."""
        scenario, arm, repeat = self.path.parts[-3:]
        return RunKey(scenario, arm, int(repeat) if repeat.isdecimal() else 0)

    @property
    def plan(self) -> RecordFile[tuple[tuple[str, str], ...]]:
        """The steps as pairs of kind and words, written before anything starts."""
        return RecordFile(self.path / "plan.json", tuple[tuple[str, str], ...])

    @property
    def journal(self) -> Path:
        """Everything that happened, one event a line."""
        return self.path / JOURNAL

    @property
    def crash(self) -> Path:
        """Where the process of the run was when it crashed, thread by thread."""
        return self.path / CRASH

    @property
    def logs(self) -> RecordFile[tuple[NodeLogs, ...]]:
        """Which logs the nodes left."""
        return RecordFile(self.path / "logs.json", tuple[NodeLogs, ...], translate=_refuse_outside)

    @property
    def seal(self) -> RecordFile[Seal]:
        """What the run was made with."""
        return RecordFile(self.path / "seal.json", Seal)

    @property
    def result(self) -> RecordFile[RunResult]:
        """What the run showed; written last."""
        return RecordFile(self.path / RESULT, RunResult)

    @property
    def rehearsal(self) -> RecordFile[Rehearsal]:
        """What a rehearsal of schema 1 showed: its journal lacks the turns. Only a conversion writes it."""
        return RecordFile(self.path / "rehearsal.json", Rehearsal)

    @property
    def execution_data(self) -> Path:
        """What JaCoCo's agent recorded, in a run that measures coverage."""
        return self.path / "reached.exec"

    @property
    def metadata_logs(self) -> Path:
        """The folder of what was kept of metadata logs in which something was found."""
        return self.path / "metadata-logs"

    def ledger(self, topic: str) -> Path:
        """Return what became of each record of a topic, one entry a line."""
        return self.path / f"ledger-{topic}.tsv"

    @property
    def nodes(self) -> Path:
        """The folder of the nodes' folders."""
        return self.path / "nodes"

    def node_log(self, node: int) -> Path:
        """Return the log of a node."""
        return self.nodes / str(node) / NODE_LOG

    def evidence(self, path: Path, line: int = 0, excerpt: str = "") -> Evidence:
        """Return a place in a file of this folder as evidence."""
        return Evidence(path.relative_to(self.root).as_posix(), line, excerpt)


@dataclass(frozen=True, slots=True)
class BuildFolder:
    """The folder of one build."""

    path: Path

    @property
    def record(self) -> RecordFile[Build]:
        """How the jar was made; the sign of a whole build."""
        return RecordFile(self.path / "build.json", Build)

    @property
    def log(self) -> Path:
        """What compiler and patch printed."""
        return self.path / "build.log"

    @property
    def sources(self) -> Path:
        """The module's Java files as they were compiled, where they are known."""
        return self.path / "sources"

    def jar(self, kafka_version: str) -> Path:
        """Return where the jar is kept."""
        return self.path / f"kafka-raft-{kafka_version}.jar"


@dataclass(frozen=True, slots=True)
class ProofFolder:
    """The folder with everything that was proved of one build."""

    path: Path

    @property
    def proof(self) -> RecordFile[Proof]:
        """Differences, tests, answers of the source, claims."""
        return RecordFile(self.path / "proof.json", Proof)

    @property
    def coverage(self) -> RecordFile[Coverage]:
        """Which changed lines ran in which scenario."""
        return RecordFile(self.path / "coverage.json", Coverage)

    @property
    def rules(self) -> Path:
        """The digest of the harness that made the proof, as text."""
        return self.path / "rules"

    @property
    def junit(self) -> Path:
        """The folder of JUnit XML of the tests on the jar."""
        return self.path / "junit"

    @property
    def simulation(self) -> Path:
        """The folder of logs of simulations that failed."""
        return self.path / "simulation"


def noise_file(path: Path) -> RecordFile[StockNoise]:
    """Return a file of noise that was learned."""
    return RecordFile(
        path, StockNoise, schema=stock_noise.SCHEMA, remedy="Delete it, or learn it again: harness noise learn."
    )


@dataclass(frozen=True, slots=True)
class LogsFolder:
    """The results of a log diff: `logs/` of a run directory, or what `harness diff A B --out` names."""

    path: Path

    @property
    def counts(self) -> Path:
        """The folder of template counts, partitioned by run, scenario and arm."""
        return self.path / "counts"

    @property
    def totals(self) -> RecordFile[Totals]:
        """What was read, and what was left out."""
        return RecordFile(self.path / "totals.json", Totals)

    @property
    def findings(self) -> RecordFile[tuple[Contrast, ...]]:
        """The log differences of each pair of arms."""
        return RecordFile(self.path / "findings.json", tuple[Contrast, ...])

    @property
    def comparison(self) -> RecordFile[LogComparison]:
        """Of which results the logs were compared; only in a run directory."""
        return RecordFile(self.path / "compared.json", LogComparison)

    @property
    def noise(self) -> RecordFile[StockNoise]:
        """What was known of base's jar before the first run: by it the logs are judged; only in a run directory."""
        return noise_file(self.path / "noise.json.gz")

    @property
    def page(self) -> Path:
        """The page about two folders of logs."""
        return self.path / "diff.html"

    @property
    def junit(self) -> Path:
        """The findings of two folders of logs as JUnit XML."""
        return self.path / "junit.xml"

    @property
    def summary(self) -> Path:
        """The same in Markdown."""
        return self.path / "summary.md"


@dataclass(frozen=True, slots=True)
class TopicIdsFolder:
    """The folder of a check of topic ids."""

    path: Path

    @property
    def check(self) -> RecordFile[TopicIdCheck]:
        """What the check found."""
        return RecordFile(self.path / "topic-ids.json", TopicIdCheck, schema=topic_ids.SCHEMA)

    @property
    def page(self) -> Path:
        """The same as a page."""
        return self.path / "topic-ids.html"


@dataclass(frozen=True, slots=True)
class UpgradeFolder:
    """The folder of what changes for an operator between two Kafkas."""

    path: Path

    @property
    def base(self) -> RecordFile[KafkaInventory]:
        """What an operator meets in base."""
        return RecordFile(self.path / "base.json", KafkaInventory, schema=kafka_inventory.SCHEMA)

    @property
    def candidate(self) -> RecordFile[KafkaInventory]:
        """What an operator meets in the candidate."""
        return RecordFile(self.path / "candidate.json", KafkaInventory, schema=kafka_inventory.SCHEMA)

    @property
    def changes(self) -> RecordFile[OperatorChanges]:
        """What changes between them."""
        return RecordFile(self.path / "upgrade.json", OperatorChanges, schema=operator_changes.SCHEMA)

    @property
    def page(self) -> Path:
        """The same as a page."""
        return self.path / "upgrade.html"

    @property
    def junit(self) -> Path:
        """What breaks as JUnit XML."""
        return self.path / "junit.xml"

    @property
    def summary(self) -> Path:
        """The same in Markdown."""
        return self.path / "summary.md"


def _refuse_outside(document: Any) -> Any:
    """Return a list of logs as it is. Raises HarnessError for a file elsewhere: somebody else may have written it."""
    nodes = document if isinstance(document, list) else []
    named = (each.get("files") for each in nodes if isinstance(each, dict))
    for file in (name for files in named if isinstance(files, list) for name in files):
        if isinstance(file, str) and ("://" in file or PurePosixPath(file).is_absolute() or ".." in file.split("/")):
            raise HarnessError(f"It names {file!r}, which is not in the run directory.")
    return document
