"""The rollout rehearsal as a stage: builds, rehearsals, log differences, answer, report and runbook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.files import read_journal, write_text
from harness.base.json import to_json
from harness.base.paths import cache_root
from harness.base.progress import Reporter, duration
from harness.base.text import visible
from harness.cluster.cluster import Topology
from harness.cluster.prepare import Ground
from harness.engine.cancel import Cancellation
from harness.engine.schedule import finish
from harness.kafka.downloads import Downloads
from harness.kafka.lock import Purpose, read_lock
from harness.model.arms import ABSENT, Arm, Role
from harness.model.declaration import Declaration
from harness.model.findings import Contrast
from harness.model.request import Request
from harness.model.setup import Setup
from harness.report.rolloutpage import render_rollout
from harness.rollout.commands import Tools
from harness.rollout.judging import answer
from harness.rollout.nodes import told as topology_told
from harness.rollout.programme import KINDS, Yardstick, rehearse, yardstick_of
from harness.rollout.records import CONTROL, FORWARD_AND_BACK, SCHEMA, Ending, Installed, RehearsalResult, Rollout
from harness.rollout.rehearsal import Setting
from harness.rollout.runbook import markdown, runbook
from harness.rundir.directory import RunDirectory
from harness.stages.build import build
from harness.stages.ground import distribution_of
from harness.stages.run import lay_ground
from harness.stages.timing import timed

_COLOURS = {Ending.PASSED: "green", Ending.STOPPED: "red", Ending.INCONCLUSIVE: "magenta"}
# Every broker would make 50 partitions for each: what they hold is rehearsed with a few as well, and sooner.
_INTERNAL_TOPICS = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3"}


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What is asked of a rollout beside its builds. `budget` in seconds, 0 for twice what the control shows."""

    topology: Topology
    topology_text: str
    order: tuple[int, ...]
    names: tuple[str, ...]
    budget: float


def rollout(request: Request, asked: Rehearsed, run_dir: Path, reporter: Reporter) -> Rollout:
    """Build, rehearse, compare, report; returns what rollout.json holds."""
    build(request, run_dir, reporter)
    directory = RunDirectory(run_dir)
    declared, setup = directory.declaration.read(), directory.setup.read()
    with timed(directory, "ground"):
        ground = lay_ground(setup, declared.kafka_version, reporter)
    setting = _setting(declared, setup, asked, ground, run_dir, _tools(setup, declared, ground, reporter))
    reporter.stage(f"{len(asked.names)} rehearsals on {topology_told(asked.topology)}, one after the other")
    with timed(directory, "rehearse"):
        results = _rehearse_all(asked, setting, run_dir, reporter)
    contrast = _compare(results, directory, reporter)
    ending, reasons = answer(results)
    found = Rollout(
        SCHEMA,
        asked.topology_text,
        asked.order,
        setting.base,
        setting.candidate,
        tuple(results),
        ending,
        reasons,
        directory.declaration.read().timings,
    )
    write_text(directory.rollout, to_json(found))
    _report(found, contrast, directory)
    return found


def _report(found: Rollout, contrast: Contrast | None, directory: RunDirectory) -> None:
    asked = directory.declaration.read()
    journals = {each.name: list(read_journal(directory.rehearsal(each.name).journal)) for each in found.rehearsals}
    page = render_rollout(found, journals, contrast, asked.kafka_version, asked.argv)
    write_text(directory.report, page)
    write_text(directory.runbook, markdown(runbook(found)))


def _tools(setup: Setup, declared: Declaration, ground: Ground, reporter: Reporter) -> Tools:
    """Return what Kafka's scripts start; a Kafka that was unpacked brings it along."""
    distribution = distribution_of(setup, declared.kafka_version, reporter)
    with reporter.downloads() as progress:
        downloads = Downloads(cache_root() / "maven", offline=setup.offline, progress=progress)
        lock = None if setup.base_dist else read_lock(declared.kafka_version)
        more = downloads.fetch_all(lock.of(Purpose.COMMANDS)) if lock else ()
    return Tools(ground.java, (*more, *distribution.jars))


def _setting(
    declared: Declaration, setup: Setup, asked: Rehearsed, ground: Ground, run_dir: Path, tools: Tools
) -> Setting:
    base = next((arm for arm in declared.arms if arm.role is Role.BASE), None)
    candidate = next((arm for arm in declared.arms if arm.role is Role.ON), None)
    assert base is not None
    assert candidate is not None
    overlay = {**_INTERNAL_TOPICS, **setup.overlay}
    return Setting(
        asked.topology,
        asked.order,
        ground,
        _installed(base, "base", setup, run_dir),
        _installed(candidate, "the candidate", setup, run_dir),
        overlay,
        setup.flag_key,
        tools,
    )


def _installed(arm: Arm, name: str, setup: Setup, run_dir: Path) -> Installed:
    jar = (run_dir / arm.build.jar).absolute()
    return Installed(name, jar, arm.build.jar_sha256, arm.flag or ABSENT, setup.settings.get(arm.name, {}))


def _rehearse_all(asked: Rehearsed, setting: Setting, run_dir: Path, reporter: Reporter) -> list[RehearsalResult]:
    results: list[RehearsalResult] = []
    yardstick: Yardstick | None = None
    for number, name in enumerate(asked.names, 1):
        reporter.say(f"[{number}/{len(asked.names)}] {name}: {KINDS[name].question}")
        result = _interruptible(
            lambda cancellation, name=name, by=yardstick: rehearse(  # type: ignore[misc]
                name, setting, run_dir, asked.budget, by, lambda what: reporter.say(f"    {what}"), cancellation
            )
        )
        results.append(result)
        reporter.say(f"[{number}/{len(asked.names)}] {name}: {_line(result)}")
        if name == CONTROL:
            yardstick = yardstick_of(result)
            if yardstick is None:  # what base cannot do says nothing about the candidate
                break
    return results


def _interruptible(act: Callable[[Cancellation], RehearsalResult]) -> RehearsalResult:
    cancellation = Cancellation()
    with ThreadPoolExecutor(1, thread_name_prefix="rehearsal") as pool:
        future = pool.submit(act, cancellation)
        finish([future], cancellation)
    return future.result()


def _line(result: RehearsalResult) -> str:
    lost = sum(account.lost for account in result.accounts if account.binding)
    reason = f": {result.reason}" if result.reason else ""
    return (
        f"{result.ending} in {duration(result.seconds)}, {len(result.steps)} steps, longest pause "
        f"{result.longest_pause_seconds:.1f} s, {lost} lost{reason}"
    )


def _compare(results: Sequence[RehearsalResult], directory: RunDirectory, reporter: Reporter) -> Contrast | None:
    """Compare the logs of versions mixed with those of one version; they are told and do not decide."""
    from harness.logs.diff import compare, opened, read_nodes

    compared = (CONTROL, FORWARD_AND_BACK)
    if not {*compared} <= {result.name for result in results}:
        return None
    reporter.stage("comparing the logs of both versions mixed with those of base alone, on Spark")
    nodes = [each for name in compared for each in directory.rehearsal(name).logs.read()]
    logs = directory.logs
    try:
        with timed(directory, "diff"):
            with opened(logs.path, reporter.say) as spark:
                counted = read_nodes(spark, directory.path, nodes, logs, reporter.say)
            (contrast,) = compare(counted, [compared], logs, reporter.say)
    except HarnessError as error:
        reporter.say(f"the log diff failed: {error}")
        return None
    return contrast


def tell(console: Console, found: Rollout, run_dir: Path) -> None:
    """Print each rehearsal, the answer with its reasons, and where to read on."""
    for result in found.rehearsals:
        console.print(Text(f"  {result.name:<18} {_line(result)}"))
    for note in dict.fromkeys(note for result in found.rehearsals for note in result.notes):
        console.print(Text(f"  warning: {visible(note)}", style="yellow"))
    words = {
        Ending.PASSED: "All that was rehearsed held, and nothing that was promised was lost.",
        Ending.STOPPED: "The roll was stopped.",
        Ending.INCONCLUSIVE: "Too little could be asked.",
    }
    console.print(
        Text.assemble("\n", (f" {found.ending} ", f"bold reverse {_COLOURS[found.ending]}"), " ", words[found.ending])
    )
    for reason in found.reasons:
        console.print(Text(f"  · {visible(reason)}"))
    console.print(Text(f"\nreport: {RunDirectory(run_dir).report}\nrunbook: {RunDirectory(run_dir).runbook}"))
