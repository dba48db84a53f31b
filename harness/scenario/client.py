"""What every client of a load has: a thread of its own, its pauses, its failures, and a report at the end."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from confluent_kafka import KafkaException, Producer

from harness.base.waiting import wait_until
from harness.cluster.address import Address
from harness.model.clients import ClientReport
from harness.model.events import ClientSeconds
from harness.scenario.answered_seconds import AnsweredSeconds
from harness.scenario.pauses import Pauses

PATIENCE_SECONDS = 15.0
FIRST_ANSWERS_SECONDS = 30.0  # transactions took 9 on a busy host: their coordinator's topic is made first
_JOIN_SECONDS = 5.0
_LOOK_EVERY_SECONDS = 0.02


class Client(ABC):
    """One client: started, stopped, and then asked for its report; `keys` are what it uses all the time."""

    patience_seconds = PATIENCE_SECONDS
    topic = ""  # whose records it looks for in the end; empty where it looks for none
    fills_offsets = False  # whether every offset of its topic is one of its records

    def __init__(self, name: str, description: str, brokers: Sequence[Address], keys: Iterable[Hashable]) -> None:
        self.name = name
        self.description = description
        self.brokers = tuple(brokers)
        self._unheard = set(keys)
        self.pauses = Pauses(self._unheard)
        self.failures: Counter[str] = Counter()
        self.unanswered = 0
        self._answered_seconds = AnsweredSeconds()
        self.stopping = threading.Event()
        self.patient = True
        self._fault = ""
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self.pauses.begin()
        self._answered_seconds.begin()
        self._thread.start()

    def start_writing(self, is_over: Callable[[], bool]) -> bool:
        """Begin; return when each key had an answer, the run is over, or the client has failed; False after a while.

        Until then nothing may happen to a leader. One that comes after it and knows nothing of the producer accepts
        any sequence number, and librdkafka takes the answer to a later batch for that of those before it, which are
        acknowledged and nowhere (confluent-kafka-go, issue 921).
        """
        self.start()

        def may_go_on() -> bool:
            return not self._unheard or not self._thread.is_alive() or is_over()

        return wait_until(may_go_on, FIRST_ANSWERS_SECONDS, _LOOK_EVERY_SECONDS)

    def stop(self) -> None:
        """End; returns when what was in flight is answered, or given up."""
        self.stopping.set()
        self._thread.join(self.patience_seconds + _JOIN_SECONDS)
        self.pauses.close()

    def abandon(self) -> None:
        """End without waiting for anything: nobody asks for the report any more."""
        self.patient = False
        self.stopping.set()

    @contextmanager
    def awaiting_answers(self, producer: Producer) -> Iterator[None]:
        """Wait at the end for what is in flight, also where the work fails; not where nobody asks for the report."""
        try:
            yield
        finally:
            self.unanswered = producer.flush(self.patience_seconds if self.patient else 0.0)
            self.pauses.close()

    def answered(self, key: Hashable = 0, latency_seconds: float | None = None) -> None:
        """Note an answer for one of the keys, and how long it took where that is known."""
        self.answered_all([key], [latency_seconds])

    def answered_all(self, keys: Collection[Hashable], latencies_seconds: Sequence[float | None]) -> None:
        """Note answers that came at one moment: how long each took, and for which keys there was one."""
        for key in keys:
            self.pauses.answered(key)
            self._unheard.discard(key)
        self._answered_seconds.answered(latencies_seconds)

    def failed(self, error: str) -> None:
        """Note a request that failed for good, by the name of its error."""
        self.failures[error] += 1
        self._answered_seconds.failed()

    def by_second(self) -> ClientSeconds:
        """Return what was answered in each second until now."""
        return self._answered_seconds.event(self.name)

    def _guarded(self) -> None:
        try:
            self.work()
        except (KafkaException, BufferError, TimeoutError) as error:
            self._fault = f"the client failed: {error}"
        except Exception as error:  # of somebody's own load: whoever dies has not kept account to the end
            self._fault = f"the client failed: {type(error).__name__}: {error}"

    @abstractmethod
    def work(self) -> None:
        """Ask until stopped."""

    @abstractmethod
    def compare(self, brokers: Sequence[Address]) -> ClientReport:
        """Compare what was promised with what is there, read through these brokers. Raises TimeoutError."""

    def report(self, brokers: Sequence[Address]) -> ClientReport:
        """Return the report; one that could not be drawn up, or that may lack something, says why.

        What was acknowledged before a client failed is promised all the same.
        """
        return replace(self._compared(brokers), unanswered=self.unanswered)

    def _compared(self, brokers: Sequence[Address]) -> ClientReport:
        if self._thread.is_alive():
            return self.unread("the client did not end")
        try:
            found = self.compare(brokers)
        except (TimeoutError, KafkaException) as error:
            return self.unread(self._fault or str(error))
        return replace(found, unread=found.unread or self._fault)

    @property
    def acknowledged(self) -> int:
        """How much was promised to the client so far; 0 where it does not count."""
        return 0

    def unread(self, why: str) -> ClientReport:
        """Return a report that says why nothing could be compared; what was acknowledged is known all the same."""
        acked, failures = self.acknowledged, dict(self.failures)
        return ClientReport(self.name, self.description, acked, 0, 0, self.pauses.longest, failures, unread=why)
