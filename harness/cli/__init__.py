"""The `harness` command: thin; every deed is in harness.stages."""

from harness.cli.app import main

__all__ = ["main"]
