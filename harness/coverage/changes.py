"""Which lines of the candidate base has not: those that its series adds, else those of methods whose code differs."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import git

from harness.base.archives import open_archive, read_entry
from harness.base.errors import HarnessError
from harness.coverage.agent import outermost_class
from harness.coverage.linetable import ClassLines, class_lines
from harness.kafka.patching import Patch, Series
from harness.kafka.repository import answered, commit_all, create_repository
from harness.proof.bytecode import BytecodeTools, ClassFacts, read_each

JAVA_SOURCES = "raft/src/main/java"
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)

# Line numbers (from 1) by source file: a path of the source tree, or `org/apache/kafka/raft/QuorumConfig.java`.
ChangedLines = Mapping[str, frozenset[int]]


def lines_of_series(sources: Path, series: Series) -> ChangedLines:
    """Return the lines that a series has added to a tree of sources, by path in it.

    `sources` is what came out, patched; git takes the series out again and compares, so that neither offsets nor
    what later patches shifted need a reckoning of our own. Raises HarnessError when the series is not in there.
    """
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(sources, tree, symlinks=True)
        repository = create_repository(tree)
        after = commit_all(repository, "patched")
        for patch in reversed(series.patches):
            _take_out(patch, repository)
        before = commit_all(repository, "as it was before")
        compare = ("--no-renames", "--no-ext-diff", before, after)
        names = repository.git.diff("--name-only", "-z", *compare).split("\0")
        return {
            name: frozenset(added_lines(repository.git.diff("--unified=0", "--no-color", *compare, "--", name)))
            for name in filter(None, names)
        }


def _take_out(patch: Patch, repository: git.Repo) -> None:
    """Apply a patch the other way round; its changes outside the module's own code, such as tests, are not kept."""
    answered(lambda: repository.git.apply("--reverse", f"--include={JAVA_SOURCES}/*", str(patch.path)))


def added_lines(diff: str) -> Iterable[int]:
    """Yield the numbers of the lines that a diff of one file, without context, adds or changes. Pure."""
    for start, count in _HUNK.findall(diff):
        yield from range(int(start), int(start) + int(count or "1"))


def lines_of_methods(tools: BytecodeTools, base: Path, candidate: Path) -> ChangedLines:
    """Return the lines of all methods whose code base has not, by package and source file.

    Raises HarnessError when a jar or a class cannot be read.
    """
    old, new = read_each(tools, (base, candidate))
    found: dict[str, set[int]] = {}
    with open_archive(candidate) as archive:
        for name, facts in new.items():
            changed = changed_methods(old.get(name), facts)
            if changed:
                lines = class_lines(_content(archive, facts))
                found.setdefault(_source_of(name, lines), set()).update(*(lines.methods.get(m, ()) for m in changed))
    return {path: frozenset(lines) for path, lines in found.items() if lines}


def changed_methods(base: ClassFacts | None, candidate: ClassFacts) -> frozenset[tuple[str, str]]:
    """Return name and descriptor of the candidate's methods whose instructions base has not under that name. Pure."""
    old = {(m.name, m.descriptor): m.code for m in base.methods} if base else {}
    return frozenset(
        (m.name, m.descriptor) for m in candidate.methods if m.code and old.get((m.name, m.descriptor)) != m.code
    )


def classes_from(jar: Path, files: Iterable[str]) -> tuple[str, ...]:
    """Return the outermost classes that a jar has from these source files, sorted.

    A file may hold several of them. Raises HarnessError when a class cannot be read.
    """
    wanted = {path.removeprefix(f"{JAVA_SOURCES}/") for path in files}
    found = set()
    with open_archive(jar) as archive:
        for entry in archive.namelist():
            outermost = outermost_class(entry)
            if outermost and _source_of(outermost, class_lines(read_entry(archive, entry))) in wanted:
                found.add(outermost)
    return tuple(sorted(found))


def _content(archive: zipfile.ZipFile, facts: ClassFacts) -> bytes:
    if not facts.entry:
        raise HarnessError(f"The class {facts.name} has no place in {archive.filename}.")
    return read_entry(archive, facts.entry)


def _source_of(name: str, lines: ClassLines) -> str:
    package, slash, simple = name.rpartition("/")
    return f"{package}{slash}{lines.source or simple.split('$', 1)[0] + '.java'}"
