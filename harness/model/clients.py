"""What clients were promised during a run, and what was there at its end; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClientReport:
    """One client's report. `acknowledged` are records, transactions or deliveries, as `description` says.

    `failures` counts errors by their name, `unanswered` the records that were neither acknowledged nor failed when the
    client ended (0 of transactions, and in journals that do not know it). `lost` was acknowledged and is gone,
    `duplicates` is there more than once; `violations` are sentences about what else must not be. `binding` says whether
    a loss counts against the build: acks=1 promises nothing when a leader goes. `unread` says why it could not be
    checked, empty when it was; `detail` is worth knowing and decides nothing.
    """

    name: str
    description: str
    acknowledged: int
    lost: int
    duplicates: int
    longest_pause_seconds: float
    failures: Mapping[str, int] = field(default_factory=dict)
    violations: tuple[str, ...] = ()
    detail: str = ""
    unread: str = ""
    binding: bool = True
    unanswered: int = 0

    @property
    def failed(self) -> int:
        """How many requests failed for good."""
        return sum(self.failures.values())

    @property
    def not_acknowledged(self) -> Mapping[str, int]:
        """How many requests were not acknowledged, by the name of an error, or `unanswered`."""
        return {**self.failures, **({"unanswered": self.unanswered} if self.unanswered else {})}


def broken_promises(reports: Sequence[ClientReport]) -> list[str]:
    """Return what in the reports counts against the build."""
    found = [_loss(report) for report in reports if report.lost and report.binding]
    return found + [f"{report.name}: {sentence}" for report in reports for sentence in report.violations]


def _loss(report: ClientReport) -> str:
    return f"{report.lost} of {report.acknowledged} acknowledged {report.name} are not found at the end"
