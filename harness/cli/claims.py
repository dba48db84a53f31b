"""`harness claims init`: a claims file drafted from what a jar changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.cli import common
from harness.cli.common import Offline, OwnScenarios
from harness.cli.helptext import help_text
from harness.model.request import DEFAULT_KAFKA

Jar = Annotated[Path, typer.Option("--jar", help="The raft jar that the claims are about.", show_default=False)]
BaseJar = Annotated[
    Path | None,
    typer.Option("--base-jar", help="What it is compared with; Apache's jar if not given.", show_default=False),
]
KafkaVersion = Annotated[str, typer.Option("--kafka", help="Kafka version of both.")]
ClaimsOut = Annotated[Path, typer.Option("--out", help="The file to write; one that is there is left alone.")]

_INIT_HELP = help_text(
    "Draft a claims file from what a jar changes: its classes, new keys and new log statements.",
    "The draft loads as it is. Edit the one claim in it: what the jar does better, and the scenario that shows it.",
    examples=(
        ("harness claims init --jar kafka-raft-3.9.1.jar", "writes claims.toml"),
        ("harness claims init --jar new.jar --base-jar current.jar --out new.toml", "what changes between two jars"),
        ("harness verify --jar kafka-raft-3.9.1.jar --claims claims.toml", "then, once it is edited"),
    ),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    claims = typer.Typer(no_args_is_help=True, help="Claims files: what a jar promises, and what shows it.")
    claims.callback()(_claims)
    claims.command("init", help=_INIT_HELP)(init)
    app.add_typer(claims, name="claims")


def _claims() -> None:
    """Take what goes before a command, so that one command alone still has its name."""


def init(
    jar: Jar,
    base_jar: BaseJar = None,
    kafka: KafkaVersion = DEFAULT_KAFKA,
    scenarios: OwnScenarios = None,
    out: ClaimsOut = Path("claims.toml"),
    offline: Offline = False,
) -> int:
    """Draft a claims file and say what it was drafted from."""
    from harness.stages.claims_draft import draft_claims_file

    toolbox, reporter = common.toolbox(offline=offline), common.reporter()
    found = draft_claims_file(jar, base_jar, kafka, scenarios or [], out, toolbox, reporter)
    counts = {"changed classes": found.classes, "new keys": found.keys, "new log statements": found.statements}
    common.console().print(Text(f"{out}: {', '.join(f'{what}: {len(every)}' for what, every in counts.items())}"))
    common.console().print(Text(f"Edit it, then: harness verify --jar {jar} --claims {out}"))
    return 0
