"""Java sources as `Code`: a thin edge that reads files under limits, around two pure readings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import tree_sitter_java
from tree_sitter import Language, Node, Parser

from harness.audit.bodies import class_of
from harness.audit.code import Code, JavaClass
from harness.audit.declared import SourceFile, names_in, words_of_twins
from harness.audit.flow import FlowWalk
from harness.base.errors import HarnessError

_JAVA = Language(tree_sitter_java.language())
# Kafka's longest class has 0.2 MB, and its raft module 70 files.
_MOST_BYTES = 2**20
_MOST_FILES = 5000
_MOST_BYTES_IN_ALL = 20 * 2**20


def read_sources(tree: Path, module: str) -> Code:
    """Read a module's own Java below a Kafka checkout; paths are relative to `tree`.

    Raises HarnessError when there is none, or far too much. A file that is no Java is named in `unread`.
    """
    top = tree / module / "src" / "main" / "java"
    if not top.is_dir():
        raise HarnessError(
            f"{tree} has no folder {module}/src/main/java.", "Name the top folder of a Kafka checkout by --sources."
        )
    return parse({path.relative_to(tree).as_posix(): _content(path) for path in _java_files(top)})


def parse(files: Mapping[str, bytes | None]) -> Code:
    """Return what Java files say, by path; None stands for a file that is too long or cannot be read."""
    parsed, unread = list[SourceFile](), list[str]()
    for path, content in sorted(files.items()):
        read = _parsed(path, content)
        if isinstance(read, SourceFile):
            parsed.append(read)
        else:
            unread.append(f"{path}: {read}")
    return _code(parsed, unread)


def _code(files: list[SourceFile], unread: list[str]) -> Code:
    classes: dict[str, JavaClass] = {}
    try:
        names = names_in(tuple(files))
    except RecursionError:
        return Code(unread=(*unread, "the sources: something in them is nested too deeply"))
    for declared in names.classes.values():
        try:
            classes[declared.name] = _walked(class_of(declared, names))
        except RecursionError:
            unread.append(f"{declared.file.path}: something in it is nested too deeply")
    return Code(classes, tuple(unread), words_of_twins(tuple(files)))


def _walked(made: JavaClass) -> JavaClass:
    """Return a class whose steps can be walked through. Raises RecursionError for one that goes too deep."""
    for step in (made.initial, *(method.body for method in made.methods)):
        FlowWalk().exits(step)
    return made


def _parsed(path: str, content: bytes | None) -> SourceFile | str:
    """Return a file's syntax tree, or why there is none."""
    if content is None:
        return f"it cannot be read, or is longer than {_MOST_BYTES} bytes"
    root = Parser(_JAVA).parse(content).root_node
    if root.has_error:
        return f"line {_first_error(root)} is no Java that the audit can read"
    return SourceFile(path, tuple(content.decode("utf-8", "replace").split("\n")), root)


def _first_error(root: Node) -> int:
    """Return the line of the innermost first error, from 1."""
    node = root
    while wrong := next((each for each in node.children if each.has_error or each.is_missing), None):
        node = wrong
    return node.start_point.row + 1


def _java_files(top: Path) -> list[Path]:
    paths = sorted(_walk(top))
    if len(paths) > _MOST_FILES or sum(path.lstat().st_size for path in paths) > _MOST_BYTES_IN_ALL:
        raise HarnessError(
            f"{top} holds {len(paths)} Java files, or over {_MOST_BYTES_IN_ALL} bytes of them.",
            "No module of Kafka is as large: name the top folder of a Kafka checkout by --sources.",
        )
    return paths


def _walk(top: Path) -> Iterable[Path]:
    """Give the Java files below a folder; links are not followed, out of the tree they would lead."""
    for folder, _, names in os.walk(top):
        paths = (Path(folder, name) for name in names if name.endswith(".java"))
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _content(path: Path) -> bytes | None:
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except OSError:
        return None
    return content if len(content) <= _MOST_BYTES else None
