"""All stages in a row, ending with the verdict in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from harness.model import Verdict
from harness.progress import Reporter, duration
from harness.report.verdict import read_verdict
from harness.stages import diff as diff_stage
from harness.stages import judge as judge_stage
from harness.stages import run as run_stage
from harness.stages.build import build
from harness.stages.request import Request

_COLOURS = {Verdict.SHIP: "green", Verdict.HOLD: "red", Verdict.INCONCLUSIVE: "magenta"}


def verify(request: Request, run_dir: Path, reporter: Reporter) -> Verdict:
    """Build, run, diff, judge and report; print and return the verdict."""
    build(request, run_dir, reporter)
    run_stage.run(run_dir, reporter)
    diff_stage.diff(run_dir, reporter)
    verdict = judge_stage.judge(run_dir, reporter)
    page = judge_stage.report(run_dir, reporter)
    tell(reporter.console, read_verdict(run_dir), page)
    return verdict


def tell(console: Console, verdict: dict[str, Any], page: Path) -> None:
    """Print the matrix, the verdict with its reasons, where the time went, and where the report is."""
    answer = Verdict(verdict["verdict"])
    for scenario in verdict["scenarios"]:
        cells = "  ".join(f"{cell['arm']} {_cell(cell)}" for cell in scenario["cells"])
        mark = "" if scenario["discriminates"] else "  (does not discriminate)"
        console.print(Text(f"  {scenario['name']:<15} {cells}{mark}"))
    spent = ", ".join(f"{stage} {duration(seconds)}" for stage, seconds in verdict["timings"].items())
    console.print(Text(f"  time: {spent}", style="dim"))
    lines = [Text(verdict["sentence"]), *(Text(f"· {reason}") for reason in verdict["reasons"][:6])]
    if verdict["against"]:
        lines.append(Text(f"Strongest reason against it: {verdict['against']}", style="italic"))
    title = Text(f" {answer} ", style=f"bold reverse {_COLOURS[answer]}")
    console.print(Panel(Text("\n").join(lines), title=title, title_align="left", border_style=_COLOURS[answer]))
    console.print(Text(f"report: {page}"))


def _cell(cell: dict[str, Any]) -> str:
    named = cell["expectation"] and cell["state"] == "REFUTED"
    return f"{cell['state']}({cell['expectation']})" if named else str(cell["state"])
