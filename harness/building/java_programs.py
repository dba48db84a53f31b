"""Small Java programs, the harness's own compiled once into the cache: each is asked, and answers in time."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import move_folder
from harness.base.java_failures import failure_in
from harness.base.locks import scratch
from harness.base.processes import bare_environment, run
from harness.building.compiling import Builder, first_errors
from harness.toolbox.java import JavaRuntime

_TARGET = 8  # every Java that nodes run on loads it
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")


class NoAnswer(Exception):  # noqa: N818 - whoever asked makes a sentence of it
    """A program gave no answer; says why, as a part of a sentence."""


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


def answer_of(
    java: JavaRuntime, *words: str, class_path: Iterable[Path] = (), options: Sequence[str] = (), seconds: float
) -> str:
    """Return what a Java program prints: a main class and its arguments, or `-jar` and what follows it.

    Its environment is bare, since most run static code of jars that somebody gave. Raises NoAnswer where it fails, or
    does not end in time.
    """
    path = os.pathsep.join(str(each.absolute()) for each in class_path)
    command = [str(java.java), *QUICK, *options, *(["-cp", path] if path else []), *words]
    try:
        done = run(command, env=bare_environment(), timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise NoAnswer(f"no answer within {seconds:g} s") from error
    if done.returncode != 0:
        raise NoAnswer(failure_in(done.stderr))
    return done.stdout
