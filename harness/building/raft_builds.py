"""Builds: a patched, a given or the released raft jar, put into the run directory with a record of its making."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import sha256_of, write_bytes, write_text
from harness.building.compiling import Builder, Compilation, first_errors
from harness.building.configdef import Probe, read_flag
from harness.building.given import other_version, version_note
from harness.building.jars import classes_in, resources_of, write_jar
from harness.kafka.distribution import Distribution, jar_version
from harness.kafka.lock import locked_versions
from harness.kafka.maven import lay_out_generated
from harness.kafka.patching import Series, apply_series
from harness.kafka.release_lines import same_line
from harness.kafka.tree import Source, SourceTree
from harness.kafka.versions import order_of, release_of
from harness.model.arms import GIVEN, RELEASE, Build, Kafka
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import BuildFolder

_SOURCES = ("raft/src/main/java", "raft/src/generated/java")
_RESOURCES = Path("raft/src/main/resources")


class CompileError(HarnessError):
    """The sources do not compile: a fault of the sources, where any other error may be one of harness or host."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where builds are put (in `directory`), and the key of the flag, `flag_key`, that is looked up in each jar.

    `kafka` is what nodes run the builds in.
    """

    directory: RunDirectory
    probe: Probe
    flag_key: str
    kafka: Kafka


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What sources are compiled with.

    `released` is the Kafka that gives the class path and a jar's resource entries, `released_sources` its raft
    module's sources jar, which holds the message classes that a git checkout lacks. `target` is the Java release that
    class files are made for, `kafka_option` what names another release.
    """

    builder: Builder
    released: Distribution
    released_sources: Path
    target: int
    kafka_option: str = "--kafka"


def build_series(bench: Bench, tools: Toolchain, name: str, source: Source, series: Series | None) -> Build:
    """Check out, patch (unless `series` is None), compile and pack: one build, named `name`.

    Raises HarnessError when the sources cannot be had, a patch does not fit, or the result does not compile.
    """
    folder = _folder(bench, name)
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as scratch:
        tree = _ready_tree(tools, source, series, Path(scratch) / "tree")
        classes = Path(scratch) / "classes"
        compiled = tools.builder.compile(
            tree.path, source_files(tree.path), tools.released.others, classes, tools.target
        )
        log = _log(tree, series, tools.builder, compiled)
        if not compiled.succeeded:
            write_text(folder.log, log)
            errors = first_errors(compiled.output).replace(f"{tree.path}/", "")
            raise CompileError(
                f"{tools.builder.label} cannot compile {tree.description}{', patched' if series else ''}:\n{errors}",
                f"Mend these sources, or name others. All of its output is in {folder.log}.",
                kept=folder.log,
            )
        keep_sources(tree.path, folder)
        jar = Path(scratch) / "raft.jar"
        write_jar({**resources_of(tools.released.raft_jar), **classes_in(classes)}, jar)
        made = _JarOrigin(
            name=name,
            builder=tools.builder.label,
            series=tuple(patch.name for patch in series.patches) if series else (),
            note="; ".join(filter(None, (*_about(tree, tools.released.version), tools.builder.note))),
            log=log,
        )
        return _keep(bench, made, jar, tools.released)


def release_build(bench: Bench, name: str, distribution: Distribution) -> Build:
    """Take a distribution's own raft jar as it is."""
    made = _JarOrigin(name, RELEASE, (), distribution.description, f"{distribution.description}: its own raft jar\n")
    return _keep(bench, made, distribution.raft_jar, distribution)


def given_jar(bench: Bench, name: str, path: Path, distribution: Distribution) -> Build:
    """Take a jar that somebody made, and that was seen to be a whole raft jar of this line (check_raft_jar)."""
    note = "; ".join(filter(None, (f"given: {path.name}", version_note(path, distribution.version))))
    made = _JarOrigin(name, GIVEN, (), note, f"{path.absolute()}, as it was given\n")
    return _keep(bench, made, path, distribution)


def keep_sources(tree: Path, build: BuildFolder) -> None:
    """Copy the module's own Java sources of a checkout to the build, as evidence and for what reads them later.

    Raises HarnessError when the tree has none.
    """
    if not (tree / _SOURCES[0]).is_dir():
        raise HarnessError(f"{tree} has no {_SOURCES[0]}.", "Name the top folder of a Kafka checkout.")
    shutil.copytree(tree / _SOURCES[0], build.sources / _SOURCES[0], ignore=_not_java, dirs_exist_ok=True)


def source_files(tree: Path) -> list[str]:
    """Return the module's Java files relative to the tree, sorted: the order must not depend on the disk."""
    found = (path for top in _SOURCES for path in (tree / top).rglob("*.java"))
    return sorted(path.relative_to(tree).as_posix() for path in found)


def changed_resources(tree: Path, released: dict[str, bytes]) -> list[str]:
    """Return the tree's resource files whose content is not that of the release."""
    top = tree / _RESOURCES
    files = {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}
    return sorted(name for name, content in files.items() if released.get(name) != content)


def _ready_tree(tools: Toolchain, source: Source, series: Series | None, into: Path) -> SourceTree:
    """Check out and patch; then see that the released message classes are those of this tree, and add them."""
    tree = source.checkout(into)
    _check_line(tree, tools)
    if series:
        tree = apply_series(tree, series)
    changed = changed_resources(into, resources_of(tools.released.raft_jar))
    if changed:
        raise HarnessError(
            f"The sources change {', '.join(changed)}, from which Kafka's own build generates classes.",
            "Build the jar with Gradle and hand it over by --jar.",
        )
    if not (into / _SOURCES[1]).exists():
        lay_out_generated(tools.released_sources, into)
    return tree


def _check_line(tree: SourceTree, tools: Toolchain) -> None:
    """See that sources are of the class path's release, or of its line: a branch's own is not released yet."""
    wanted = tools.released.version
    if same_line(tree.version, wanted):
        return
    near = sorted((each for each in locked_versions() if same_line(each, tree.version)), key=order_of)
    own = release_of(tree.version)
    near = [own] if own in near else near
    raise HarnessError(
        f"The sources ({tree.description}) are Kafka {tree.version}, but the class path is {wanted}.",
        f"Name the release of their line that they are built for: {tools.kafka_option} {near[-1]}."
        if near
        else f"Choose sources of {wanted}'s line: no release of theirs is locked (docs/release-lines.md).",
    )


def _about(tree: SourceTree, version: str) -> tuple[str, ...]:
    """Return where sources come from, and by which version they call themselves where that is not the nodes'."""
    return tree.description, other_version("the checkout", tree.version, version)


def _log(tree: SourceTree, series: Series | None, builder: Builder, compiled: Compilation) -> str:
    applied = [f"applied {patch.name}: {patch.subject}" for patch in series.patches] if series else []
    command = shlex.join(compiled.command)
    return "\n".join((tree.description, *applied, f"commit {tree.commit}", builder.label, command, compiled.output))


def _not_java(folder: str, names: list[str]) -> list[str]:
    """Return what is left out of a copy of sources: links, and files that are no Java."""
    paths = [Path(folder, name) for name in names]
    return [p.name for p in paths if p.is_symlink() or not (p.is_dir() or p.suffix == ".java")]


@dataclass(frozen=True, slots=True)
class _JarOrigin:
    """How a jar came to be: the fields of a Build that its file does not say, and the text of build.log."""

    name: str
    builder: str
    series: tuple[str, ...]
    note: str
    log: str


def _folder(bench: Bench, name: str) -> BuildFolder:
    folder = bench.directory.build(name)
    folder.path.mkdir(parents=True, exist_ok=True)
    return folder


def _keep(bench: Bench, made: _JarOrigin, jar: Path, distribution: Distribution) -> Build:
    """Copy the jar into the run directory, look up its flag, and write build.json, the sign of a whole build."""
    folder = _folder(bench, made.name)
    kept = folder.jar(jar_version(jar) or distribution.version)
    write_text(folder.log, made.log)
    write_bytes(kept, jar.read_bytes())
    build = Build(
        name=made.name,
        kafka_version=release_of(distribution.version),
        jar=kept.relative_to(bench.directory.path).as_posix(),
        jar_sha256=sha256_of(kept),
        builder=made.builder,
        flag=read_flag(bench.probe, kept, distribution.others, bench.flag_key),
        series=made.series,
        note=made.note,
        kafka=bench.kafka,
    )
    folder.record.write(build)
    return build
