"""Which code of the candidate base has not: the lines that its series adds, else the methods that do something else."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import git

from harness.base.archives import open_archive, read_entry
from harness.coverage.agent import outermost_class
from harness.coverage.jacoco import MethodName
from harness.coverage.linetable import ClassLines, class_lines
from harness.kafka.patching import Patch, Series
from harness.kafka.repository import answered, commit_all, create_repository
from harness.model.proof import ChangedMethod

JAVA_SOURCES = "raft/src/main/java"
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)

# Line numbers (from 1) by source file: a path of the source tree, or `org/apache/kafka/raft/QuorumConfig.java`.
ChangedLines = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class ChangedCode:
    """The lines of the candidate that base has not, and the methods that hold them."""

    lines: ChangedLines
    methods: frozenset[MethodName]

    @property
    def classes(self) -> frozenset[str]:
        """The outermost classes of the methods."""
        return frozenset(outermost_class(f"{name}.class") for name, *_ in self.methods)


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
        names = answered(lambda: repository.git.diff("--name-only", "-z", *compare)).split("\0")
        return {name: _added_to(name, compare, repository) for name in filter(None, names)}


def _added_to(name: str, compare: Sequence[str], repository: git.Repo) -> frozenset[int]:
    diff = answered(lambda: repository.git.diff("--unified=0", "--no-color", *compare, "--", name))
    return frozenset(added_lines(diff))


def _take_out(patch: Patch, repository: git.Repo) -> None:
    """Apply a patch the other way round; its changes outside the module's own code, such as tests, are not kept."""
    answered(lambda: repository.git.apply("--reverse", f"--include={JAVA_SOURCES}/*", str(patch.path)))


def added_lines(diff: str) -> Iterable[int]:
    """Yield the numbers of the lines that a diff of one file, without context, adds or changes. Pure."""
    for start, count in _HUNK.findall(diff):
        yield from range(int(start), int(start) + int(count or "1"))


def code_of_methods(jar: Path, methods: Iterable[ChangedMethod]) -> ChangedCode:
    """Return methods of a jar with their lines by package and source file; a jar without line numbers has none.

    Raises HarnessError when the jar or a class cannot be read.
    """
    names = frozenset((each.class_name, each.name, each.descriptor) for each in methods)
    found: dict[str, set[int]] = {}
    with open_archive(jar) as archive:
        for name in sorted({owner for owner, *_ in names}):
            lines = class_lines(read_entry(archive, f"{name}.class"))
            of_class = (own for method, own in lines.methods.items() if (name, *method) in names)
            found.setdefault(_source_of(name, lines), set()).update(*of_class)
    return ChangedCode({path: frozenset(lines) for path, lines in found.items() if lines}, names)


def methods_with(jar: Path, changed: ChangedLines) -> frozenset[MethodName]:
    """Return the methods of a jar that hold changed lines. Raises HarnessError when a class cannot be read."""
    wanted = {path.removeprefix(f"{JAVA_SOURCES}/"): lines for path, lines in changed.items()}
    found: set[MethodName] = set()
    with open_archive(jar) as archive:
        for entry in filter(outermost_class, archive.namelist()):
            name, lines = entry.removesuffix(".class"), class_lines(read_entry(archive, entry))
            of_file = wanted.get(_source_of(name, lines), frozenset())
            found |= {(name, *method) for method, own in lines.methods.items() if own & of_file}
    return frozenset(found)


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


def _source_of(name: str, lines: ClassLines) -> str:
    package, slash, simple = name.rpartition("/")
    return f"{package}{slash}{lines.source or simple.split('$', 1)[0] + '.java'}"
