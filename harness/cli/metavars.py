"""What stands beside an option in help: a word for its value, and nothing beside a switch, which takes none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import typer

HELP_OPTIONS = ["-h", "--help"]
_WORDS = {Path: "PATH", str: "TEXT", int: "N", float: "N"}


def with_words(command: Any) -> Any:
    """Return a command as typer made it, and all below it, with words for values where nobody gave one.

    Left to itself typer writes `--offline <bool>`, as if it wanted a value, and `<list[Path]>`.
    """
    for each in getattr(command, "commands", {}).values():
        with_words(each)
    for parameter in _parameters(command):
        if parameter.metavar is None:
            parameter.metavar = _word(parameter)
    return command


def _parameters(command: Any) -> Iterator[Any]:
    yield from command.params
    yield command.get_help_option(typer.Context(command, help_option_names=HELP_OPTIONS))


def _word(parameter: Any) -> str | None:
    """Return the word for a parameter's value; None where typer's own is best, as of a choice."""
    if getattr(parameter, "is_flag", False):
        return ""
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    kind = parameter.type_descriptor.annotation
    return _WORDS.get(next(iter(get_args(kind)), kind))
