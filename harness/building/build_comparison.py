"""Builders compared: their classes of the same sources one by one, and whether each gives the same bytes twice."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import sha256_of, write_with
from harness.building.compiling import Builder, first_errors
from harness.building.jars import classes_in, resources_of, write_jar
from harness.building.raft_builds import source_files
from harness.kafka.distribution import Distribution
from harness.kafka.maven import MavenSources
from harness.kafka.patching import Series, apply_series


@dataclass(frozen=True, slots=True)
class BuiltJar:
    """A jar by `label`, with its content per class: the bytes, what its instructions and what its API come to."""

    label: str
    bytes: Mapping[str, bytes]
    code: Mapping[str, object]
    api: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Two builds in a row by one builder: their digests."""

    label: str
    first: str
    second: str

    @property
    def problem(self) -> str:
        """What is wrong, empty when the bytes are the same."""
        return "" if self.first == self.second else f"{self.label} built twice gives different bytes"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The classes of two jars of the same sources: the same bytes, the same instructions only, and those that differ.

    `apis` are classes that declare something else for others, which no two compilers may disagree on. `exact` says
    that all bytes must be the same; `same_sources` is false where the sources may be others, so that nothing is
    expected.
    """

    one: str
    other: str
    identical: int
    alike: int
    differ: tuple[str, ...]
    apis: tuple[str, ...]
    exact: bool = False
    same_sources: bool = True

    @property
    def classes(self) -> int:
        """How many classes there are in either jar."""
        return self.identical + self.alike + len(self.differ)

    @property
    def problem(self) -> str:
        """What is not as expected, empty when all is."""
        if self.apis and self.same_sources:
            return f"{self.one} and {self.other} give other APIs: {', '.join(self.apis[:3])}"
        if self.exact and self.identical < self.classes:
            return f"{self.one} gives {self.identical} of {self.classes} classes of {self.other}, not all"
        return ""


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """Content of `crosscheck.json`; `gaps` are sentences about what could not be compared here."""

    repeats: tuple[Repeat, ...]
    comparisons: tuple[Comparison, ...]
    gaps: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Return everything that is not as expected."""
        problems = (*(each.problem for each in self.repeats), *(each.problem for each in self.comparisons))
        return tuple(filter(None, problems))


def compare_builds(one: BuiltJar, other: BuiltJar, *, exact: bool = False, same_sources: bool = True) -> Comparison:
    """Compare two jars class by class; a class that only one has differs."""
    names = sorted(one.bytes.keys() | other.bytes.keys())
    identical = [name for name in names if one.bytes.get(name) == other.bytes.get(name)]
    rest = sorted(set(names) - set(identical))
    both = [name for name in rest if name in one.bytes and name in other.bytes]
    alike = {name for name in both if one.code[name] == other.code[name]}
    apis = [name for name in sorted(one.api.keys() | other.api.keys()) if one.api.get(name) != other.api.get(name)]
    return Comparison(
        one=one.label,
        other=other.label,
        identical=len(identical),
        alike=len(alike),
        differ=tuple(name for name in rest if name not in alike),
        apis=tuple(apis),
        exact=exact,
        same_sources=same_sources,
    )


def unpatched_jars(
    builders: Iterable[Builder], released: Distribution, sources: Path, target: int, cache: Path
) -> list[tuple[str, Path]]:
    """Return, with each builder's label, the jar that it makes of the released sources. Raises as `unpatched_jar`."""
    return [(each.label, unpatched_jar(each, released, sources, target, cache)) for each in builders]


def unpatched_jar(builder: Builder, released: Distribution, sources: Path, target: int, cache: Path) -> Path:
    """Return the jar that a builder makes of the released sources, built once per builder and sources.

    Raises HarnessError when it cannot compile them.
    """
    return _cached(builder, released, sources, target, cache, None)


def series_jar(
    builder: Builder, released: Distribution, sources: Path, target: int, cache: Path, series: Series
) -> Path:
    """Return the jar that a builder makes of the released sources with a series, built once per builder and patches.

    Raises HarnessError when a patch does not fit, or the result does not compile.
    """
    return _cached(builder, released, sources, target, cache, series)


def _cached(
    builder: Builder, released: Distribution, sources: Path, target: int, cache: Path, series: Series | None
) -> Path:
    patches = [sha256_of(patch.path) for patch in series.patches] if series else []
    made_of = "\n".join((builder.label, builder.note, sha256_of(sources), *patches))
    key = hashlib.sha256(made_of.encode()).hexdigest()[:16]
    jar = cache / "baselines" / key / f"kafka-raft-{released.version}.jar"
    if not jar.is_file():
        write_with(jar, lambda staged: _build(builder, released, sources, target, staged, series))
    return jar


def _build(
    builder: Builder, released: Distribution, sources: Path, target: int, jar: Path, series: Series | None
) -> None:
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as scratch:
        checkout = MavenSources(released.version, sources).checkout(Path(scratch) / "tree")
        tree = apply_series(checkout, series).path if series else checkout.path
        made = builder.compile(tree, source_files(tree), released.others, Path(scratch) / "classes", target)
        if not made.succeeded:
            what = f"the series {series.name}" if series else "the released sources"
            raise HarnessError(
                f"{builder.label} cannot compile {what}: {first_errors(made.output)}.",
                "Choose another compiler by --builder or --java-home.",
            )
        write_jar({**resources_of(released.raft_jar), **classes_in(Path(scratch) / "classes")}, jar)
