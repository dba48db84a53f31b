"""`harness audit`: questions to the released source and the claims' to the candidate's, answered in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.text import visible
from harness.cli import common
from harness.cli.common import Offline
from harness.cli.helptext import help_text
from harness.model.proof import AuditAnswer
from harness.model.request import DEFAULT_KAFKA
from harness.model.runs import Evidence
from harness.proof.proof_summary import describe_answers

_STYLES = {"holds": "green", "refuted": "bold red", "gap": "yellow", "untested": "dim"}

_HELP = help_text(
    "Ask the source what the claims promise: exit 1 when a promise does not hold, 0 otherwise.",
    examples=(
        ("harness audit", "the release, then the shipped series"),
        ("harness audit --sources ~/kafka", "a checkout"),
        ("harness audit --jar kafka-raft-3.9.1.jar", "a jar, by its bytecode"),
    ),
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit", help=_HELP)(audit)


def audit(
    sources: Annotated[
        Path | None,
        typer.Option("--sources", help="A Kafka checkout, already patched.", show_default=False),
    ] = None,
    jar: Annotated[
        Path | None, typer.Option("--jar", help="A raft jar, where there are no sources.", show_default=False)
    ] = None,
    claims: Annotated[
        Path | None, typer.Option("--claims", help="A claims.toml; the series' own if not given.", show_default=False)
    ] = None,
    series: Annotated[
        str,
        typer.Option(
            "--series",
            help="A patch series, applied to the released sources: the name of a shipped one, or a folder.",
            show_default=False,
        ),
    ] = "",
    kafka: Annotated[str, typer.Option("--kafka", help="The Kafka version whose series is meant.")] = DEFAULT_KAFKA,
    offline: Offline = False,
) -> int:
    """Ask the source."""
    from harness.audit.answering import audit as answers_of
    from harness.audit.claims_file import load_claims
    from harness.kafka.patching import load_series
    from harness.kafka.series import series_folder
    from harness.stages import audit as stage

    if sources and jar:
        raise HarnessError("--sources and --jar do not go together.", "Sources show more: give them alone.")
    folder = Path(series) if Path(series, "series").is_file() else series_folder(kafka, series)
    claimed = load_claims(claims or folder / "claims.toml")
    stock: tuple[AuditAnswer, ...] = ()
    if sources:
        answers = answers_of(claimed, sources)
    elif jar:
        answers = stage.audit_jar(claimed, jar, common.toolbox(offline=offline))
    else:
        downloads = common.toolbox(offline=offline).downloads
        version = load_series(folder).version
        stock = stage.audit_release(version, downloads)
        answers = stage.audit_series(claimed, folder, downloads)
        if stock:
            _print_answers(stock, f"Kafka {version} as released")
            common.console().print()
    _print_answers(answers, f"The series {folder.name}" if stock else "")
    return 1 if any(each.blocks for each in answers) else 0


def _print_answers(answers: Sequence[AuditAnswer], heading: str) -> None:
    out = common.console()
    if heading:
        out.print(Text(f"{visible(heading)}\n", style="bold"))
    for each in answers:
        promised = f"  promised by {each.claim}" if each.claim else ""
        out.print(
            Text.assemble((f"{each.standing:<9}", _STYLES[each.standing]), (each.question, "bold"), (promised, "dim"))
        )
        out.print(Text(f"         {visible(each.detail)}"))
        for evidence in each.evidence:
            out.print(Text(f"         {_place(evidence)}", style="dim"))
    out.print(Text(f"\n{visible(describe_answers(answers))}"))


def _place(evidence: Evidence) -> str:
    return visible(f"{evidence.path}:{evidence.line}  {evidence.excerpt}")
