"""What became of everything that clients were told during a rehearsal; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from harness.scenario.readback import Stored


@dataclass(frozen=True, slots=True)
class Account:
    """One client's account. `acknowledged` are records, transactions or deliveries, as `words` says.

    `failures` counts errors by their name. `lost` was promised and is gone, `duplicates` is there more than once;
    `wrong` are sentences about what else must not be. `binding` says whether a loss speaks against the jar: acks=1
    promises nothing when a leader goes. `unread` says why it could not be checked, `told` what is worth knowing.
    """

    name: str
    words: str
    acknowledged: int
    lost: int
    duplicates: int
    longest_pause_seconds: float
    failures: Mapping[str, int] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()
    told: str = ""
    unread: str = ""
    binding: bool = True


def against(accounts: Sequence[Account]) -> list[str]:
    """Return what in the accounts speaks against the jar."""
    found = [
        f"{account.name}: {account.lost} of {account.acknowledged} acknowledged are gone"
        for account in accounts
        if account.lost and account.binding
    ]
    return found + [f"{account.name}: {sentence}" for account in accounts for sentence in account.wrong]


def unsettled(accounts: Sequence[Account]) -> list[str]:
    """Return which accounts cannot be closed, so that nothing can be said of them."""
    unread = [f"{account.name} could not be checked: {account.unread}" for account in accounts if account.unread]
    idle = [f"{account.name}: nothing was ever acknowledged" for account in accounts if not account.acknowledged]
    return unread + idle


def stale_keys(acknowledged: Mapping[str, int], stored: Sequence[Stored]) -> list[str]:
    """Return the keys of a compacted topic whose last record is older than what was acknowledged, or that are gone.

    A later write that was not acknowledged may well be there.
    """
    latest = {record.key.decode(): int(record.value) for record in stored}
    return sorted(key for key, number in acknowledged.items() if latest.get(key, -1) < number)


@dataclass(frozen=True, slots=True)
class Transactions:
    """What a transactional producer knows: numbers of transactions by how they ended; `parts` records each."""

    parts: int
    committed: Collection[int]
    aborted: Collection[int]
    unknown: Collection[int]


def settle_transactions(known: Transactions, seen: Sequence[int]) -> tuple[list[int], int, tuple[str, ...]]:
    """Compare with what a read-committed consumer sees: (lost transactions, duplicate records, what is wrong).

    A transaction whose commit was never answered may be there or not, but wholly.
    """
    counts = Counter(seen)
    lost = [number for number in known.committed if counts[number] < known.parts]
    duplicates = sum(max(count - known.parts, 0) for count in counts.values())
    visible = [number for number in known.aborted if counts[number]]
    torn = [number for number in known.unknown if 0 < counts[number] < known.parts]
    wrong = [f"{len(visible)} aborted transactions can be read"] if visible else []
    wrong += [f"{len(torn)} transactions can be read in part"] if torn else []
    return lost, duplicates, tuple(wrong)


class GroupPosition:
    """Follows a consumer group on a topic of nothing but records: where each partition was read and committed to."""

    def __init__(self) -> None:
        self.delivered = 0
        self.again = 0
        self.skipped = 0
        self.rewound = 0
        self.committed: dict[int, int] = {}
        self._next: dict[int, int] = {}

    def deliver(self, partition: int, offset: int) -> None:
        """Note a delivery. What lies below a committed offset must not come again; nothing may be left out."""
        expected = self._next.get(partition, 0)
        self.delivered += 1
        self.rewound += offset < self.committed.get(partition, 0)
        self.again += offset < expected
        self.skipped += max(offset - expected, 0)
        self._next[partition] = max(expected, offset + 1)

    def commit(self) -> dict[int, int]:
        """Return the offsets to commit: just behind what was delivered."""
        return dict(self._next)

    def committed_to(self, offsets: Mapping[int, int]) -> None:
        """Note a commit that was acknowledged."""
        self.committed |= offsets

    def short_of(self, ends: Mapping[int, int]) -> int:
        """Return how many records lie between where the group got to and the ends."""
        return sum(max(end - self._next.get(partition, 0), 0) for partition, end in ends.items())
