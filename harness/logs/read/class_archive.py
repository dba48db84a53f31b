"""Archives of Spark's classes in the cache (AppCDS): loading them one by one is more than half of a short session.

To write one takes several sessions' time, which is lost where the cache is not kept. So the first session of an
installation only writes the archive of Java's own classes, in half a second, and the next that comes to a good end the
one of Spark's. A JVM compares an archive with its own jars and does without one that does not fit: nothing but time
depends on these files.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.base.locks import scratch
from harness.base.processes import bare_environment, run

_QUIET = "-Xlog:disable"
_BASE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Classes:
    """How a JVM finds its archive: options to use one, or to write `made` as it ends."""

    options: tuple[str, ...] = ()
    made: Path | None = None


@contextmanager
def classes(java: Path, flags: Sequence[str], jars: Sequence[Path], cache: Path) -> Iterator[Classes]:
    """Yield how a JVM with these flags and jars uses its archive in `cache`, or writes it there for the next one.

    What is written is kept on a good end only. A cache that cannot be written to is a JVM without an archive.
    """
    runtime = (java, java.parents[1] / "lib" / "modules")
    base, archive = cache / f"java-{_key(flags, runtime)}.jsa", cache / f"spark-{_key(flags, [*runtime, *jars])}.jsa"
    on_base = (_QUIET, f"-XX:SharedArchiveFile={base}")
    if archive.exists():
        yield Classes((_QUIET, f"-XX:SharedArchiveFile={base}:{archive}"))
        return
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch(cache))
            known = base.exists()
            if not known:
                _write_base(java, flags, base, folder / base.name)
        except (OSError, subprocess.SubprocessError):
            yield Classes()
            return
        if not known:
            yield Classes(on_base)
            return
        made = folder / archive.name
        yield Classes((*on_base, f"-XX:ArchiveClassesAtExit={made}"), made)
        with suppress(OSError):  # the JVM wrote none
            made.replace(archive)


def _write_base(java: Path, flags: Sequence[str], base: Path, made: Path) -> None:
    """Write the archive of Java's own classes on which others stand; the bundled runtime comes without one."""
    command = [str(java), *flags, "-Xshare:dump", f"-XX:SharedArchiveFile={made}"]
    run(command, env=bare_environment(), timeout=_BASE_SECONDS)
    made.replace(base)


def _key(flags: Sequence[str], files: Sequence[Path]) -> str:
    """Name an archive by what invalidates it: the JVM's flags, and every file's name, size and time."""
    digest = hashlib.sha256(" ".join(flags).encode())
    for file in files:
        seen = file.stat()
        digest.update(f"{file.name}\0{seen.st_size}\0{seen.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:20]
