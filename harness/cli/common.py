"""What commands share: consoles, options, and reading them into a Request."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Any, Literal

import typer
from rich.console import Console

from harness.base.errors import HarnessError
from harness.base.files import write_bytes
from harness.base.locks import MARKER, owned, scratch, sweep
from harness.base.paths import nearest_existing
from harness.base.progress import Reporter
from harness.cluster.runtime.namespaces import enter_user_namespace
from harness.containers.in_use import sweep_what_was_left
from harness.model.request import Request
from harness.rundir.directory import RunDirectory
from harness.toolbox.toolbox import Toolbox, local_toolbox

USAGE_OR_HARNESS_ERROR = 2
_held = ExitStack()
_shown = {"quiet": False, "verbose": False, "document": False}  # as the command line has it
_in_work: list[Callable[[], str]] = []  # of each, the sentence that says how to go on with it


class Output(StrEnum):
    """What stands on stdout: text for people, or one document alone."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def _note(name: str) -> Callable[[Any], Any]:
    def note(value: Any) -> Any:
        _shown[name] = value is not Output.TEXT if isinstance(value, Output) else bool(value)
        return value

    return note


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print only the result, no progress.", callback=_note("quiet"), expose_value=False
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Print every reason, everything that was not tested, and where the evidence of failed runs is.",
        callback=_note("verbose"),
        expose_value=False,
    ),
]
Form = Annotated[
    Literal[Output.TEXT, Output.JSON],
    typer.Option(
        "--output",
        "-o",
        help="`json`: only the record on stdout, everything else on stderr.",
        callback=_note("document"),
    ),
]
FormOrMarkdown = Annotated[
    Output,
    typer.Option(
        "--output",
        "-o",
        help="`json` or `markdown`: only that on stdout, everything else on stderr.",
        callback=_note("document"),
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Run directory to make; `out/<time>-<command>` if not given.", show_default=False),
]
OutCopy = Annotated[
    Path | None,
    typer.Option("--out", help="Work in a copy of the run directory, made there.", show_default=False),
]
RunDir = Annotated[Path, typer.Argument(help="A run directory, as `harness verify` or `harness build` made it.")]
OwnScenarios = Annotated[
    list[Path] | None,
    typer.Option("--scenarios", help="A folder of scenarios of your own; can be repeated.", show_default=False),
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=16, help="Clusters side by side.")]
Offline = Annotated[bool, typer.Option("--offline", help="Use only what the cache holds; never use the network.")]


class _ToWhomeverReads(Console):
    """A console that goes on when nobody reads any more: the exit code is the answer, and 1 would mean HOLD."""

    def on_broken_pipe(self) -> None:
        """Have all later output go nowhere."""
        self.quiet = True
        _say_no_more(self.file)


def _say_no_more(stream: IO[str]) -> None:
    with suppress(OSError, ValueError):  # no descriptor: then nothing is flushed at the end either
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def console() -> Console:
    """Return the console for results: stdout, unless a document alone is to stand there."""
    return errors() if _shown["document"] else _ToWhomeverReads(soft_wrap=True, highlight=False, markup=False)


def errors() -> Console:
    """Return the console for errors (stderr)."""
    return _ToWhomeverReads(stderr=True, soft_wrap=True, highlight=False, markup=False)


def reporter() -> Reporter:
    """Return what reports progress."""
    return Reporter(console(), quiet=_shown["quiet"], verbose=_shown["verbose"])


def print_document(text: str) -> None:
    """Print on stdout what is to stand there alone."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        _say_no_more(sys.stdout)


def print_record(path: Path) -> None:
    """Print a record on stdout, where the command line asked for it."""
    if _shown["document"]:
        print_document(path.read_text(encoding="utf-8"))


def toolbox(*, offline: bool = False, java_home: Path | None = None) -> Toolbox:
    """Return what stages work with; downloads are shown on the console."""
    return local_toolbox(offline=offline, java_home=java_home, show=reporter().downloads)


def toolbox_for(request: Request) -> Toolbox:
    """Return what the stages of a request work with: its Java, and offline if it says so."""
    return toolbox(offline=request.offline, java_home=request.java_home)


def toolbox_of(run_dir: Path) -> Toolbox:
    """Return what the stages of a run directory work with, by its request."""
    return toolbox_for(RunDirectory(run_dir).request.read())


def hold(folder: Path) -> None:
    """Own a folder until the command ends; what a killed harness left half-written there is removed first.

    Raises HarnessError when another harness has it, or when it is none.
    """
    if not folder.exists():
        raise HarnessError(f"{folder} does not exist.", "Check the path.")
    _held.enter_context(owned(folder))
    RunDirectory(folder).remove_unfinished()


def begin(folder: Path) -> None:
    """Own a run directory or a night, which can be gone on with when the command is interrupted."""
    hold(folder)
    _in_work.append(lambda: f"Go on with: {command}" if (command := _resume_command(folder)) else "")


def begin_table(folder: Path) -> None:
    """Own the folder of a table, which the same command goes on with when it is named by `--out`."""
    hold(folder)
    _in_work.append(lambda: f"Go on with the same command and {shlex.join(('--out', str(folder)))}.")


@contextmanager
def at_work() -> Iterator[None]:
    """Give a command a scratch folder for all that is temporary; take back what it held when it ends.

    What killed harnesses left is swept first.
    """
    temporary = Path(tempfile.gettempdir())
    sweep_what_was_left([left for parent in (temporary, *toolbox().cache.glob("*/")) for left in sweep(parent)])
    _in_work.clear()
    _shown.update(dict.fromkeys(_shown, False))
    with _held, scratch(temporary) as folder, _temporary_files_in(folder):
        yield


def how_to_go_on() -> str:
    """Return how to go on with what the last command began; empty where that was nothing."""
    sentences = [sentence for say in _in_work if (sentence := say())]
    return sentences[-1] if sentences else ""


def _resume_command(folder: Path) -> str:
    """Return the command that goes on with a run directory or a night; empty for a folder that is neither."""
    from harness.nightly.folder import NightFolder  # of interest once something was cut short, or is in the way

    night, directory = NightFolder(folder), RunDirectory(folder)
    if night.night.exists and night.options.exists:
        return night.resume_command
    return directory.resume_command if directory.request.exists else ""


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Have everything that this process writes for a while only, libraries too, written below one folder."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def allow_networks() -> None:
    """Enter a user namespace where this is not root's process: its runs may then have networks of their own.

    Where the kernel refuses, scenarios that need one are UNSUPPORTED and say why (network_namespaces).
    """
    enter_user_namespace()


def new_run_dir(out: Path | None, command: str) -> Path:
    """Return a run directory that does not exist yet, or is empty. Raises HarnessError."""
    if out is None:
        return _unused(Path("out") / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{command}")
    if out.exists() and (not out.is_dir() or any(path.name != MARKER for path in out.iterdir())):
        resume = _resume_command(out)
        go_on = f", or go on with this one: {resume}" if resume else ""
        is_what = "The folder {} is not empty" if out.is_dir() else "{} is there already, and no folder"
        raise HarnessError(f"{is_what.format(out)}.", f"Name another by --out{go_on}.")
    return folder_to_write_in(out)


def folder_to_write_in(folder: Path, *, is_new: bool = False) -> Path:
    """Make a folder where it is missing and return it; one that `is_new` is a FileExistsError when it is there.

    Raises HarnessError for one that cannot be made, or not be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=not is_new)
    except OSError as error:
        if is_new and isinstance(error, FileExistsError):
            raise
        raise HarnessError(f"{folder} cannot be made: {error.strerror}.", "Name another by --out.") from error
    if not os.access(folder, os.W_OK):
        raise HarnessError(f"{folder} cannot be written to.", "Name another by --out.")
    return folder


def _unused(wanted: Path) -> Path:
    """Make a folder that was not there: two harnesses may begin in the same second."""
    for suffix in ("", *(f"-{number}" for number in range(2, 100))):
        folder = wanted.with_name(wanted.name + suffix)
        try:
            return folder_to_write_in(folder, is_new=True)
        except FileExistsError:
            continue
    raise HarnessError(f"{wanted} and its like are there already.", "Name a folder by --out.")


def work_dir(run_dir: Path, out: Path | None) -> Path:
    """Return the run directory to work in, held: a copy of it at `out` if that is given, else itself."""
    RunDirectory(run_dir).declaration.read()
    if out is None:
        begin(run_dir)
        return run_dir
    with owned(run_dir):
        copy_folder(run_dir, out, "copy")
    begin(out)
    return out


def copy_folder(folder: Path, out: Path, command: str) -> None:
    """Copy what somebody owns, whole or not at all, to a place where nothing is. Raises HarnessError."""
    there = nearest_existing(out.absolute())
    new_run_dir(out, command)
    try:
        shutil.copytree(folder, out, dirs_exist_ok=True, ignore=shutil.ignore_patterns(MARKER))
    except BaseException:
        _take_away(out, there)
        raise


def _take_away(folder: Path, there: Path | None = None) -> None:
    """Remove a folder as far as that can be done, and the empty ones around it up to one that was `there` before.

    One that was there itself, or is mounted, is left empty.
    """
    if there == folder.absolute():
        with suppress(OSError):  # as far as it goes: the error that led here is the one to be told
            for each in folder.iterdir():
                shutil.rmtree(each, ignore_errors=True) if each.is_dir() and not each.is_symlink() else each.unlink()
        return
    shutil.rmtree(folder, ignore_errors=True)
    around = itertools.takewhile(lambda each: each != there, folder.absolute().parents) if there else ()
    with suppress(OSError):  # not empty: somebody else's lies there
        for each in around:
            each.rmdir()


def refuse_rollout(run_dir: Path, hint: str = "") -> None:
    """Raise HarnessError for a rollout, where a command is about verifications alone.

    The hint is how to go on with the rollout if none is given.
    """
    directory = RunDirectory(run_dir)
    if directory.roll_plan.exists:
        raise HarnessError(f"{run_dir} is a rollout.", hint or f"Do what it lacks with: {directory.resume_command}")


def only_verifications(folders: Iterable[Path], done: str) -> None:
    """Raise HarnessError when a rollout is among the folders that are to be `done`."""
    hint = f"Only verifications and nights are {done}; what a rollout came to is in its report.html and rollout.json."
    for folder in folders:
        refuse_rollout(folder, hint)


@contextmanager
def fresh_run_dir(out: Path | None, command: str, request: Request | None = None) -> Iterator[Path]:
    """Make a run directory; one that no other stage could go on from goes away again when the command fails."""
    there = nearest_existing((out or Path("out")).absolute())
    folder = new_run_dir(out, command)
    begin(folder)
    try:
        if request:
            RunDirectory(folder).request.write(request)
        yield folder
    except BaseException as error:
        if not RunDirectory(folder).declaration.exists:
            kept = error.kept if isinstance(error, HarnessError) else None
            text = kept.read_bytes() if kept else b""
            _take_away(folder, there)
            if kept:
                write_bytes(kept, text)
        raise


@contextmanager
def fresh_folder(out: Path | None, command: str) -> Iterator[Path]:
    """Make a folder for the result of a command; it goes away again when the command fails."""
    there = nearest_existing((out or Path("out")).absolute())
    folder = new_run_dir(out, command)
    hold(folder)
    try:
        yield folder
    except BaseException:
        _take_away(folder, there)
        raise


def argv() -> tuple[str, ...]:
    """Return the words after the program's name, for re-run commands."""
    return tuple(sys.argv[1:])
