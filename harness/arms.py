"""From builds to arms: which roles there are, what each is named and which properties it is given; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import HarnessError, unknown
from harness.model import Arm, Build, Role
from harness.proof.records import TestScope

ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Setup:
    """How the jar is proved and the nodes of every run are set up: setup.json, for the stages after `build`.

    `java_home` is empty for the bundled runtime, `base_dist` for the locked one. `overlay` are the user's own
    server properties; `settings` are an arm's, by its name. The jar is proved by the `claims` file and, with a folder
    of patches in `series`, by what they change; `waivers` is a file. All three are empty where there is none.
    With `coverage`, each scenario runs once more on the candidate to see which changed lines it reaches.
    """

    java_home: str
    base_dist: str
    profile: str
    flag_key: str
    jobs: int
    offline: bool = False
    overlay: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    claims: str = ""
    series: str = ""
    waivers: str = ""
    tests: TestScope = TestScope.RELATED
    coverage: bool = True


@dataclass(frozen=True, slots=True)
class Flagged:
    """The feature flag as the claims tell it: its key (empty without claims) and claimed default."""

    key: str
    claimed_default: bool


def plan_arms(base: Build, candidate: Build, flag: Flagged, java: str) -> tuple[Arm, ...]:
    """Return the arms base, off, on; there is no `off` where the candidate does not know the flag.

    Each arm's `flag` is the value that every live node must prove. `on` is the candidate as claimed: with a
    claimed default of true its config says nothing of the flag, so what counts is the jar's own default.
    """
    prefix = "jar" if candidate.builder == "given" else "patched"
    on = Arm(f"{prefix}-on", Role.ON, candidate, _value_on(candidate, flag), java)
    arms = [Arm(base.name, Role.BASE, base, _default(base), java)]
    if candidate.flag.known:
        arms.append(Arm(f"{prefix}-off", Role.OFF, candidate, "false", java))
    return (*arms, on)


def _default(build: Build) -> str:
    return build.flag.default.lower() if build.flag.known else ABSENT


def _value_on(candidate: Build, flag: Flagged) -> str:
    if candidate.flag.known and not flag.claimed_default:
        return "true"
    return _default(candidate)


def settings_of(arm: Arm, flag: Flagged) -> dict[str, str]:
    """Return the server properties that make an arm what it is."""
    if not arm.build.flag.known or arm.role is Role.BASE:
        return {}
    if arm.role is Role.OFF:
        return {flag.key: "false"}
    return {} if flag.claimed_default else {flag.key: "true"}


def choose_arms(arms: Sequence[Arm], names: Sequence[str]) -> tuple[Arm, ...]:
    """Return the arms of these names or roles, all when none is named. Raises HarnessError: did you mean …"""
    words = {arm.name for arm in arms} | {str(arm.role) for arm in arms}
    for name in names:
        if name not in words:
            raise HarnessError(unknown("arm", name, words))
    return tuple(arm for arm in arms if not names or arm.name in names or str(arm.role) in names)
