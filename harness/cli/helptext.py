"""Help in markdown: what typer shows of a command beside its options."""

from __future__ import annotations

from collections.abc import Sequence


def help_text(summary: str, *paragraphs: str, examples: Sequence[tuple[str, str]]) -> str:
    """Return a command's help: paragraphs, then examples (a command and what it does), each on a line of its own."""
    lines = [f"- `{command} # {does}`" for command, does in examples]
    return "\n\n".join((summary, *paragraphs, "Examples:", "\n".join(lines)))
