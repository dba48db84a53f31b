"""`harness build --cross-check`: every builder at hand on the same sources, and the release built again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from rich.console import Console
from rich.table import Table

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.base.text import visible
from harness.building.build_comparison import (
    BuiltJar,
    Comparison,
    CrossCheck,
    Repeat,
    compare_builds,
    unpatched_jars,
)
from harness.building.builders.base import BuildHost, usual_builders
from harness.building.builders.ecj import Ecj, ecj_of
from harness.building.compiling import Builder
from harness.building.configdef import prepare_probe
from harness.building.jars import class_bytes
from harness.building.jdk8 import Javac8, debian_javac8
from harness.building.pair import series_to_build, source_of
from harness.building.raft_builds import Bench, Toolchain, build_series
from harness.kafka.distribution import Distribution, locked_distribution
from harness.kafka.git import url_and_ref
from harness.kafka.lock import read_lock
from harness.kafka.release_lines import line_of
from harness.model.arms import Kafka
from harness.model.request import NO_SERIES, Request
from harness.model.sides import Side
from harness.proof.bytecode import prepare_bytecode, read_each
from harness.proof.dropin.class_changes import api_of, code_of, nests
from harness.rundir.directory import RunDirectory
from harness.stages.inputs import read_sides
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

_JAVA_8 = 8


@dataclass(frozen=True, slots=True)
class _Parts:
    """What every build of a cross-check is made from."""

    released: Distribution
    sources: Path
    ecj: Ecj
    target: int
    toolbox: Toolbox


def cross_check(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> CrossCheck:
    """Build twice with every builder at hand, and the release's sources once; compare, print, write `crosscheck.json`.

    Raises HarnessError when a builder that is at hand cannot compile.
    """
    directory = RunDirectory(run_dir)
    request = directory.request.read()
    side = read_sides(request, toolbox).candidate
    if not side.built:
        raise HarnessError(
            "--cross-check builds the series; a finished jar has no sources.", "Leave out --jar, --dist."
        )
    reporter.stage("cross-check: every builder at hand, twice each")
    parts = _parts(side.version, toolbox)
    with ExitStack() as held:
        builders, gaps = _builders(parts, reporter.report, held)
        made = [_twice(request, side, parts, builder, directory.crosscheck_builds, reporter) for builder in builders]
        older = _javac8(parts, gaps)
        again = unpatched_jars([*builders, *older], parts.released, parts.sources, parts.target, parts.toolbox.cache)
    labelled = [
        ("the release", parts.released.raft_jar),
        *((f"{label}, unpatched", jar) for label, jar in again),
        *((f"{repeat.label}{_origin(side)}", jar) for repeat, jar in made),
    ]
    release, *rest = _read(parts, labelled)
    check = CrossCheck(
        repeats=tuple(repeat for repeat, _ in made),
        comparisons=tuple(comparisons(side, release, rest[: len(again)], rest[len(again) :])),
        gaps=tuple(gaps),
    )
    write_text(directory.crosscheck, to_json(check))
    print_crosscheck(reporter.console, check)
    return check


def comparisons(
    side: Side, release: BuiltJar, unpatched: Sequence[BuiltJar], built: Sequence[BuiltJar]
) -> Iterator[Comparison]:
    """Yield what is held against what: the released sources and, from git, sources as they are, against the release."""
    for each in unpatched:
        yield compare_builds(each, release, exact=Javac8.made(each.label))
    for one, other in combinations(built, 2):
        yield compare_builds(one, other)
    if side.git and side.series == NO_SERIES:
        for each in built:
            yield compare_builds(each, release, same_sources=False)


def _origin(side: Side) -> str:
    if not side.git:
        return ""
    url, ref = url_and_ref(side.git)
    return f", from {ref} of {url}"


def print_crosscheck(console: Console, check: CrossCheck) -> None:
    """Print the comparisons as a table, then what could not be compared and what is not as expected."""
    table = Table("built by", "held against", "classes", "identical", "same instructions", "differ", "other APIs")
    for each in check.comparisons:
        counts = (each.classes, each.identical, each.alike, len(each.differ), len(each.apis))
        table.add_row(visible(each.one), visible(each.other), *map(str, counts))
    console.print(table)
    for repeat in check.repeats:
        console.print(f"  twice by {visible(repeat.label)}: {visible(repeat.problem) or 'identical bytes'}")
    for gap in check.gaps:
        console.print(f"  not compared: {visible(gap)}")
    for problem in check.problems:
        console.print(f"  NOT AS EXPECTED: {visible(problem)}")


def _parts(version: str, toolbox: Toolbox) -> _Parts:
    lock, downloads = read_lock(version), toolbox.downloads
    return _Parts(
        released=locked_distribution(lock, downloads),
        sources=downloads.fetch(lock.one(Purpose.SOURCES)),
        ecj=ecj_of(toolbox),
        target=line_of(version).class_files,
        toolbox=toolbox,
    )


def _builders(parts: _Parts, report: Callable[[str], None], held: ExitStack) -> tuple[list[Builder], list[str]]:
    """Return every builder that works here, and a sentence for each that does not."""
    host, found, gaps = BuildHost(parts.toolbox, parts.target, report), list[Builder](), list[str]()
    for kind in reversed(usual_builders()):
        try:
            found.append(kind.open(host, held))
        except HarnessError as error:
            gaps.append(error.message)
    return found, gaps


def _javac8(parts: _Parts, gaps: list[str]) -> list[Builder]:
    """Return javac 8 where it made the release and can be had; else none, and `gaps` says why."""
    if parts.target > _JAVA_8:
        gaps.append(f"javac 8 did not make this release, whose class files are for Java {parts.target}")
        return []
    try:
        return [debian_javac8(parts.ecj.runtime, parts.toolbox.cache, parts.toolbox.offline)]
    except HarnessError as error:
        gaps.append(error.message)
        return []


def _twice(
    request: Request, side: Side, parts: _Parts, builder: Builder, directory: RunDirectory, reporter: Reporter
) -> tuple[Repeat, Path]:
    """Build the series two times in a row; return the digests and the first jar."""
    reporter.report(builder.label)
    probe = prepare_probe(parts.ecj, parts.ecj.runtime, parts.released.jars, parts.toolbox.cache)
    bench = Bench(directory, probe, "", Kafka(parts.released.version))
    tools = Toolchain(builder, parts.released, parts.sources, parts.target)
    series, source = series_to_build(side, request.patches), source_of(side.git, tools)
    place = "".join(each if each.isalnum() else "-" for each in builder.label)
    first, second = (build_series(bench, tools, f"{place}-{number}", source, series) for number in (1, 2))
    return Repeat(builder.label, first.jar_sha256, second.jar_sha256), directory.path / first.jar


def _read(parts: _Parts, labelled: Sequence[tuple[str, Path]]) -> list[BuiltJar]:
    tools = prepare_bytecode(parts.ecj, parts.toolbox)
    facts = read_each(tools, [jar for _, jar in labelled])
    return [
        BuiltJar(
            label=label,
            bytes=class_bytes(jar),
            code={name: code_of(each) for name, each in classes.items()},
            api={top: api_of(nest) for top, nest in nests(classes).items()},
        )
        for (label, jar), classes in zip(labelled, facts, strict=True)
    ]
