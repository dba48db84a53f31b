"""What a run directory names outside of it, and needs to be run again elsewhere: jars, claims, series, scenarios, …"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.kafka.distribution import folder_of_jars
from harness.model.options import options_of
from harness.model.request import NO_CLAIMS, Request
from harness.nightly.folder import NightFolder
from harness.rundir.directory import RunDirectory
from harness.rundir.packed_inputs import FOLDER, packed_inputs
from harness.stages.rules_digest import own_files_of

_OPTIONS = options_of(Request)
_SCENARIOS = "scenario_folders"
_KAFKAS = ("dist", "base_dist")
_FILES = ("jar", "base_jar", *_KAFKAS, "waivers", "config")
_SECRET = re.compile(r"password|secret|jaas|credential|\.key$", re.IGNORECASE)
_TOO_LARGE = ("sources", "java_home")  # a checkout, a Java: whoever runs it again has one
_OF_OPTIONS = ("request.json", "setup.json", "options.json")


@dataclass(frozen=True, slots=True)
class Content:
    """A file to be packed: its path in the pack, and where its bytes are to be had, or they themselves."""

    path: str
    source: Path | bytes


@dataclass(frozen=True, slots=True)
class FoundInputs:
    """Files to be packed, where what a run directory knows lies then, and the options whose values are not packed."""

    files: list[Content] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    lacks: list[str] = field(default_factory=list)


def inputs_of(folder: Path) -> FoundInputs:
    """Return what a run directory or a night names; of one whose records are damaged what the others name.

    Of what was unpacked nothing is taken that lies elsewhere: somebody else wrote which files these are.
    """
    found, is_unpacked = FoundInputs(lacks=list(_not_packed(folder))), packed_inputs(folder).exists
    for name, path in _named(folder):
        if path.is_relative_to(folder.absolute()) or any(path.is_relative_to(known) for known in found.places):
            continue  # it is packed already
        files = [] if is_unpacked else _files(name, path)
        if not files:
            found.lacks.append(f"{_option(name)} {path}")
            continue
        place = _place(name, path, {*found.places.values()})
        found.places[str(path)] = place
        found.files.extend(Content(f"{place}{_below(file, path)}", file) for file in files)
    return found


def places_with_options(paths: Iterable[str]) -> list[str]:
    """Return the folders, by paths of files, in which a command kept its options: run directories, and nights."""
    kept = (path for path in paths if Path(path).name in _OF_OPTIONS and "/runs/" not in f"/{path}")
    return sorted({Path(path).parent.as_posix() for path in kept})


def names_inputs(folder: Path) -> bool:
    """Whether the records of a folder name any file or folder."""
    return any(_named(folder))


def secrets_of(folder: Path) -> tuple[str, ...]:
    """Return the user's server properties whose values nobody else is to know."""
    setup = RunDirectory(folder).setup
    return tuple(filter(_SECRET.search, setup.read().overlay)) if setup.is_whole else ()


def _named(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files and folders that records name, folders before what may lie in them."""
    directory, night = RunDirectory(folder), NightFolder(folder)
    if directory.setup.is_whole:
        setup = directory.setup.read()
        named = ((name, getattr(setup, name)) for name in ("series", "claims", "waivers"))
        yield from ((name, Path(path)) for name, path in named if path)
    if directory.request.is_whole:
        request = directory.request.read()
        yield from ((_SCENARIOS, path) for path in request.scenario_folders)
        yield from (("patches", path) for path in request.patches)
        yield from ((name, getattr(request, name)) for name in _FILES if getattr(request, name))
        if request.claims not in ("", NO_CLAIMS):
            yield "claims", Path(request.claims)
    if night.options.is_whole:
        options = night.options.read()
        yield "matrix", options.matrix
        if options.history.is_file():
            yield "history", options.history


def _not_packed(folder: Path) -> Iterator[str]:
    directory = RunDirectory(folder)
    if not directory.request.is_whole:
        return
    request = directory.request.read()
    yield from (f"{_option(name)} {getattr(request, name)}" for name in _TOO_LARGE if getattr(request, name))
    for name in ("git", "base_git"):
        address = getattr(request, name)
        if Path(address.rpartition("@")[0]).is_absolute():  # a clone on this machine
            yield f"{_option(name)} {address}"
    if directory.roll_plan.is_whole and (config := directory.roll_plan.read().command_config):
        yield f"--command-config {config}"  # it is made of secrets


def _files(name: str, path: Path) -> list[Path]:
    """Return the files at a place: jars of an unpacked Kafka, Python files of scenarios, else all but caches and hidden
    ones.
    """
    if path.is_file():
        return [path]
    if name in _KAFKAS:
        return sorted(jar for jar in folder_of_jars(path).glob("*.jar") if jar.is_file())
    if name == _SCENARIOS:  # that folder may be any; what is read of it are these
        return [file for file in own_files_of([path]) if file.is_file()]
    return sorted(file for file in path.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(path)))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _place(name: str, path: Path, taken: set[str]) -> str:
    """Return where something is packed: below the name of its option, and called as it was."""
    folders = (f"{FOLDER}/{name.replace('_', '-')}{number}" for number in ("", *(f"-{n}" for n in range(2, 1000))))
    places = (f"{folder}/{path.name or name}" for folder in folders)
    return next(place for place in places if place not in taken)


def _below(file: Path, path: Path) -> str:
    return "" if file == path else f"/{file.relative_to(path).as_posix()}"


def _option(name: str) -> str:
    return _OPTIONS[name].name if name in _OPTIONS else f"--{name}"
