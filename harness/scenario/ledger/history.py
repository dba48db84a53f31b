"""What happened to the records of one topic: a list of entries, in memory for the judge and in a file for people.

An entry is one line of the file, tab-separated, its letter first; times are seconds since the ledger was opened.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType, TracebackType

from harness.cluster.segments import Writer

NO_TRANSACTION = -1


class Ended(StrEnum):
    """How a transaction ended, as far as its client was told."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"  # no answer, or one that says neither


# Where a record lies: its partition and its offset. A bare tuple: a run may have hundreds of thousands, and those of a
# class of its own the collector of garbage would look at again and again.
Place = tuple[int, int]


@dataclass(slots=True)
class History:
    """All that is known of the records of a topic, which are known by their numbers.

    `sent` maps each number to its transaction (`NO_TRANSACTION`), in the order of sending. `keys` are those that have
    one, `stored_keys` what they come back with. `acknowledged` says where
    the broker put it, `failed` which error its client got. `seen` is what a consumer read while the cluster was
    tormented, `stored` what lies there in the end, both in the order of reading; where there are transactions both are
    read as committed. `writers` says of what is there more than once who wrote each of it, as far as that is known.
    `highest` is the highest watermark ever seen of each partition, `ends` the last.
    """

    sent: dict[int, int] = field(default_factory=dict)
    keys: dict[int, str] = field(default_factory=dict)
    acknowledged: dict[int, Place] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    transactions: dict[int, Ended] = field(default_factory=dict)
    seen: list[tuple[Place, int]] = field(default_factory=list)
    stored: list[tuple[Place, int]] = field(default_factory=list)
    writers: dict[Place, Writer] = field(default_factory=dict)
    highest: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    setbacks: int = 0
    stored_keys: dict[int, str] = field(default_factory=dict)


class Ledger:
    """Takes entries from the threads of one client, many at once, keeps them, and writes each to a file."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.history = History()
        self._file = file.open("w", encoding="ascii", buffering=1 << 16)
        self._lock = threading.Lock()
        self._began = time.monotonic()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what is not written yet; entries that come later are only kept."""
        with self._lock:
            self._file.close()

    def sent(self, records: Sequence[tuple[int, str]], transaction: int = NO_TRANSACTION) -> None:
        """Records are handed to the client library, by their numbers and keys (empty for none)."""
        self.history.sent.update((number, transaction) for number, _ in records)
        self.history.keys.update((number, key) for number, key in records if key)
        self._write("S", (f"{number}\t{key}\t{transaction}" for number, key in records))

    def acknowledged(self, records: Sequence[tuple[int, int, int]]) -> None:
        """The broker says that it has records: number, partition, offset (-1 for a duplicate that it ignored)."""
        self.history.acknowledged.update((number, (partition, offset)) for number, partition, offset in records)
        self._write("A", (f"{number}\t{partition}\t{offset}" for number, partition, offset in records))

    def failed(self, number: int, error: str) -> None:
        """The client gave a record up: it may be there or not."""
        self.history.failed[number] = error
        self._write("E", [f"{number}\t{error}"])

    def ended(self, transaction: int, how: Ended) -> None:
        """A transaction ended."""
        self.history.transactions[transaction] = how
        self._write("T", [f"{transaction}\t{how}"])

    def seen(self, records: Sequence[tuple[Place, int]]) -> None:
        """A consumer got records."""
        self.history.seen += records
        self._write("C", (f"{partition}\t{offset}\t{number}" for (partition, offset), number in records))

    def stored(self, records: Iterable[tuple[Place, int]], keys: Mapping[int, str] = MappingProxyType({})) -> None:
        """All that lies there in the end, with the keys of what was sent."""
        found = list(records)
        self.history.stored += found
        self.history.stored_keys.update(keys)
        self._write("L", (f"{partition}\t{offset}\t{number}" for (partition, offset), number in found))

    def written(self, writers: Mapping[Place, Writer]) -> None:
        """Who wrote what is there more than once."""
        self.history.writers.update(writers)
        self._write("P", ("\t".join(map(str, (*place, *writer))) for place, writer in writers.items()))

    def high_watermark(self, partition: int, offset: int) -> None:
        """A leader says how far a partition is committed."""
        history = self.history
        if offset == history.ends.get(partition):
            return
        history.setbacks += offset < history.ends.get(partition, offset)
        history.ends[partition] = offset
        history.highest[partition] = max(offset, history.highest.get(partition, offset))
        self._write("W", [f"{partition}\t{offset}"])

    def _write(self, letter: str, entries: Iterable[str]) -> None:
        """Write entries that were made at one moment."""
        head = f"{letter}\t{time.monotonic() - self._began:.6f}\t"
        text = "".join([f"{head}{entry}\n" for entry in entries])
        with self._lock:
            if not self._file.closed:
                self._file.write(text)
