"""Patch series: read, distrusted, and applied through git, one commit a patch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import git

from harness.base.errors import HarnessError
from harness.kafka.repository import commit_index, open_repository
from harness.kafka.tree import SourceTree

_MOST_BYTES = 5 * 2**20
_ALLOWED_TOP = "raft"
_HEADER = re.compile(r"([A-Z][A-Za-z-]*):\s*(.*)")
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_FAILED_HUNK = re.compile(r"error: patch failed: (.+):(\d+)$", re.MULTILINE)
_ORDINARY_FILES = ("000000", "100644", "100755")


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch file; `headers` are its DEP-3 fields by name, continuation lines joined by newlines."""

    name: str
    path: Path
    headers: Mapping[str, str]

    @property
    def subject(self) -> str:
        """The description's first line."""
        return self.headers.get("Description", self.name).split("\n", 1)[0]


@dataclass(frozen=True, slots=True)
class Series:
    """Patches in the order in which they are applied, and the Kafka version that they were made for."""

    name: str
    version: str
    patches: tuple[Patch, ...]


def load_series(folder: Path) -> Series:
    """Read `folder/series` and the patches it lists. Raises HarnessError that names what is missing or refused.

    The version is the first patch's `Applies-To`, or else the name of the folder that holds this one.
    """
    try:
        names = parse_series((folder / "series").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise HarnessError(
            f"{folder} is not a patch series: its file `series` cannot be read ({error}).",
            "Name a folder with a file `series` that lists patches, one a line.",
        ) from error
    if not names:
        raise HarnessError(f"The series {folder / 'series'} lists no patch.", "List one file name a line.")
    patches = tuple(load_patch(folder, name) for name in names)
    folder = folder.absolute()
    return Series(folder.name, patches[0].headers.get("Applies-To", folder.parent.name), patches)


def parse_series(text: str) -> list[str]:
    """Return the patch names that a quilt-like series file lists; `#` begins a comment."""
    return [name for line in text.splitlines() if (name := line.split("#", 1)[0].strip())]


def parse_headers(text: str) -> dict[str, str]:
    """Return the DEP-3 fields at the top of a patch, up to `---` or the first diff line."""
    headers: dict[str, str] = {}
    current = ""
    for line in text.splitlines():
        if line.startswith(("---", "diff --git ", "Index: ")):
            break
        if line.startswith(" ") and current:
            headers[current] += f"\n{line.strip()}"
        elif found := _HEADER.fullmatch(line):
            current = found.group(1)
            headers[current] = found.group(2)
    return headers


def apply_series(tree: SourceTree, series: Series) -> SourceTree:
    """Apply the series to a checkout and return the tree at its last commit.

    Raises HarnessError for a patch that does not fit (naming file and hunk) or that reaches where none may.
    """
    repository = open_repository(tree.path)
    for patch in series.patches:
        tree = replace(tree, commit=_apply(repository, patch, series, tree))
    return tree


def path_problem(path: str) -> str:
    """Return why a patch may not touch a path of the tree, or an empty string."""
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts:
        return "it lies outside the source tree"
    if any(part.lower().startswith(".git") for part in parts):
        return "it belongs to git"
    if not parts or parts[0] != _ALLOWED_TOP:
        return f"it lies outside {_ALLOWED_TOP}/, the module that is built"
    return ""


def hunk_at(text: str, file: str, line: int) -> str:
    """Return which hunk of a patch changes `file` from its old line `line`, as `hunk 2 of 4 (@@ … @@)`."""
    hunks = _hunks_of(text, file)
    starts = [int(found.group(1)) for hunk in hunks if (found := _HUNK.match(hunk))]
    if line not in starts:
        return f"a hunk at line {line}"
    number = starts.index(line)
    return f"hunk {number + 1} of {len(hunks)} ({hunks[number]})"


def _hunks_of(text: str, file: str) -> list[str]:
    hunks: list[str] = []
    here = False
    previous = ""
    for line in text.splitlines():
        if line.startswith("+++ ") and previous.startswith("--- "):
            here = f"/{file}" in (line[5:], previous[5:])
        elif here and (found := _HUNK.match(line)):
            hunks.append(found.group(0))
        previous = line
    return hunks


def load_patch(folder: Path, name: str) -> Patch:
    """Read one patch of a folder. Raises HarnessError for a name that leads elsewhere, is not there or is too large."""
    path = folder / name
    if PurePosixPath(name).name != name:
        raise HarnessError(f"The series {folder} lists {name!r}.", "List file names of the same folder only.")
    if not path.is_file():
        raise HarnessError(f"The series {folder} lists {name}, which is not there.", "Add it, or drop its line.")
    if path.stat().st_size > _MOST_BYTES:
        raise HarnessError(
            f"The patch {path} has {path.stat().st_size} bytes; more than {_MOST_BYTES} are refused.",
            "Split it, and leave generated files out.",
        )
    return Patch(name, path.absolute(), parse_headers(path.read_text(encoding="utf-8", errors="replace")))


def _apply(repository: git.Repo, patch: Patch, series: Series, tree: SourceTree) -> str:
    # Into the index only, and into files after the check: a refused patch has written nothing.
    try:
        _refuse_reach(patch, repository.git.apply("--numstat", "-z", str(patch.path)))
        repository.git.apply("--cached", "--whitespace=nowarn", str(patch.path))
    except git.GitCommandError as error:
        raise _does_not_fit(patch, series, tree, str(error.stderr)) from error
    _refuse_kinds(patch, repository.git.diff("--cached", "--raw", "--no-renames", "HEAD"))
    commit = commit_index(repository, patch.subject)
    repository.git.reset("--hard", "--quiet")
    return commit


def _refuse_reach(patch: Patch, numstat: str) -> None:
    """Refuse binary changes and paths that are not the module's, as git itself reads them from the patch."""
    for record in filter(None, numstat.split("\0")):
        added, _, path = record.rpartition("\t")
        if added.startswith("-"):
            raise _refused(patch, path, "it is changed in binary form")
        if path and (problem := path_problem(path)):
            raise _refused(patch, path, problem)


def _refuse_kinds(patch: Patch, raw: str) -> None:
    for line in raw.splitlines():
        kinds, _, path = line.partition("\t")
        if kinds.split()[1] not in _ORDINARY_FILES:
            raise _refused(patch, path, "it becomes a symbolic link or a submodule")
        if problem := path_problem(path.strip('"')):
            raise _refused(patch, path, problem)


def _refused(patch: Patch, path: str, problem: str) -> HarnessError:
    return HarnessError(
        f"The patch {patch.path} is refused because of {path!r}: {problem}.", "Take that part out of the patch."
    )


def _does_not_fit(patch: Patch, series: Series, tree: SourceTree, stderr: str) -> HarnessError:
    made_for = f"The series {series.name} is made for {series.version}, the tree is {tree.version} ({tree.description})"
    found = _FAILED_HUNK.search(stderr)
    if not found:
        return HarnessError(
            f"git cannot apply the patch {patch.name}: {_first_error(stderr)}. {made_for}.",
            "Check that the file is a whole patch, or make it again from a tree of this version.",
        )
    file, line = found.group(1), int(found.group(2))
    hunk = hunk_at(patch.path.read_text(encoding="utf-8", errors="replace"), file, line)
    return HarnessError(
        f"The patch {patch.name} does not fit: {hunk} of {file} fails. {made_for}.",
        "Refresh the patch against this version, or choose the sources it was made for.",
    )


def _first_error(stderr: str) -> str:
    found = re.search(r"error: (.+?)'?$", stderr, re.MULTILINE)
    return found.group(1) if found else stderr.strip()[:300]
