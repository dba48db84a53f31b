"""A quiet Spark that needs no Java on the machine, and leaves neither files nor processes behind.

It runs on this machine's processors, on a cluster that is named (`spark://host:7077`), or, started by spark-submit, on
the master named there. On a cluster the harness goes with the job as a zip; the libraries that it needs must be in the
Python that the workers run (PYSPARK_PYTHON), and the logs where workers see them under the same paths.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyspark import SparkContext
from pyspark.sql import SparkSession

from harness.base.errors import HarnessError
from harness.base.processes import mortal
from harness.logs.read.blocks import AT_ONCE
from harness.logs.read.class_archive import classes
from harness.logs.read.gateway import ABSENT_MODULE, SHORT_LIFE, class_path, end, gateway
from harness.toolbox.toolbox import Toolbox

_HEAP = "2g"  # of which it takes what it needs: a line of 100 MB is held several times
_STOP_SECONDS = 20.0
_WRITE_SECONDS = 300.0  # to stop and to write an archive, on a host that has much else to do
_FOREIGN = ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "JAVA_TOOL_OPTIONS", "SPARK_MASTER")
_LOCALLY_FOREIGN = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")  # a cluster may need them
_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # set by spark-submit, whose JVM is there already

_LOG4J = """\
rootLogger.level = error
rootLogger.appenderRef.file.ref = file
# Spark prints that it changes the level, unless this logger has the root's already.
logger.repl.name = org.apache.spark.api.python.PythonGatewayServer
logger.repl.level = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %c: %m%n%ex
"""


@contextmanager
def session(folder: Path, toolbox: Toolbox, master: str = "") -> Iterator[SparkSession]:
    """Yield a Spark session; on leaving it is gone, with all that it wrote.

    `master` is the address of a cluster, empty for this machine. Temporary files lie in a new folder below `folder`.
    Only one session can be open in a process. A session that does not start is a HarnessError.
    """
    with ExitStack() as stack:
        scratch = Path(tempfile.mkdtemp(prefix="spark-", dir=folder)).resolve()
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        if _SUBMITTED in os.environ:
            spark = _start(SparkSession.builder, {})
            stack.callback(spark.stop)
        elif master:
            with _environment(_prepare(scratch, toolbox.java().java, master), ()):
                spark = _start(SparkSession.builder.master(master), settings(scratch, master))
            stack.callback(_stop, spark)
            stack.enter_context(_reported_when_the_jvm_ends())
        else:
            spark = stack.enter_context(_here(scratch, toolbox.java().java, toolbox.cache))
        if master or _SUBMITTED in os.environ:
            spark.sparkContext.addPyFile(str(_zipped(scratch)))
        yield spark


@contextmanager
def _here(scratch: Path, java: Path, cache: Path) -> Iterator[SparkSession]:
    """Yield a session of this machine's processors."""
    logging = scratch / "log4j2.properties"
    logging.write_text(_LOG4J.format(file=scratch / "spark.log"))
    temporary = f"-Djava.io.tmpdir={scratch}"
    with ExitStack() as stack:
        found = stack.enter_context(classes(java, SHORT_LIFE, class_path(), cache / "class-archives"))
        options = (*found.options, f"-Xmx{_HEAP}", temporary, f"-Dlog4j2.configurationFile={logging}")
        with _environment({**_own(scratch, ""), **_bytecode(cache)}, _LOCALLY_FOREIGN):
            seconds = _WRITE_SECONDS if found.made else _STOP_SECONDS
            started = stack.enter_context(gateway(java, scratch, options, os.environ, seconds))
            os.environ.update(started.variables)
            spark = _start(SparkSession.builder.master(_local()), settings(scratch, ""))
        connected: Any = SparkContext._gateway
        connected.proc = started.jvm
        stack.callback(_disconnect, spark)
        stack.enter_context(_reported_when_the_jvm_ends())
        yield spark


def _bytecode(cache: Path) -> dict[str, str]:
    """Let workers keep compiled modules in the cache where Python may not keep them beside the sources."""
    kept = {"PYTHONPYCACHEPREFIX": str(cache / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    return kept if sys.dont_write_bytecode else {}


@contextmanager
def _reported_when_the_jvm_ends() -> Iterator[None]:
    """Raise one clear error when Spark's JVM has ended, in place of those of py4j and sockets."""
    gateway: Any = SparkContext._gateway
    try:
        yield
    except Exception as error:
        if gateway.proc.poll() is None:
            raise
        raise HarnessError(
            "Spark's JVM ended while it was at work, most likely for want of memory.",
            "See that the host has 4 GiB free and no line is longer than some hundred megabytes, and try again.",
        ) from error


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def _local() -> str:
    return f"local[{processors()}]"


def _zipped(scratch: Path) -> Path:
    """Return the harness as a zip that Python imports from, for workers that do not have it."""
    package = Path(__file__).resolve().parents[2]
    zipped = scratch / "harness.zip"
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(package.rglob("*.py")):
            archive.write(source, source.relative_to(package.parent))
    return zipped


def _is_here(master: str) -> bool:
    """Whether a session needs nothing but loopback: on this machine, or a cluster on it."""
    return urlsplit(master).hostname in (None, "127.0.0.1", "localhost", "::1")


def _prepare(scratch: Path, runtime: Path, master: str) -> dict[str, str]:
    """Write the runtime shim and the configuration; return the environment that Spark's scripts start in."""
    java, conf = scratch / "java" / "bin" / "java", scratch / "conf"
    java.parent.mkdir(parents=True)
    java.write_text(shim(str(runtime)))
    java.chmod(0o755)
    conf.mkdir()
    (conf / "log4j2.properties").write_text(_LOG4J.format(file=scratch / "spark.log"))
    return {**_own(scratch, master), "JAVA_HOME": str(java.parent.parent), "SPARK_CONF_DIR": str(conf)}


def _own(scratch: Path, master: str) -> dict[str, str]:
    """Return the environment of every JVM of Spark."""
    return {
        "SPARK_LOCAL_DIRS": str(scratch),
        "PYSPARK_PYTHON": (os.environ.get("PYSPARK_PYTHON") if master else None) or sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        **({"SPARK_LOCAL_IP": "127.0.0.1"} if _is_here(master) else {}),
    }


def shim(java: str) -> str:
    """Return a shell script that runs `java` without the module it lacks, and with flags for a short life.

    Spark's JVM ends with the harness: left to itself, one that is interrupted while it starts goes on for ever.
    """
    return (
        "#!/bin/sh\n"
        'for arg do shift; [ "$arg" = "' + ABSENT_MODULE + '" ] || set -- "$@" "$arg"; done\n'
        f'exec {shlex.join(mortal([java, *SHORT_LIFE]))} "$@"\n'
    )


def settings(scratch: Path, master: str) -> dict[str, str]:
    """Return Spark's configuration: loopback where that will do, no UI, few partitions, everything below `scratch`."""
    loopback = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    # Local workers import the harness from where this process has it; those of a cluster are sent it.
    here = {"spark.executorEnv.PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    return {
        **(loopback if _is_here(master) else {}),
        **({} if master else here),
        "spark.driver.memory": _HEAP,
        "spark.driver.extraJavaOptions": _quoted(f"-Djava.io.tmpdir={scratch}"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": str(processors()),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(AT_ONCE),
        # Workers leave the processors to each other.
        "spark.executorEnv.POLARS_MAX_THREADS": "1",
    }


def _quoted(option: str) -> str:
    """Return an option as Spark's launcher reads it, which else ends at a blank (CommandBuilderUtils)."""
    return '"' + option.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _start(builder: SparkSession.Builder, config: Mapping[str, str]) -> SparkSession:
    builder = builder.appName("harness diff")
    for key, value in config.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:  # py4j and pyspark raise whatever the JVM made of it
        why = str(error).strip().partition("\n")[0]
        raise HarnessError(f"Spark did not start: {why}", "`harness doctor` says what this host lacks.") from error


def _stop(spark: SparkSession) -> None:
    """Stop Spark and end its JVM, which would otherwise live as long as this process."""
    connected: Any = SparkContext._gateway
    _disconnect(spark)
    end(connected.proc, _STOP_SECONDS)


def _disconnect(spark: SparkSession) -> None:
    connected: Any = SparkContext._gateway
    with suppress(Exception):  # a JVM that has died cannot be asked to stop, and what ended it is the error to report
        spark.stop()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    connected.shutdown()


@contextmanager
def _environment(changes: Mapping[str, str], foreign: Iterable[str]) -> Iterator[None]:
    """Set variables for the JVM that is started inside; the user's own Spark does not take part.

    Other threads may be at work, as when clusters run beside it: no variable is touched but those that change.
    """
    before = dict(os.environ)
    for name in (*_FOREIGN, *foreign):
        os.environ.pop(name, None)
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in before.items() if os.environ.get(name) != value})
