"""What is counted in logs, and where: the input of contrasts and of the noise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Where:
    """A stretch of an arm's logs that can be compared: one kind of node in one phase of one scenario, in one run."""

    arm: str
    scenario: str
    node_role: str
    phase: str
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Count:
    """How often a template was logged somewhere, and the first such event: its file, line and text.

    `statement` is the place in the sources that wrote it, `wording` what it writes with `{}` for each value, `values`
    what stood there: where they are known. `family` is what is compared of the template; empty for the template itself.
    `role` is what the node was in the phase (`leader`), empty where that is not known.
    `after` is the time from the phase's beginning to the first event, in seconds, None where that has no meaning;
    `last_at` is when the last event came. `before_end` says whether one came before the last stretch of the run,
    `at_end` whether one came in it.
    """

    where: Where
    level: str
    logger: str
    template: str
    count: int
    file: str
    line: int
    excerpt: str
    statement: str = ""
    family: str = ""
    wording: str = ""
    values: tuple[str, ...] = ()
    node: int = 0
    role: str = ""
    after: float | None = None
    last_at: float = 0.0
    before_end: bool = False
    at_end: bool = False

    @property
    def key(self) -> str:
        """What is compared with other arms."""
        return self.family or self.template
