"""The harness's own small Java programs, compiled once into the cache."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import move_folder
from harness.base.locks import scratch
from harness.building.compiling import Builder, first_errors

_TARGET = 8  # every Java that nodes run on loads it
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")


def compiled_probe(builder: Builder, source: Path, class_path: Sequence[Path], cache: Path) -> Path:
    """Return the folder with the classes of a single-file Java program; compiled once per source and compiler.

    Raises HarnessError when it does not compile.
    """
    return compiled_program(builder, source.parent, [source.name], class_path, cache)


def compiled_program(
    builder: Builder, root: Path, sources: Sequence[str], class_path: Sequence[Path], cache: Path
) -> Path:
    """Return the folder with the classes of a Java program, whose `sources` lie below `root`; compiled once alike.

    Raises HarnessError when it does not compile.
    """
    texts = b"".join((root / source).read_bytes() for source in sources)
    key = hashlib.sha256(texts + builder.label.encode()).hexdigest()[:16]
    classes = cache / "probes" / key
    if not any(classes.rglob("*.class")):  # a folder alone may be what a cleaner left
        shutil.rmtree(classes, ignore_errors=True)
        with scratch(classes.parent) as staging:
            made = builder.compile(root, sources, class_path, staging / key, _TARGET)
            if not made.succeeded:
                raise HarnessError(f"{builder.label} cannot compile the probe: {first_errors(made.output)}")
            move_folder(staging / key, classes)
    return classes
