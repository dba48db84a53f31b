"""`harness topic-ids`: do the ids of topics on disks agree with those of the cluster?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import HarnessError
from harness.cli import common, topic_id_repair
from harness.cli.common import Form, Output
from harness.cli.helptext import help_text
from harness.cli.topic_id_options import Collected, Config, Data, Merge, MetadataLog, Security, ZooKeeper

_CHECK_HELP = help_text(
    "Compare the topic id in every partition's directory with the cluster's, before a broker restarts.",
    "A broker whose directories name another id than ZooKeeper refuses these partitions when it restarts. No host sees "
    "all disks: write an `--export` on each broker's host, and `--merge` them where ZooKeeper can be reached. Nothing "
    "is written but what `--export` and `--out` name. Exit codes: 0 healthy, 1 mismatch, 2 usage or harness error, "
    "3 undecided: something could not be looked at, or nothing was compared.",
    examples=(
        ("harness topic-ids check --config server.properties --export broker-1.jsonl", "on the host of each broker"),
        ("harness topic-ids check --zookeeper zk1:2181/kafka --merge broker-1.jsonl --merge broker-2.jsonl", "all"),
        ("harness topic-ids check --zookeeper zk1:2181 --collected files --out checked", "files that were copied"),
        ("harness topic-ids check --metadata-log data/__cluster_metadata-0 --data data", "a KRaft cluster"),
    ),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    topic_ids = typer.Typer(no_args_is_help=True, help="Topic ids on disks beside those of the cluster.")
    topic_ids.command("check", help=_CHECK_HELP)(check)
    topic_id_repair.register(topic_ids)
    app.add_typer(topic_ids, name="topic-ids")


def check(
    data: Data = None,
    config: Config = None,
    collected: Collected = None,
    merge: Merge = None,
    zookeeper: ZooKeeper = "",
    security: Security = None,
    metadata_log: MetadataLog = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", help="Write what is on the disks to this file, and compare nothing."),
    ] = None,
    output: Form = Output.TEXT,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for the record and a page.", show_default=False)
    ] = None,
) -> int:
    """Compare, and show what differs."""
    from harness.base.json import to_json
    from harness.rundir.parts import TopicIdsFolder
    from harness.stages import topic_ids as stage
    from harness.topicids.comparing import problems
    from harness.topicids.disks import check_new_folder
    from harness.topicids.export import write_export
    from harness.topicids.sentences import brokers, counted_directories

    sources = stage.Sources(
        tuple(data or ()),
        tuple(config or ()),
        tuple(collected or ()),
        tuple(merge or ()),
        zookeeper,
        security,
        metadata_log,
    )
    console = common.console()
    for place, option in ((out, "--out"), (export and export.parent, "--export")):
        if place is not None:
            check_new_folder(place, option)
    if export is not None:
        if output is Output.JSON or out is not None:
            raise HarnessError("--export compares nothing: there is nothing for -o json or --out.", "Leave one out.")
        found_disks = stage.disks_of(sources)
        write_export(export, found_disks)
        count = sum(len(disk.partitions) for disk in found_disks)
        whose = brokers(sorted({disk.broker for disk in found_disks}))
        stage.print_gaps(console, [gap for disk in found_disks for gap in problems(disk)])
        console.print(f"{counted_directories(count)} of {whose}: {export}")
        return 0
    found = stage.check(sources, stage.disks_of(sources))
    if out is not None:
        with common.fresh_folder(out, "topic-ids") as made:
            folder = TopicIdsFolder(made)
            stage.write_check(found, folder)
    if output is Output.JSON:
        common.print_document(to_json(found.shortened()))
    else:
        stage.print_check(console, found)
    if out is not None:
        console.print(str(folder.page))
    return found.answer.exit_code
