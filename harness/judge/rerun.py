"""The one-line command that runs one cell of the matrix again; pure."""

from __future__ import annotations

import shlex
from dataclasses import replace

from harness.model.options import arguments_of
from harness.model.request import Request


def rerun_command(request: Request, scenario: str, arm: str) -> str:
    """Return the `harness verify` line of `request`, for one scenario on one arm."""
    narrowed = replace(request, scenarios=(scenario,), arms=(arm,), suite=Request().suite)
    return shlex.join(["harness", "verify", *arguments_of(narrowed)])
