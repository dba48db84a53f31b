"""What a verification declares before its first run: the content of run.json (docs/run-directory.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.errors import HarnessError
from harness.model.arms import Arm, Kafka, Role, are_of_two_releases, kafkas_compared
from harness.model.candidate_kind import CandidateKind
from harness.model.claims import Claim, Expected
from harness.model.request import MOST_REPEATS
from harness.model.runs import Outcome, RunResult

SCHEMA = 2


@dataclass(frozen=True, slots=True)
class DeclaredScenario:
    """A scenario of the plan; `question` is its docstring in one sentence.

    `expected` is the outcome that base's Kafka shows as it is, `known` where the defect is described by which it fails.
    """

    name: str
    question: str = ""
    budget_seconds: float = 0.0
    expected: str = "PASSED"
    known: str = ""

    @property
    def of_stock(self) -> Expected:
        """What stock shows of it, as claims say it of a role: PASSED, or FAILED with a name."""
        outcome, _, name = self.expected.removesuffix(")").partition("(")
        return Expected(Outcome(outcome), name)


@dataclass(frozen=True, slots=True)
class Declaration:
    """Everything that was declared before the first run, and the wall and CPU time each stage took since.

    `argv` are the words after the program's name; `host` are facts about the machine by name, as text. `kind` is what
    the candidate is known to be. `has_spares` says that a run which did not come to an answer is asked once more
    (harness.model.spares), as repeat `repeats` + its own; in folders of before none is.
    """

    schema: int
    kafka_version: str
    arms: tuple[Arm, ...]
    scenarios: tuple[DeclaredScenario, ...]
    repeats: int
    claims: tuple[Claim, ...] = ()
    argv: tuple[str, ...] = ()
    started_at: str = ""
    host: Mapping[str, str] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)
    kind: CandidateKind = CandidateKind.SERIES
    has_spares: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise HarnessError(f"{self.repeats} repeats are declared.")

    def arm(self, role: Role) -> Arm | None:
        """Return the arm that plays `role`, or None; two arms in one role are a HarnessError."""
        arms = [arm for arm in self.arms if arm.role is role]
        if len(arms) > 1:
            names = ", ".join(arm.name for arm in arms)
            raise HarnessError(f"The arms {names} all have the role {role}.", "Give each role one arm.")
        return arms[0] if arms else None

    def declares(self, result: RunResult) -> bool:
        """Return whether a result is of what is declared; a folder may hold others, from before it was narrowed."""
        return (
            any(scenario.name == result.scenario for scenario in self.scenarios)
            and any(arm.name == result.arm for arm in self.arms)
            and 1 <= result.repeat <= self.repeats * (2 if self.has_spares else 1)
        )

    @property
    def binding(self) -> bool:
        """Whether the candidate is made as its series makes it.

        Only then do questions about the series' source and the series' own tests decide; otherwise they are shown.
        """
        return self.kind is CandidateKind.SERIES

    @property
    def is_held_to_series(self) -> bool:
        """Whether the candidate is of a series, and held to what that claims."""
        return self.has_claims and self.kind is CandidateKind.SERIES

    @property
    def has_claims(self) -> bool:
        """Whether anything is claimed of the candidate; otherwise the question is whether anything is worse."""
        return bool(self.claims) or self.kind is CandidateKind.CLAIMED

    @property
    def flag_known(self) -> bool:
        """Whether the candidate's jar defines the feature flag; without a candidate it is taken to."""
        candidates = self._candidates
        return not candidates or any(arm.build.flag.known for arm in candidates)

    @property
    def base_has_flag_on(self) -> bool:
        """Whether base itself has the flag on by default, so that it is run with the flag off as well."""
        return any(arm.build.has_flag_on for arm in self.arms if arm.role.is_control)

    def needs(self, role: Role) -> bool:
        """Return whether an arm must play a role: with the flag off only a build that has the flag can."""
        match role:
            case Role.BASE | Role.ON:
                return True
            case Role.BASE_OFF:
                return self.base_has_flag_on
            case Role.OFF:
                return self.flag_known

    def control_of(self, role: Role) -> Arm | None:
        """Return the arm that an arm of a role is held against: `off` against a base without the flag, or with it off,
        and any other against base as it is.
        """
        return self.arm(Role.BASE_OFF if role is Role.OFF and self.base_has_flag_on else Role.BASE)

    @property
    def compared(self) -> tuple[tuple[str, str], ...]:
        """The names of the control and of the arm, for each of the candidate's arms that has a control."""
        pairs = ((self.control_of(arm.role), arm) for arm in self._candidates)
        return tuple((control.name, arm.name) for control, arm in pairs if control)

    @property
    def kafkas(self) -> tuple[Kafka, Kafka] | None:
        """Base's Kafka and the candidate's where they are two; None where only a raft jar differs."""
        return kafkas_compared(self.arms)

    @property
    def is_of_two_releases(self) -> bool:
        """Whether base and the candidate are Kafkas of two releases, and not one with other jars in it."""
        return are_of_two_releases(self.arms)

    @property
    def flag_key(self) -> str:
        """The feature flag that was looked for in the candidate's jar; empty without a candidate."""
        return next((arm.build.flag.key for arm in self._candidates), "")

    @property
    def candidate(self) -> str:
        """The name of the build under test; empty when every arm is a control."""
        return next((arm.build.name for arm in self._candidates), "")

    @property
    def _candidates(self) -> tuple[Arm, ...]:
        return tuple(arm for arm in self.arms if not arm.role.is_control)
