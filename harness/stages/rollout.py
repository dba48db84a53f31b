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
from harness.base.json import from_json, to_json
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
from harness.model.node_logs import NodeLogs
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
from harness.stages.build import build
from harness.stages.ground import distribution_of
from harness.stages.run import lay_ground
from harness.stages.rundir import read_asked, read_setup, timed

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
    declared, setup = read_asked(run_dir), read_setup(run_dir)
    with timed(run_dir, "ground"):
        ground = lay_ground(setup, declared.kafka_version, reporter)
    setting = _setting(declared, setup, asked, ground, run_dir, _tools(setup, declared, ground, reporter))
    reporter.stage(f"{len(asked.names)} rehearsals on {topology_told(asked.topology)}, one after the other")
    with timed(run_dir, "rehearse"):
        results = _rehearse_all(asked, setting, run_dir, reporter)
    contrast = _compare(results, run_dir, reporter)
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
        read_asked(run_dir).timings,
    )
    write_text(run_dir / "rollout.json", to_json(found))
    _report(found, contrast, run_dir)
    return found


def _report(found: Rollout, contrast: Contrast | None, run_dir: Path) -> None:
    asked = read_asked(run_dir)
    journals = {each.name: list(read_journal(_journal(run_dir, each.name))) for each in found.rehearsals}
    page = render_rollout(found, journals, contrast, asked.kafka_version, asked.argv)
    write_text(run_dir / "report.html", page)
    write_text(run_dir / "runbook.md", markdown(runbook(found)))


def _journal(run_dir: Path, rehearsal: str) -> Path:
    return run_dir / "rehearsals" / rehearsal / "journal.jsonl"


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


def _compare(results: Sequence[RehearsalResult], run_dir: Path, reporter: Reporter) -> Contrast | None:
    """Compare the logs of versions mixed with those of one version; they are told and do not decide."""
    from harness.logs.diff import compare, opened, read_nodes

    compared = (CONTROL, FORWARD_AND_BACK)
    if not {*compared} <= {result.name for result in results}:
        return None
    reporter.stage("comparing the logs of both versions mixed with those of base alone, on Spark")
    logs = [run_dir / "rehearsals" / name / "logs.json" for name in compared]
    nodes = [each for path in logs for each in from_json(tuple[NodeLogs, ...], path.read_bytes())]
    try:
        with timed(run_dir, "diff"):
            with opened(run_dir / "logs", reporter.say) as spark:
                counted = read_nodes(spark, run_dir, nodes, run_dir / "logs", reporter.say)
            (contrast,) = compare(counted, [compared], run_dir / "logs", reporter.say)
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
    console.print(Text(f"\nreport: {run_dir / 'report.html'}\nrunbook: {run_dir / 'runbook.md'}"))
