"""How long the image to build in takes, and the raft module in it: as the harness makes both.

    python benchmarks/containers.py [ROUNDS]

Needs a container engine and mmdebstrap. The image is made once, the module ROUNDS times; each build starts from
nothing but the image, the sources and the locked jars, and ends with the container's removal.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from harness.building.builders.base import BuildHost, open_builder
from harness.building.containers.debian import make_image
from harness.building.raft_builds import source_files
from harness.containers.engine import reach_engine
from harness.kafka.distribution import locked_distribution
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import local_toolbox

KAFKA = "3.9.1"
IMAGE_GOAL, MODULE_GOAL = 120, 15


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with reach_engine() as engine:
        image = seconds(lambda: make_image(engine, quiet))
    print(f"image   {image:6.1f} s   (goal {IMAGE_GOAL})", flush=True)
    builds = [module() for _ in range(rounds)]
    middle = statistics.median(builds)
    print(f"module  {middle:6.1f} s   (goal {MODULE_GOAL}; {rounds} builds, {min(builds):.1f} to {max(builds):.1f})")


def module() -> float:
    """Return the seconds of one build, from asking the image for its versions to classes on the host."""
    lock, toolbox = read_lock(KAFKA), local_toolbox()
    downloads = toolbox.downloads
    release = locked_distribution(lock, downloads)
    with tempfile.TemporaryDirectory() as folder:
        tree = MavenSources(KAFKA, downloads.fetch(lock.one(Purpose.SOURCES))).checkout(Path(folder) / "tree").path

        def build() -> None:
            with ExitStack() as held:
                gradle = open_builder("gradle-container", BuildHost(toolbox, 8, quiet), held)
                done = gradle.compile(tree, source_files(tree), release.others, Path(folder) / "out", 8)
                assert done.succeeded, done.output

        return seconds(build)


def quiet(_line: str) -> None:
    """Hear of progress, and say nothing."""


def seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


if __name__ == "__main__":
    main()
