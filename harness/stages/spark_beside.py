"""Start Spark while the last clusters run, so that the log diff begins with reading.

It gives way to them as upstream's tests do, is held where these are, and touches no run whatever becomes of it: one
that did not start, or that cannot be made an equal of what runs beside the log diff, is ended, and another one is
started when it is needed (docs/adr/0039-spark-starts-beside-the-last-clusters.md).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from harness.base.errors import HarnessError
from harness.base.processes.background import Background
from harness.base.progress import Reporter
from harness.base.waiting import wait_until
from harness.logs.log_diff import opened, silent
from harness.model.time_book import TimeKind
from harness.rundir.directory import RunDirectory
from harness.stages.preflight import has_room_for_spark
from harness.stages.timing import Stopwatch, note
from harness.toolbox.toolbox import Toolbox

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATIENCE_SECONDS = 60.0  # from when it is wanted: a start takes 4 to 8 s
_END_SECONDS = 20.0


class SparkBeside:
    """A session that is begun at most once, and taken at most once."""

    def __init__(self, directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> None:
        self._directory, self._toolbox, self._reporter = directory, toolbox, reporter
        self._background, self._lock = Background(), threading.Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="spark")
        self._begun: Future[tuple[SparkSession, ExitStack]] | None = None

    def held(self) -> AbstractContextManager[None]:
        """Give a block during which it stands still."""
        return self._background.held()

    def begin(self) -> None:
        """Begin to start it, unless that was done; returns at once."""
        with self._lock:
            if self._begun is None:
                self._begun = self._pool.submit(self._open)

    @contextmanager
    def session(self) -> Iterator[SparkSession]:
        """Yield the session that was begun, or one that is started now, which is gone after it. Raises HarnessError."""
        taken = self._taken()
        if taken is None:
            logs = self._directory.logs.path
            with opened(logs, self._toolbox, self._reporter.report) as spark:
                yield spark
            return
        spark, stack = taken
        with stack:
            yield spark

    def end(self) -> None:
        """End what was begun and was not taken; nothing of it is left."""
        self._background.end()
        with self._lock:
            begun, self._begun = self._begun, None
        if begun and not begun.cancel():
            with suppress(Exception):  # it did not start, or its JVM was ended here: there is nothing to tell
                begun.result(_END_SECONDS)[1].close()
        self._pool.shutdown(wait=False)

    def _open(self) -> tuple[SparkSession, ExitStack]:
        if not (Background.may_be_lifted() and has_room_for_spark(self._directory.request.read())):
            raise HarnessError("Spark is not started beside the clusters.")
        watch = Stopwatch()
        with ExitStack() as stack, self._background.working():
            spark = stack.enter_context(opened(self._directory.logs.path, self._toolbox, silent))
            note(self._directory, watch, TimeKind.BESIDE, "Spark starts", None, self._background.held_seconds)
            return spark, stack.pop_all()

    def _taken(self) -> tuple[SparkSession, ExitStack] | None:
        """Return the session as an equal of everything else; None where there is none within patience."""
        begun = self._begun
        if begun is None:
            return None
        is_equal = self._background.lift()
        wait_until(begun.done, _PATIENCE_SECONDS if is_equal else 0.0)
        if not (is_equal and begun.done() and begun.exception() is None and self._background.lift()):
            self.end()
            return None
        with self._lock:
            self._begun = None  # whoever takes it ends it
        return begun.result()


@contextmanager
def spark_beside(directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> Iterator[SparkBeside]:
    """Give a session to be begun beside the last clusters; however the block is left, nothing of it goes on."""
    spark = SparkBeside(directory, toolbox, reporter)
    try:
        yield spark
    finally:
        spark.end()
