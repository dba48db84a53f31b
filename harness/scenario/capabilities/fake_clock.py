"""A clock of a node's own: libfaketime, which answers for the C library."""

from __future__ import annotations

from pathlib import Path

from harness.scenario.capabilities.base import capability

_PLACES = ("/usr/lib", "/usr/lib64", "/usr/local/lib")
_LIBRARY = "faketime/libfaketimeMT.so.1"


def library() -> Path | None:
    """Return the library for programs with threads, None where this host has none."""
    for place in map(Path, _PLACES):
        found = next(iter(sorted([*place.glob(_LIBRARY), *place.glob(f"*/{_LIBRARY}")])), None)
        if found:
            return found
    return None


@capability(fix="Install libfaketime (Debian, Fedora: the package of that name).")
def fake_clock() -> str:
    """A clock of a node's own (libfaketime)."""
    return "" if library() else f"{_LIBRARY} is in none of {', '.join(_PLACES)}"
