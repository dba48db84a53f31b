"""Entry point: one error sentence instead of a traceback, and a clean end on Ctrl-C and SIGTERM."""

from __future__ import annotations

import errno
import io
import logging
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Sequence
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.text import Text
from typer.main import get_command

from harness.base.ending import ask_for_end, end_is_asked_for
from harness.base.errors import HarnessError
from harness.base.room import lacks_room
from harness.base.text import visible
from harness.cli import (
    audit,
    chaos,
    claims,
    compare,
    convert,
    diff,
    github,
    image,
    inspect,
    mutants,
    nightly,
    noise,
    pack,
    rollout,
    selftest,
    simulate,
    stages,
    topic_ids,
    upgrade_notes,
    verify,
)
from harness.cli.common import USAGE_OR_HARNESS_ERROR, at_work, console, errors, how_to_go_on
from harness.cli.metavars import HELP_OPTIONS, with_words
from harness.report.github import Annotation, Level

_DISTRIBUTION = "kafka-patch-harness"
_INTERRUPTED = 130
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_END_WITHIN_SECONDS = 8.0
_AGAIN_SECONDS = 0.05
_ALSO = {"kafka-version": "kafka"}  # other names that people look for

app = typer.Typer(
    name="harness",
    help="May I roll this Kafka jar out? Builds, live clusters, log diff, verdict.",
    epilog="Exit codes: 0 SHIP, 1 HOLD, 2 usage or harness error, 3 INCONCLUSIVE, 130 interrupted.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP_OPTIONS, "token_normalize_func": lambda name: _ALSO.get(name, name)},
)
verify.register(app)
rollout.register(app)
stages.register(app)
diff.register(app)
inspect.register(app)
image.register(app)
audit.register(app)
claims.register(app)
mutants.register(app)
nightly.register(app)
compare.register(app)
pack.register(app)
noise.register(app)
convert.register(app)
upgrade_notes.register(app)
topic_ids.register(app)
selftest.register(app)
simulate.register(app)
chaos.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        console().print(f"{_DISTRIBUTION} {metadata.version(_DISTRIBUTION)}")
        raise typer.Exit


@app.callback()
def _harness(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Take what goes before a command."""


def main() -> None:
    """Run the command line; exits the process."""
    for ending in _ENDING_SIGNALS:  # a shell's background jobs start with SIGINT ignored
        signal.signal(ending, _terminate)
    for stream in (sys.stdout, sys.stderr):  # of an encoding that lacks the signs that are printed
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.unraisablehook = _raise_again
    logging.getLogger().addHandler(logging.NullHandler())  # py4j would print an interruption's traceback
    with github.guarded():
        code = _run()
    sys.exit(code)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    """End as on Ctrl-C: nodes are killed and what is half-written is left out.

    Once: a second Ctrl-C must not disturb the end. It has its time; children die with this process in any case.
    """
    ask_for_end()
    for ending in _ENDING_SIGNALS:
        signal.signal(ending, signal.SIG_IGN)
    deadline = threading.Timer(_END_WITHIN_SECONDS, _end_at_once)
    deadline.daemon = True
    deadline.start()
    raise KeyboardInterrupt


def _end_at_once() -> None:
    try:
        _say_stopped()
    finally:  # nobody may be left to read it
        os._exit(_INTERRUPTED)


def _say_stopped() -> None:
    errors().print(f"\nStopped; nothing is left running. {how_to_go_on()}".rstrip())


def _raise_again(lost: sys.UnraisableHookArgs) -> None:
    """Raise an interruption once more that came where Python loses it, such as in a callback of an import."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGINT, _interrupt)
    # From another thread and a moment later: here it would be lost again.
    threading.Timer(_AGAIN_SECONDS, os.kill, [os.getpid(), signal.SIGINT]).start()


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _refuse_empty(words: Sequence[str]) -> None:
    """Raise HarnessError for a word that is empty, as a script's variable leaves it that is not set."""
    for before, word in pairwise(("", *words)):
        option, is_given, value = word.partition("=")
        if not word or (word.startswith("--") and is_given and not value):
            what = option or (before if before.startswith("-") else "One word of the command")
            raise HarnessError(f"{what} is empty.", "Give it a value or leave it out: a variable may not be set.")


def _run() -> int:
    try:
        _refuse_empty(sys.argv[1:])
        with at_work():
            code = with_words(get_command(app))(standalone_mode=False)
    except typer.TyperException as error:  # usage: typer's own words, with the command's usage line
        error.show()  # type: ignore[attr-defined]  # its subclasses that reach us have it
        return USAGE_OR_HARNESS_ERROR
    except Exception as error:
        if not end_is_asked_for():
            return _tell(error)
        code = _INTERRUPTED  # the error is what a library made of the interruption
    if code == _INTERRUPTED:  # what typer makes of KeyboardInterrupt
        _say_stopped()
    return code if isinstance(code, int) else 0


_CANNOT_BE_USED = (errno.EROFS, errno.ENOTDIR)


def _tell(error: Exception) -> int:
    """Say an error in one sentence; a fault of the harness also has its traceback kept where it can be sent from."""
    github.announce([Annotation(Level.ERROR, "harness", str(error))])
    if isinstance(error, HarnessError):
        _print_error("error", error.message, error.hint)
    elif isinstance(error, PermissionError) and error.filename:
        _print_error(
            "error", f"Permission denied: {error.filename}.", "Give this user the right, or name another place."
        )
    elif isinstance(error, OSError) and error.errno in _CANNOT_BE_USED and error.filename:
        _print_error(
            "error",
            f"{error.filename} cannot be used: {error.strerror}.",
            "Name another place; that of results is --out, of the cache XDG_CACHE_HOME, of temporary files TMPDIR.",
        )
    elif lacks_room(error):
        places = "of the run directory, of the cache (XDG_CACHE_HOME) and of temporary files (TMPDIR)"
        _print_error("error", "A disk is full.", f"Free some room on those {places}. {how_to_go_on()}".rstrip())
    else:
        kept = f"This is a fault of the harness; its traceback is in {_keep_traceback()}."
        _print_error("internal error", f"{type(error).__name__}: {error}"[:500], kept)
    return USAGE_OR_HARNESS_ERROR


def _keep_traceback() -> Path:
    handle, name = tempfile.mkstemp(prefix="kafka-patch-harness-error-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        traceback.print_exc(file=stream)
    return Path(name)


def _print_error(kind: str, message: str, hint: str) -> None:
    """Print an error's sentence; what stands in it may come from a hostile file."""
    errors().print(Text.assemble((f"{kind}: ", "bold red"), visible(message)))
    if hint:
        errors().print(Text(f"  {visible(hint)}"))
