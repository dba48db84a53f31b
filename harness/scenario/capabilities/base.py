"""What a capability is: a question to this host, with a remedy where the answer is no."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.base.errors import HarnessError, unknown

Probe = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Capability:
    """Something that a scenario may need; `probe` returns why the host cannot, empty when it can.

    `remedy` is what to do then, or says it by what this host lacks.
    """

    name: str
    description: str
    probe: Probe
    remedy: str | Probe

    @property
    def fix(self) -> str:
        """What to do where the host cannot."""
        return self.remedy if isinstance(self.remedy, str) else self.remedy()


_capabilities: dict[str, Capability] = {}


def capability(*, fix: str | Probe) -> Callable[[Probe], Probe]:
    """Register a probe as a capability of its function's name; `fix` says what to do where the host cannot."""

    def decorate(probe: Probe) -> Probe:
        description = " ".join((probe.__doc__ or "").split()).rstrip(".")
        _capabilities[probe.__name__] = Capability(probe.__name__, description, probe, fix)
        return probe

    return decorate


def capabilities() -> Mapping[str, Capability]:
    """Return every capability that was registered, by name."""
    return MappingProxyType(_capabilities)


def known(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names as they are. Raises HarnessError for one that nobody registered: did you mean …"""
    for name in names:
        if name not in _capabilities:
            raise HarnessError(unknown("capability", name, _capabilities))
    return tuple(names)


def missing(names: Iterable[str]) -> str:
    """Return what this host lacks of these capabilities, with the remedy, in a sentence; empty when nothing."""
    for name in names:
        found = _capabilities[name]
        if reason := found.probe():
            return f"this host cannot run it: {found.description}: {reason}. {found.fix}"
    return ""
