"""`harness upgrade-notes`: what changes for an operator between two Kafkas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import common, github
from harness.cli.common import Form, Offline, Out, Output, Quiet
from harness.cli.helptext import help_text
from harness.model.operator_changes import BOOTS

_HELP = help_text(
    "Show what changes for an operator between two Kafkas, what breaks first.",
    "Configuration keys of all modules, options of the scripts, metrics, protocol and features, log lines, libraries, "
    "the Java that is needed; and what a start, a node's memory and an idle minute cost. Kafka's own classes and live "
    "nodes are asked.",
    examples=(
        ("harness upgrade-notes 3.9.1 4.2.1", "two locked releases"),
        ("harness upgrade-notes 3.9.1 ./kafka_2.13-3.9.1-acme", "a vendor's, unpacked"),
        ("harness upgrade-notes 3.9.1 4.2.1 --mine server.properties --mine alerts.yml", "what of it concerns you"),
    ),
)

Kafka = Annotated[
    str, typer.Argument(help="A locked version (see `harness lock`), or a whole Kafka: its folder or its .tgz.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("upgrade-notes", help=_HELP)(upgrade_notes)


def upgrade_notes(
    base: Kafka,
    candidate: Kafka,
    mine: Annotated[
        list[Path] | None,
        typer.Option(
            "--mine",
            help="A file of yours that may name what changes (properties, alert rules, a script); can be repeated.",
            show_default=False,
        ),
    ] = None,
    boots: Annotated[
        int,
        typer.Option("--boots", min=0, max=20, help="How often a node of each is started; 0 compares nothing live."),
    ] = BOOTS,
    java_home: Annotated[
        Path | None,
        typer.Option("--java-home", help="The Java of nodes; the bundled one if not given.", show_default=False),
    ] = None,
    offline: Offline = False,
    out: Out = None,
    output: Form = Output.TEXT,  # noqa: ARG001
    quiet: Quiet = False,  # noqa: ARG001
) -> int:
    """Compare two Kafkas as an operator meets them."""
    from harness.report.annotations import of_upgrade
    from harness.rundir.parts import UpgradeFolder
    from harness.stages import upgrade_notes as stage

    texts = stage.own_files(mine or [])
    toolbox = common.toolbox(offline=offline, java_home=java_home)
    kafkas = stage.kafka_named(base, toolbox), stage.kafka_named(candidate, toolbox)
    with common.fresh_folder(out, "upgrade-notes") as made:
        folder = UpgradeFolder(made)
        changes = stage.upgrade_notes(*kafkas, folder, boots, texts, toolbox, common.reporter())
    stage.print_changes(common.console(), changes, folder.page)
    common.print_record(folder.changes.path)
    github.announce(of_upgrade(changes), folder.summary)
    return 0
