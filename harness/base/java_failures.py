"""Why a Java program ended, as what it printed says."""

from __future__ import annotations

from harness.base.text import visible


def failure_in(printed: str) -> str:
    """Return the sentence of a Java stack trace that says why: the innermost cause."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith(("Exception in", "Caused by:", "Error:"))]
    return visible((causes or lines or ["it said nothing"])[-1].removeprefix("Caused by: ")[:300])
