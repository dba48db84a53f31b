"""Spark's JVM for this machine, started without Spark's scripts: they start one JVM to learn how to start another."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from harness.base.errors import HarnessError
from harness.base.processes import spawn

JARS = Path(pyspark.__file__).parent / "jars"
# Short jobs: compiling less and collecting with one thread halves the CPU time of a start.
SHORT_LIFE = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    "-Dio.netty.jfr.enabled=false",  # or Flight Recorder is loaded for events that nobody records
)
# PySpark adds this module to every JVM; the bundled runtime does not have it, and nothing here needs it.
ABSENT_MODULE = "--add-modules=jdk.incubator.vector"
_OPENED = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)
# What Spark's scripts give every JVM (JavaModuleOptions), but for that module; a test compares the two.
MODULE_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
)
_MAIN = "org.apache.spark.api.python.PythonGatewayServer"
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Gateway:
    """A JVM that PySpark can talk to, and the variables by which PySpark finds it."""

    jvm: subprocess.Popen[bytes]
    variables: Mapping[str, str]


def class_path() -> tuple[Path, ...]:
    """Return Spark's jars, in an order that does not change.

    Where there is MLlib each session registers its functions by Scala's reflection, for most of a second.
    """
    return tuple(sorted(jar for jar in JARS.glob("*.jar") if not jar.name.startswith("spark-mllib_")))


@contextmanager
def gateway(
    java: Path, folder: Path, options: Sequence[str], environment: Mapping[str, str], stop_seconds: float
) -> Iterator[Gateway]:
    """Start Spark's JVM, its own files in `folder`; on leaving it has ended. One that does not start: HarnessError.

    Ctrl-C is the harness's, which then ends the JVM; so does the end of its standard input.
    """
    jars = os.pathsep.join(map(str, class_path()))
    command = [str(java), *SHORT_LIFE, *MODULE_OPTIONS, *options, "-cp", jars, _MAIN]
    written = {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(folder / "gateway")}
    jvm = spawn(
        command, cwd=Path.cwd(), output=folder / "jvm.log", env={**environment, **written}, stdin=subprocess.PIPE
    )
    try:
        yield Gateway(jvm, _listening(jvm, folder))
    except BaseException:
        jvm.kill()
        raise
    finally:
        end(jvm, stop_seconds)


def end(jvm: subprocess.Popen[bytes], seconds: float) -> None:
    """Let a JVM end itself; one that does not within `seconds` is killed."""
    with suppress(OSError):  # it has ended already
        if jvm.stdin:
            jvm.stdin.close()
    try:
        jvm.wait(seconds)
    except subprocess.TimeoutExpired:
        jvm.kill()
        jvm.wait()


def _listening(jvm: subprocess.Popen[bytes], folder: Path) -> dict[str, str]:
    """Wait until the JVM has written down where it listens, which is read as PySpark's variables."""
    written = folder / "gateway"
    while not written.exists():
        if jvm.poll() is not None:
            log = (folder / "jvm.log").read_text("utf-8", "replace").strip() or f"its JVM ended with {jvm.returncode}"
            raise HarnessError(
                f"Spark did not start: {log.splitlines()[0][:300]}", "`harness doctor` says what this host lacks."
            )
        time.sleep(_POLL_SECONDS)
    with written.open("rb") as file:
        port, length = (int.from_bytes(file.read(4), "big") for _ in range(2))
        return {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": file.read(length).decode()}
