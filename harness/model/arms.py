"""Builds, arms and their roles: what is compared with what; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from harness.base.errors import HarnessError, unknown
from harness.base.json_schema import Keywords, Sha256

ABSENT = "absent"
GIVEN = "given"  # the builder of a raft jar that somebody else made
RELEASE = "release"  # the builder of a raft jar that is its Kafka's own
PATCHED = "patched"  # the name of a build with a series
FlagSetting = Annotated[str, Keywords({"enum": [ABSENT, "true", "false"]})]


class Role(StrEnum):
    """What an arm is for: the control, the candidate with its flag off, the candidate as claimed.

    Where base itself has the flag on by default, `base-off` is base with the flag off: the control for `off`, and for
    what claims say of a base without the fix.
    """

    BASE = "base"
    BASE_OFF = "base-off"
    OFF = "off"
    ON = "on"

    @property
    def is_control(self) -> bool:
        """Whether it is played by base, rather than by the candidate."""
        return self in (Role.BASE, Role.BASE_OFF)


@dataclass(frozen=True, slots=True)
class Flag:
    """A feature flag as a jar's own ConfigDef declares it.

    `known` is False when the jar does not define the key; `default` is then empty.
    """

    key: str
    known: bool
    default: str = ""


@dataclass(frozen=True, slots=True)
class Kafka:
    """A whole Kafka, in which the raft jar of a build runs.

    `version` is what its own raft jar calls itself, `place` the folder or the archive that somebody named, empty for
    Apache's locked release. `jars` are the digests of its jars by file name; `raft_jar` is the name of its own raft
    module among them. In a record of before the harness knew, all of it is empty.
    """

    version: str = ""
    place: str = ""
    raft_jar: str = ""
    jars: Mapping[str, Sha256] = field(default_factory=dict)

    @property
    def others(self) -> Mapping[str, str]:
        """The digests of all jars but its own raft module, by file name."""
        return {name: digest for name, digest in self.jars.items() if name != self.raft_jar}

    @property
    def label(self) -> str:
        """What it is called: `Kafka 3.9.2`, and of one that somebody has its file or folder too."""
        return f"Kafka {self.version} ({self.place.rpartition('/')[2]})" if self.place else f"Kafka {self.version}"

    def is_same(self, other: Kafka) -> bool:
        """Return whether two Kafkas are the same but for their own raft modules, wherever they lie."""
        return self.others == other.others


@dataclass(frozen=True, slots=True)
class Build:
    """A Kafka with one raft jar in it, and where that jar came from; identified by `jar_sha256` and its Kafka.

    `jar` is the path of the raft jar; relative paths are relative to the run directory. `kafka` is what it runs in.
    `series` names the patches applied, in order; empty for a release or a given jar.
    `builder` is how it was made: `release`, `javac 17.0.15`, `ecj 3.45`, `given`.
    """

    name: str
    kafka_version: str
    jar: str
    jar_sha256: Sha256
    builder: str
    flag: Flag
    series: tuple[str, ...] = ()
    note: str = ""
    kafka: Kafka = field(default_factory=Kafka)

    @property
    def jars(self) -> Mapping[str, str]:
        """The digests of all jars that a node of this build runs, by file name."""
        return {**self.kafka.others, self.jar.rpartition("/")[2]: self.jar_sha256}

    @property
    def has_flag_on(self) -> bool:
        """Whether it has the flag, and on by default."""
        return self.flag.known and self.flag.default.lower() == "true"


@dataclass(frozen=True, slots=True)
class Arm:
    """A build with a flag setting. `flag` is `absent` (key not in the config), `true` or `false`."""

    name: str
    role: Role
    build: Build
    flag: FlagSetting
    java: str = ""


@dataclass(frozen=True, slots=True)
class ClaimedFlag:
    """The feature flag as the claims state it: its key (empty without claims) and claimed default."""

    key: str
    claimed_default: bool


def replaced_jar(base: Build, candidate: Build) -> str:
    """Return the digest of the raft jar that a candidate's is held against: base's, or that of its own, other Kafka.

    Into that it has to fit, and not into base's (docs/adr/0025-each-arm-has-its-own-kafka.md).
    """
    own = candidate.kafka
    return base.jar_sha256 if own.is_same(base.kafka) else own.jars[own.raft_jar]


def plan_arms(base: Build, candidate: Build, flag: ClaimedFlag, java: str) -> tuple[Arm, ...]:
    """Return the arms base, base-off, off, on: no `off` where the candidate does not know the flag, and `base-off` only
    where base has it on by default.

    What is no series and whose claims name no flag has one arm, of the build's name (`jar`, `kafka`, `built`). Each
    arm's `flag` is the value that every live node must prove. `on` is the candidate as claimed: with a claimed default
    of true its config says nothing of the flag, so what counts is the jar's own default.
    """
    prefix = candidate.name
    alone = prefix != PATCHED and not flag.key
    on = Arm(prefix if alone else f"{prefix}-on", Role.ON, candidate, _value_on(candidate, flag), java)
    arms = [Arm(base.name, Role.BASE, base, _default(base), java)]
    if base.has_flag_on:
        arms.append(Arm(f"{base.name}-off", Role.BASE_OFF, base, "false", java))
    if candidate.flag.known:
        arms.append(Arm(f"{prefix}-off", Role.OFF, candidate, "false", java))
    return (*arms, on)


def kafkas_compared(arms: Sequence[Arm]) -> tuple[Kafka, Kafka] | None:
    """Return base's Kafka and the candidate's where they are two; None where only a raft jar differs."""
    return next(((base.kafka, other.kafka) for base, other in _of_two_kafkas(arms)), None)


def is_base_itself(arms: Sequence[Arm]) -> bool:
    """Return whether the candidate is base's own jars, byte for byte, with its flag: what differs then is chance."""
    base, candidate = (next((arm for arm in arms if arm.role is role), None) for role in (Role.BASE, Role.ON))
    if base is None or candidate is None or base.flag != candidate.flag:
        return False
    is_same_jar = base.build.jar_sha256 == candidate.build.jar_sha256
    return is_same_jar and base.build.kafka.is_same(candidate.build.kafka)


def are_of_two_releases(arms: Sequence[Arm]) -> bool:
    """Return whether base and the candidate are Kafkas of two releases: a vendor's of the same one is none.

    Each release logs, measures and costs what its own nodes do.
    """
    return any(base.kafka_version != other.kafka_version for base, other in _of_two_kafkas(arms))


def _of_two_kafkas(arms: Sequence[Arm]) -> Iterator[tuple[Build, Build]]:
    bases = [arm.build for arm in arms if arm.role is Role.BASE]
    others = [arm.build for arm in arms if not arm.role.is_control]
    return ((base, other) for base in bases for other in others if not other.kafka.is_same(base.kafka))


def _default(build: Build) -> str:
    return build.flag.default.lower() if build.flag.known else ABSENT


def _value_on(candidate: Build, flag: ClaimedFlag) -> str:
    if candidate.flag.known and not flag.claimed_default:
        return "true"
    return _default(candidate)


def settings_of(arm: Arm, flag: ClaimedFlag) -> dict[str, str]:
    """Return the server properties that make an arm what it is."""
    if not arm.build.flag.known or arm.role is Role.BASE:
        return {}
    if arm.role in (Role.BASE_OFF, Role.OFF):
        return {flag.key: "false"}
    return {} if flag.claimed_default else {flag.key: "true"}


def choose_arms(arms: Sequence[Arm], names: Sequence[str]) -> tuple[Arm, ...]:
    """Return the arms of these names or roles, all when none is named. Raises HarnessError: did you mean …

    `base` stands for base with its flag off too: that is the control of every arm with the flag off.
    """
    words = {word for arm in arms for word in _words(arm)}
    for name in names:
        if name not in words:
            raise HarnessError(unknown("arm", name, words))
    return tuple(arm for arm in arms if not names or _words(arm) & set(names))


def _words(arm: Arm) -> set[str]:
    return {arm.name, str(arm.role), *([str(Role.BASE)] if arm.role.is_control else [])}
