"""What runs of base's jar logged, read from run directories: what noise is learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.base.errors import HarnessError
from harness.logs.compare.observing import observe
from harness.logs.count_cache import cached_counts, run_folder
from harness.logs.log_diff import Progress, counts_of, libraries, node_logs, opened, read_nodes
from harness.logs.noise_book import LearnedRuns, digest_of_jars, is_apaches, topology_of
from harness.logs.read.pipeline import FileCounts
from harness.model.arms import Arm, Role
from harness.model.declaration import Declaration
from harness.model.node_logs import NodeLogs
from harness.model.runs import RunKey, RunResult
from harness.model.setup import Setup
from harness.model.stock_noise import StockRun
from harness.rundir.directory import RunDirectory
from harness.toolbox.toolbox import Toolbox


def learn_runs(directory: RunDirectory, toolbox: Toolbox, progress: Progress) -> LearnedRuns:
    """Return what each decided run of base's jar logged, of a run directory in which the runs have ended.

    Counts that an earlier diff left are taken, else Spark counts. Raises HarnessError for what is damaged.
    """
    arms = {arm.name: arm for arm in base_arms(directory.declaration.read(), directory.setup.read())}
    results = {run.key: run for run in directory.results() if run.arm in arms and run.outcome.is_decided}
    nodes = [node for node in node_logs(directory) if _key(node) in results] if results else []
    files = _cached(directory, nodes) or _counted(directory, [*arms.values()], nodes, toolbox, progress)
    observed = observe(list(counts_of(nodes, files)))
    return {
        _stock_run(directory, result, arms, nodes): observed[key.arm, key.scenario, key.repeat]
        for key, result in results.items()
        if (key.arm, key.scenario, key.repeat) in observed
    }


def base_arms(declaration: Declaration, setup: Setup) -> list[Arm]:
    """Return base and every arm with its jars and its settings, as when base is verified against itself."""
    base = declaration.arm(Role.BASE)
    if base is None:
        return []
    return [arm for arm in declaration.arms if _made_of(arm, setup) == _made_of(base, setup)]


def _made_of(arm: Arm, setup: Setup) -> tuple[str, Mapping[str, str], str, Mapping[str, str]]:
    return arm.build.jar_sha256, arm.build.kafka.others, arm.flag, setup.settings.get(arm.name, {})


def _key(node: NodeLogs) -> RunKey:
    return RunKey(node.scenario, node.arm, node.repeat)


def _cached(directory: RunDirectory, nodes: Sequence[NodeLogs]) -> dict[str, FileCounts]:
    """Return what a diff counted in these logs; nothing where it counted others, or by other rules than today's."""
    names = [name for node in nodes for name in node.files]
    try:
        counted = cached_counts(run_folder(directory.logs, directory.path.resolve().name), nodes, names)
    except HarnessError:
        return {}
    whole = counted.keys() == set(names) and all(log.is_masked_alike for log in counted.values())
    return {name: log.counts for name, log in counted.items()} if whole else {}


def _counted(
    directory: RunDirectory, arms: Sequence[Arm], nodes: Sequence[NodeLogs], toolbox: Toolbox, progress: Progress
) -> Mapping[str, FileCounts]:
    if not nodes:
        return {}
    with TemporaryDirectory() as folder, opened(Path(folder), toolbox, progress) as spark:
        known = libraries(directory, arms)
        return read_nodes(spark, directory.path, nodes, directory.logs, progress, known=known).files


def _stock_run(
    directory: RunDirectory, result: RunResult, arms: Mapping[str, Arm], nodes: Sequence[NodeLogs]
) -> StockRun:
    arm, seal = arms[result.arm], directory.run(result.key).seal.read()
    began = min((phase.start for node in nodes if _key(node) == result.key for phase in node.phases), default=0.0)
    return StockRun(
        id=seal.journal,
        scenario=result.scenario,
        topology=topology_of(nodes, result.key),
        profile=seal.inputs.profile,
        kafka_version=arm.build.kafka_version,
        jar_sha256=arm.build.jar_sha256,
        released=any(is_apaches(each.build) for each in arms.values()),  # they are all of the same jars
        java=arm.java,
        outcome=result.label,
        jars_sha256=digest_of_jars(arm.build),
        plan=seal.inputs.plan,
        day=f"{datetime.fromtimestamp(began, UTC):%Y-%m-%d}",
    )
