"""How a node's JVM is started: profiles, and a shared class archive that halves its start-up cost.

The archive holds the distribution's classes without the raft jar, which stays last on the class path: one
archive serves every build, and the jar under test is always read from its own file.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.locks import scratch
from harness.base.processes import bare_environment, run
from harness.kafka.release_lines import Line
from harness.model.setup import Profile

_ARCHIVE_TIMEOUT_SECONDS = 120
_RECIPE = 2  # of an archive; another number for another way of making it
_NESTED_LAMBDA = re.compile(r"@lambda-proxy [^ $]*\$")

# C1 only and the serial collector: a node of a three-minute run never reaches the code that C2 would pay for.
# The young generation is large enough for a start to need hardly any collection (a tenth of its CPU seconds).
_FAST = (
    "-Xms128m",
    "-Xmn80m",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
)
_LIST_OF_ENTRIES = 2**19  # bytes, more than that of any of Kafka's jars
_ALWAYS = ("-Djava.awt.headless=true", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8")


def flags(profile: Profile, line: Line, archive: Path | None) -> tuple[str, ...]:
    """Return the JVM flags of a profile; `archive` is used when there is one."""
    chosen = _FAST if profile is Profile.FAST else line.jvm.production
    shared = (f"-XX:SharedArchiveFile={archive}", "-Xshare:auto") if archive else ()
    return (*chosen, *_ALWAYS, *shared)


def archive_key(java: Path, class_path: Sequence[Path], profile: Profile) -> str:
    """Name an archive by what invalidates it: how it is made, the JVM, the collector, every jar's path, size, time.

    And by how each jar ends, which is the list of its entries with their checksums: jars that are made reproducibly
    may differ by a constant, and have one size and one time.
    """
    digest = hashlib.sha256(f"{_RECIPE} {java.resolve()} {java.stat().st_mtime_ns} {profile}".encode())
    for jar in class_path:
        stat = jar.stat()
        digest.update(f"{jar}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
        digest.update(_end_of(jar, stat.st_size))
    return digest.hexdigest()[:20]


def _end_of(jar: Path, size: int) -> bytes:
    with jar.open("rb") as stream:
        stream.seek(max(size - _LIST_OF_ENTRIES, 0))
        return stream.read(_LIST_OF_ENTRIES)


def archivable(class_list: str) -> str:
    """Return a class list without the lambdas of nested classes. Pure.

    A lambda belongs to the nest of its class (JEP 181, class files of Java 11 on), whose host is the outermost class. A
    host that needs the raft jar is not archived, and HotSpot then takes the archived lambda for none of its nest: the
    node dies of an IllegalAccessError.
    """
    return "".join(line for line in class_list.splitlines(keepends=True) if not _NESTED_LAMBDA.match(line))


def dump_archive(java: Path, class_path: Sequence[Path], class_list: Path, archive: Path, flags: Sequence[str]) -> None:
    """Write a static archive of the listed classes for a JVM with these flags.

    Atomic, so that two harnesses may do it at once.

    Raises HarnessError when the JVM cannot write it.
    """
    with scratch(archive.parent) as folder:
        made, listed = folder / "archive.jsa", folder / "classes"
        listed.write_text(archivable(class_list.read_text(encoding="utf-8")), encoding="utf-8")
        command = [
            str(java),
            "-Xshare:dump",
            f"-XX:SharedClassListFile={listed}",
            f"-XX:SharedArchiveFile={made}",
            *flags,
            "-cp",
            os.pathsep.join(map(str, class_path)),
        ]
        try:
            done = run(command, env=bare_environment(), timeout=_ARCHIVE_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise HarnessError(
                f"{java} did not write a class archive within {_ARCHIVE_TIMEOUT_SECONDS} s.",
                "Run `harness doctor`: the host may be overloaded or its disk slow.",
            ) from error
        if not made.exists():
            raise HarnessError(
                f"{java} could not write a class archive (exit {done.returncode}): {done.stderr[-300:]}",
                "Give a runtime with HotSpot by --java-home.",
            )
        made.replace(archive)
