"""What of a run directory goes into a pack, and what nobody needs elsewhere."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from harness.base.errors import HarnessError
from harness.base.files import PARTIAL
from harness.base.json import parse_json, to_json
from harness.base.locks import MARKER, SCRATCH
from harness.model.declaration import SCHEMA
from harness.model.pack import PackedInputs, problem_of
from harness.nightly.folder import NightFolder
from harness.rundir.directory import RunDirectory
from harness.rundir.packed_inputs import packed_inputs
from harness.rundir.parts import RESULT, STORAGE_OF_NODES, LogsFolder, TopicIdsFolder, UpgradeFolder
from harness.stages.compared_logs import comparison_to_note
from harness.stages.mutants import RESULTS as MUTANTS
from harness.stages.pack_inputs import Content, inputs_of, places_with_options, secrets_of
from harness.stages.power import RESULTS as POWER

_CACHES = ("__pycache__", ".pytest_cache")
_UNFINISHED = (PARTIAL, SCRATCH, "spark-")
STORAGE, CACHES, UNFINISHED, NOT_PLAIN = "storage of nodes", "caches", "half-written files", "links and the like"


@dataclass(frozen=True, slots=True)
class Contents:
    """The files of a pack, sorted by path; how many were left out by reason; what lacks to run it again.

    `secrets` are server properties of the user whose values are in it, `outside` the files and folders elsewhere that
    are in it too.
    """

    files: tuple[Content, ...]
    left_out: Counter[str]
    lacks: tuple[str, ...]
    secrets: tuple[str, ...]
    outside: tuple[str, ...]


def kind_of(folder: Path) -> str:
    """Return what a folder of the harness is called. Raises HarnessError for one that it did not make."""
    directory, logs = RunDirectory(folder), LogsFolder(folder)
    kinds = {
        "night": NightFolder(folder).night.exists,
        "rollout": directory.roll_plan.exists,
        "verification": directory.request.exists or directory.declaration.exists,
        "upgrade notes": UpgradeFolder(folder).changes.exists,
        "topic-id check": TopicIdsFolder(folder).check.exists,
        "log diff": logs.findings.exists and logs.totals.exists,
        "table of mutants": (folder / MUTANTS).is_file(),
        "power curve": (folder / POWER).is_file(),
    }
    found = next((kind for kind, is_it in kinds.items() if is_it), "")
    if not found:
        raise HarnessError(
            f"{folder} is nothing that the harness made.",
            "Name a run directory, a night, or the --out of a log diff, upgrade notes or a topic-id check.",
        )
    return found


def contents_of(folder: Path) -> Contents:
    """Return what is packed of a folder, with what its run directories name outside of it."""
    files, left_out = _own_files(folder)
    lacks: list[str] = []
    secrets: list[str] = []
    outside: list[str] = []
    for place in places_with_options(files):
        _refuse_older(RunDirectory(folder / place))
        found = inputs_of(folder / place)
        prefix = "" if place == "." else f"{place}/"
        files |= {f"{prefix}{each.path}": replace(each, path=f"{prefix}{each.path}") for each in found.files}
        if found.places:
            listed = f"{prefix}{packed_inputs(Path()).path}"
            files[listed] = Content(listed, _merged(folder / place, found.places))
        if note := comparison_to_note(RunDirectory(folder / place)):
            noted = f"{prefix}{RunDirectory(Path()).logs.comparison.path}"
            files[noted] = Content(noted, to_json(note).encode())
        lacks += found.lacks
        outside += found.places
        secrets += secrets_of(folder / place)
    lacks += _compared_elsewhere(LogsFolder(folder))
    ordered = tuple(files[path] for path in sorted(files))
    return Contents(ordered, left_out, *(tuple(dict.fromkeys(each)) for each in (lacks, secrets, outside)))


def _compared_elsewhere(logs: LogsFolder) -> list[str]:
    """Return the logs that a log diff of two folders read: they stay where they are, and its page has their lines."""
    found = logs.findings.read() if logs.totals.exists and logs.findings.is_whole else ()
    return [f"the logs of {side}" for contrast in found for side in (contrast.base, contrast.candidate)]


def _refuse_older(directory: RunDirectory) -> None:
    """Raise HarnessError for a folder of another schema, of which times of files say what today's has a note of."""
    file = directory.declaration
    try:
        found = parse_json(file.path.read_bytes()).get("schema") if file.exists else SCHEMA
    except (HarnessError, AttributeError):  # it is damaged, and packed as it is
        return
    if found != SCHEMA:
        file.read()  # which says what to do


def why_left_out(path: str) -> str:
    """Return why a file is left out, by its path in the folder; empty for one that is packed. Pure."""
    name, *above = reversed(path.split("/"))
    if any(part.startswith(_UNFINISHED) for part in (name, *above)):
        return UNFINISHED
    if name.endswith(".jsa") or {*_CACHES} & {*above}:
        return CACHES
    return STORAGE if STORAGE_OF_NODES.fullmatch(path) else problem_of(path)


def _own_files(folder: Path) -> tuple[dict[str, Content], Counter[str]]:
    files: dict[str, Content] = {}
    left_out: Counter[str] = Counter()
    for path in (each for each in _walk(folder) if each.name != MARKER):
        name = path.relative_to(folder).as_posix()
        why = why_left_out(name)
        if path.is_symlink() or not path.is_file():
            left_out[NOT_PLAIN] += 1
        elif why and not (why == STORAGE and _is_evidence(folder, name)):
            left_out[why] += 1
        else:
            files[name] = Content(name, path)
    return files, left_out


def _walk(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder but folders; what is a link is not followed."""
    for place, folders, names in os.walk(folder, onerror=_refuse):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        yield from (Path(place) / name for name in (*names, *links))


def _refuse(error: OSError) -> NoReturn:
    raise HarnessError(
        f"The folder {error.filename} cannot be looked into: {error.strerror}.", "Pack as the user whose run it is."
    ) from error


def _is_evidence(folder: Path, name: str) -> bool:
    """Whether the result of its run names a file in a node's storage."""
    found = STORAGE_OF_NODES.fullmatch(name)
    assert found
    result = folder / name[: found.end("run")] / RESULT
    return result.is_file() and f'"{name[found.start("run") :]}"'.encode() in result.read_bytes()


def _merged(folder: Path, places: dict[str, str]) -> bytes:
    known = packed_inputs(folder).read_if_exists() or PackedInputs()
    return to_json(PackedInputs({**known.places, **places})).encode()
