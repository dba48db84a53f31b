"""Commands that only look: list, plan, doctor; and `lock`, which pins a version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from harness.base.errors import HarnessError, unknown
from harness.base.paths import is_checkout
from harness.cli import common
from harness.cli.common import USAGE_OR_HARNESS_ERROR, OwnScenarios
from harness.cli.helptext import help_text
from harness.cli.topic_id_options import Cluster, Security, check_security_is_of_cluster

if TYPE_CHECKING:
    from harness.scenario.plan import Scenario

_LIST_HELP = help_text(
    "List scenarios, rehearsals, patch series and locked Kafka versions.",
    examples=(
        ("harness list", "what can be asked"),
        ("harness list --verbs --scenarios my-scenarios", "what plans are made of, yours included"),
    ),
)
_PLAN_HELP = help_text(
    "Print a scenario's plan step by step; nothing is started.",
    examples=(("harness plan turn2", "a scenario"), ("harness plan forward-and-back", "a rehearsal of the rollout")),
)
_DOCTOR_HELP = help_text(
    "Check this host: what it can do, what it lacks, and how to fix that; or with --cluster brokers' topic ids.",
    examples=(
        ("harness doctor", "before the first verification"),
        ("harness doctor --cluster server.properties", "before a broker restarts"),
    ),
)
_LOCK_HELP = help_text(
    "Resolve a Kafka version, download it, pin every file by SHA-256, and read its sources' log statements.",
    examples=(("harness lock 4.1.1", "then harness verify --base-kafka 4.0.2 --kafka 4.1.1"),),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("list", help=_LIST_HELP)(list_everything)
    app.command("plan", help=_PLAN_HELP)(plan)
    app.command("doctor", help=_DOCTOR_HELP)(doctor)
    app.command("lock", help=_LOCK_HELP)(lock)


def list_everything(
    scenarios: OwnScenarios = None,
    verbs: Annotated[
        bool, typer.Option("--verbs", help="List what plans are made of: actions, faults, conditions, loads, monitors.")
    ] = False,
) -> int:
    """List."""
    from harness.kafka.lock import locked_versions
    from harness.kafka.series import shipped_series
    from harness.rollout.rehearsals import KINDS
    from harness.scenario.registry import load_all

    known, out = load_all(scenarios or ()), common.console()
    if verbs:
        return _list_verbs()
    table = Table(Column("scenario", no_wrap=True), "suite", "question", box=None, header_style="bold")
    for scenario in known.values():
        table.add_row(scenario.name, ", ".join(scenario.suites), scenario.question)
    for name, kind in KINDS.items():
        table.add_row(name, "rollout", kind.question)
    out.print(table)
    out.print(f"\npatch series: {', '.join(shipped_series())}\nlocked Kafka versions: {', '.join(locked_versions())}")
    return 0


def _list_verbs() -> int:
    from harness.scenario.verbs import Kind, verbs

    found = sorted(verbs().values(), key=lambda verb: (list(Kind).index(verb.kind), verb.name))
    table = Table("kind", Column("name", no_wrap=True), "what it does", box=None, header_style="bold")
    for verb in found:
        table.add_row(str(verb.kind), verb.name, verb.summary)
    common.console().print(table)
    return 0


def plan(
    scenario: Annotated[str, typer.Argument(help="A scenario, or a rehearsal of the rollout (see `harness list`).")],
    scenarios: OwnScenarios = None,
) -> int:
    """Plan."""
    from harness.cluster.topology import describe_topology
    from harness.kafka.release_lines import line_of
    from harness.model.request import DEFAULT_KAFKA
    from harness.scenario.bounds import in_force
    from harness.scenario.steps import described

    usual = in_force({}, line_of(DEFAULT_KAFKA).timeouts)
    chosen = _scenario_of(scenario, scenarios or ())
    out = common.console()
    out.print(Text(chosen.name, style="bold"), Text(chosen.question))
    out.print(f"{describe_topology(chosen.topology)}; suite {', '.join(chosen.suites)}")
    for kind, text in described(chosen.plan().everything, usual):
        out.print(Text(f"\n{text}", style="bold") if kind == "phase" else Text(f"  {kind:<10} {text}"))
    return 0


def _scenario_of(name: str, folders: Sequence[Path]) -> Scenario:
    """Return the scenario or the rehearsal (on the usual topology) of this name. Raises HarnessError."""
    from harness.rollout.commands import Tools
    from harness.rollout.nodes import USUAL_TOPOLOGY, parse_topology
    from harness.rollout.rehearsals import KINDS, rehearsal
    from harness.rollout.roll import RollConfig
    from harness.scenario.registry import load_all

    known = load_all(folders)
    if name not in known and name not in KINDS:
        raise HarnessError(unknown("scenario", name, {*known, *KINDS}))
    if name in known:
        return known[name]
    only_read = Tools(Path("java"), (), {})  # nothing is started, and the steps that scripts take are shown
    return rehearsal(name, RollConfig(parse_topology(USUAL_TOPOLOGY), only_read))


def doctor(cluster: Cluster = None, security: Security = None) -> int:
    """Examine."""
    check_security_is_of_cluster(cluster, security)
    if cluster:
        from harness.stages.topic_ids import check_cluster

        return check_cluster(cluster, security, common.console()).answer.exit_code
    from harness.doctor import examine

    common.allow_networks()
    out = common.console()
    findings = examine(common.toolbox())
    for finding in findings:
        mark = (
            Text("ok     ", style="green")
            if finding.ok
            else Text("missing", style="red" if finding.needed else "yellow")
        )
        out.print(mark, Text(f"{finding.what}: {finding.seen}"))
        if finding.fix:
            out.print(Text(f"          {finding.fix}", style="dim"))
    unable = [finding for finding in findings if finding.needed and not finding.ok]
    out.print(f"\n{'This host cannot verify yet; see above.' if unable else 'This host can verify.'}")
    return USAGE_OR_HARNESS_ERROR if unable else 0


def lock(
    version: Annotated[
        str, typer.Argument(help="A released Kafka version, such as 3.9.1; or `tools`, which are the harness's own.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for both files: those of a checkout's builds, or your own, if not given.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Lock."""
    from harness.toolbox import tools

    if version == tools.NAME:
        return _lock_tools(out)
    from harness.kafka.lock import checked_version, lock_folder_for_writing, write_lock
    from harness.kafka.release_lines import line_of
    from harness.kafka.resolving import resolve_lock
    from harness.logs.read.library import libraries_beside, make_library

    reporter = common.reporter()
    line = line_of(checked_version(version))
    folder = common.folder_to_write_in(out or lock_folder_for_writing())
    reporter.stage(f"resolving Kafka {version} and reading its log statements")
    downloads = common.toolbox().downloads
    resolved = resolve_lock(version, line.lock, downloads)
    statements = make_library(resolved, downloads, out or libraries_beside(folder))
    written = write_lock(resolved, folder)  # last: with it the version counts as locked
    common.console().print(f"{written}\n{statements}")
    if out is None:
        common.console().print(f"Next: {use_of_lock(version)}")
    return 0


def use_of_lock(version: str) -> str:
    """Return what can be asked of a version once it is locked: about its series, or beside the release before it."""
    from harness.kafka.lock import locked_versions
    from harness.kafka.release_lines import Mode, line_of
    from harness.kafka.series import series_folders
    from harness.kafka.versions import order_of
    from harness.model.request import DEFAULT_KAFKA

    if Mode.KRAFT not in line_of(version).modes:
        return f"harness verify --kafka {version} --arms base --claims none --suite elections"
    if series_folders(version):
        return f"harness verify --kafka {version}"
    before = [each for each in sorted(locked_versions(), key=order_of) if order_of(each) < order_of(version)]
    return f"harness verify --base-kafka {before[-1] if before else DEFAULT_KAFKA} --kafka {version}"


def _lock_tools(out: Path | None) -> int:
    from harness.toolbox.lockfile import shipped_locks
    from harness.toolbox.tools import resolve_tools, write_tools_lock

    if not (out or is_checkout()):
        raise HarnessError("The lock of the harness's tools is a part of the harness.", "Name a folder by --out.")
    common.reporter().stage("fetching the harness's tools")
    written = write_tools_lock(resolve_tools(common.toolbox().downloads), out or shipped_locks())
    common.console().print(str(written))
    return 0
