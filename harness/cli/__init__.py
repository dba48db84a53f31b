"""The `harness` command: thin; everything is done in harness.stages."""

from __future__ import annotations

import sys

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; exits the process. Loading it takes a second, in which Ctrl-C may well come."""
    try:
        from harness.cli.app import main as run
    except KeyboardInterrupt:
        print("\nStopped; nothing was begun.", file=sys.stderr)
        sys.exit(_INTERRUPTED)
    run()
