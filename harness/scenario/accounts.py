"""What a plan's own records came to: which numbers were sent to a topic, and which of them were acknowledged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass(slots=True)
class Account:
    """The records of one topic: how many numbers were given out, and those that were acknowledged.

    A number is given out once: what was refused, or never answered, may lie in the log all the same.
    """

    sent: int = 0
    acknowledged: set[int] = field(default_factory=set)

    def numbers(self, records: int) -> range:
        """Give out so many numbers."""
        self.sent += records
        return range(self.sent - records, self.sent)

    def acknowledge(self, numbers: Collection[int]) -> None:
        """Note which were acknowledged."""
        self.acknowledged.update(numbers)


@dataclass(frozen=True, slots=True)
class Offered:
    """What one broker made of records that it was offered: how many it took, and by which error it refused the next."""

    node: int
    taken: int
    refusal: str = ""

    @property
    def words(self) -> str:
        """The answer as a clause."""
        return f"broker {self.node} took {self.taken}" + (f", then answered {self.refusal}" if self.refusal else "")
