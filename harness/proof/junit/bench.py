"""What tests are run with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.building.compiling import Builder
from harness.kafka.release_lines import Line
from harness.toolbox.java import JavaRuntime


@dataclass(frozen=True, slots=True)
class OtherRelease:
    """Another release of the same line, which the jar names, and the jars of its tests with what they need.

    Only one that `is_later` than the nodes' has changed a test of theirs; an earlier one does not have it yet.
    """

    release: str
    jars: tuple[Path, ...]
    is_later: bool = True


@dataclass(frozen=True, slots=True)
class LaterRelease:
    """A later release of the same line: its tests are fetched only where one of the nodes' own fails."""

    release: str
    fetch: Callable[[], tuple[Path, ...]]


@dataclass(frozen=True, slots=True)
class TestBench:
    """What tests run with.

    `line` is the release line of the tests, `jars` are those of the lock's TESTS, `others` the distribution's without a
    raft jar. `builder` compiles the hooks (kept below `cache`) and `series_tests`, the series' folder of Java files in
    package folders. `changed` names the changed classes, with dots, where the caller knows them better than comparing
    bytes does: two compilers give different bytes for the same source. `other` is the release that the jar names where
    that is not the nodes'; `later` are releases whose versions of a failing test are asked, the next one first.
    """

    __test__ = False
    line: Line
    java: JavaRuntime
    jars: tuple[Path, ...]
    others: tuple[Path, ...]
    builder: Builder
    cache: Path
    series_tests: Path | None = None
    changed: frozenset[str] | None = None
    other: OtherRelease | None = None
    later: tuple[LaterRelease, ...] = ()
    forks: int = 2

    @property
    def released(self) -> Path:
        """The released test jar of the raft module. Raises HarnessError when the lock has none."""
        for jar in self.jars:
            if jar.name.startswith("kafka-raft-"):
                return jar
        raise HarnessError("The lock pins no tests of the raft module.", "Write it again with `harness lock VERSION`.")
