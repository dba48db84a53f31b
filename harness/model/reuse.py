"""Where something comes from that a verification took over from an earlier one."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.json_schema import Count, Sha256, Text


@dataclass(frozen=True, slots=True)
class Origin:
    """An earlier verification: its run directory, when it ended (UTC, ISO 8601), and the digest of all that decided.

    Of runs of base, `figures` is how many figures of this very candidate were held against theirs then, none of which
    was over its limit.
    """

    made_in: Text
    made_at: Text
    inputs: Sha256
    figures: Count = 0

    @property
    def minute(self) -> str:
        """When, as people write it: `2026-11-25 14:02 UTC`."""
        return f"{self.made_at[:10]} {self.made_at[11:16]} UTC"
