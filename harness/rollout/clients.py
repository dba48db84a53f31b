"""What every client of a rehearsal has: a thread of its own, its pauses, its failures, and an account at the end."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaException

from harness.rollout.accounts import Account
from harness.scenario.pauses import Pauses

PATIENCE_SECONDS = 15.0


class Client(ABC):
    """One client: started, stopped, and then asked for its account."""

    name: str
    words: str
    topic: str
    topic_config: Mapping[str, str] = {"min.insync.replicas": "2"}

    def __init__(self, partitions: int, broker_ports: Sequence[int]) -> None:
        self.partitions = partitions
        self.ports = tuple(broker_ports)
        self.pauses = Pauses(range(partitions))
        self.failures: Counter[str] = Counter()
        self.fault = ""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._guarded, name=self.name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self.pauses.begin()
        self._thread.start()

    def stop(self) -> None:
        """End; returns when what was in flight is answered, or given up."""
        self._stopping.set()
        self._thread.join(PATIENCE_SECONDS + 5)
        self.pauses.close()

    def abandon(self) -> None:
        """End without waiting for anything: nobody asks for the account any more."""
        self._stopping.set()

    def _guarded(self) -> None:
        try:
            self._work()
        except (KafkaException, BufferError, TimeoutError) as error:
            self.fault = f"the client failed: {error}"

    @abstractmethod
    def _work(self) -> None:
        """Ask until told to stop."""

    @abstractmethod
    def account(self) -> Account:
        """Compare what was promised with what is there. Raises TimeoutError, KafkaException."""

    def settled(self) -> Account:
        """Return the account; one that could not be drawn up says why."""
        unread = self.fault or ("the client did not end" if self._thread.is_alive() else "")
        try:
            if not unread:
                return self.account()
        except (TimeoutError, KafkaException) as error:
            unread = str(error)
        return Account(self.name, self.words, 0, 0, 0, self.pauses.longest, dict(self.failures), unread=unread)
