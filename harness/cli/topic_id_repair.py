"""`harness topic-ids plan`, `repair` and `restore`: bring ids on disks and in ZooKeeper together again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.text import visible
from harness.cli import common
from harness.cli.helptext import help_text
from harness.cli.topic_id_options import Collected, Config, Data, Merge, Security, ZooKeeper

_PLAN_HELP = help_text(
    "Choose the repair that fits what a check finds, or say why none is safe; nothing is changed.",
    "Where all directories of a topic agree, their id goes back into ZooKeeper, and no broker restarts. Where they "
    "do not, the files with the old id are deleted, broker by broker. Exit codes: 0 nothing to repair, 1 a repair, "
    "2 usage or harness error, 3 refused.",
    examples=(
        (
            "harness topic-ids plan --zookeeper zk1:2181 --merge broker-1.jsonl --out plan.json",
            "of exports, merged",
        ),
    ),
)
_REPAIR_HELP = help_text(
    "Carry out the next part of a plan: the part in ZooKeeper, or the part for the stopped broker on this host.",
    "Where the plan puts ids back, that comes first: the disks of every broker, which --config and --merge name, are "
    "compared with them before and afterwards. Where it deletes files, --config names the broker that is down. Without "
    "--apply it only says what it would do. Before anything changes it is copied to --backup, with its SHA-256; each "
    "change is in the journal there before it is made. If it is interrupted, give the same command again. It refuses "
    "what is not safe now: a broker that runs, one whose turn it is not, unclean elections, partitions without a "
    "leader.",
    examples=(
        (
            "harness topic-ids repair plan.json --merge broker-1.jsonl --merge broker-2.jsonl --backup backup --apply",
            "put old ids back in ZooKeeper",
        ),
        (
            "harness topic-ids repair plan.json --config server.properties --merge broker-1.jsonl --backup b2 --apply",
            "on the host of the second broker",
        ),
    ),
)
_RESTORE_HELP = help_text(
    "Undo a repair: bring back what its backup has.",
    "Without --apply it only says what it would do. What stands in the place of a file now is kept in the backup.",
    examples=(("harness topic-ids restore backup --apply", "as it was"),),
)

Apply = Annotated[bool, typer.Option("--apply", help="Do it; without this nothing is changed.")]


def register(topic_ids: typer.Typer) -> None:
    """Add the commands to those of topic ids."""
    topic_ids.command("plan", help=_PLAN_HELP)(plan)
    topic_ids.command("repair", help=_REPAIR_HELP)(repair)
    topic_ids.command("restore", help=_RESTORE_HELP)(restore)


def plan(
    data: Data = None,
    config: Config = None,
    collected: Collected = None,
    merge: Merge = None,
    zookeeper: ZooKeeper = "",
    security: Security = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the plan to this file, for `repair`.", show_default=False)
    ] = None,
) -> int:
    """Choose, and show it."""
    from harness.stages import topic_id_plan as stage
    from harness.stages.topic_ids import Sources
    from harness.topicids.disks import check_new_folder

    if out is not None:
        check_new_folder(out.parent, "--out")
    made = stage.plan(
        Sources(tuple(data or ()), tuple(config or ()), tuple(collected or ()), tuple(merge or ()), zookeeper, security)
    )
    if out is not None:
        stage.write_plan(made, out)
    stage.print_plan(common.console(), made, str(out or "PLAN"), security)
    return made.exit_code


def repair(
    plan: Annotated[Path, typer.Argument(help="What `harness topic-ids plan --out` wrote.")],
    backup: Annotated[
        Path,
        typer.Option("--backup", help="A folder for what is changed, and the journal.", show_default=False),
    ],
    config: Config = None,
    merge: Merge = None,
    security: Security = None,
    apply: Apply = False,
) -> int:
    """Carry out one part."""
    from harness.model.topic_repair import Choice
    from harness.stages import topic_id_repair as stage
    from harness.stages.topic_id_plan import plan_file
    from harness.stages.topic_ids import Sources
    from harness.topicids.backups import BackupFolder

    made, folder, out = plan_file(plan).read(), BackupFolder(backup), common.console()
    configs, exports = tuple(config or ()), tuple(merge or ())
    if made.chosen(Choice.PUT_BACK) or not configs:
        disks = Sources(configs=configs, merge=exports)
        lines = stage.repair_zookeeper(made, disks, folder, security, apply=apply)
    else:
        lines = stage.repair_broker(made, _only(configs), exports, folder, security, apply=apply)
    for line in lines:
        out.print(Text(visible(line)))
    return 0


def _only(configs: tuple[Path, ...]) -> Path:
    if len(configs) > 1:
        raise HarnessError(
            f"Files are deleted on one broker at a time, and {len(configs)} are named.",
            "Name the server.properties of the broker that is down by --config, and exports of others by --merge.",
        )
    return configs[0]


def restore(
    backup: Annotated[Path, typer.Argument(help="The folder that `repair --backup` made.")],
    security: Security = None,
    apply: Apply = False,
) -> int:
    """Undo a repair."""
    from harness.stages import topic_id_repair as stage
    from harness.topicids.backups import BackupFolder

    for line in stage.restore(BackupFolder(backup), security, apply=apply):
        common.console().print(Text(visible(line)))
    return 0
