"""Version strings: which release of Kafka a build is of, whatever its maker added to the number; pure."""

from __future__ import annotations

import re

# 3.9.1-p1, 3.9.1.redhat-00003, 3.9.1-ccs, 3.9.1+acme.2, 3.9.1-SNAPSHOT; a fourth number may be its maker's, too.
_ADDED = r"(?:[A-Za-z._+-][\w.+-]{0,80})?"  # versions become names of files: nothing that could leave a folder
_RELEASE = re.compile(rf"(\d+\.\d+\.\d+){_ADDED}", re.ASCII)
# Kafka's own numbers until 1.0 had four parts.
_EARLY = re.compile(rf"(0\.\d+\.\d+\.\d+){_ADDED}", re.ASCII)


def release_of(version: str) -> str:
    """Return the Kafka release that a version string is of: 3.9.1 for `3.9.1-p1`, and for 3.9.1 itself.

    What does not begin with a release's number is returned as it is.
    """
    found = _EARLY.fullmatch(version) or _RELEASE.fullmatch(version)
    return found.group(1) if found else version


def order_of(version: str) -> tuple[int, ...]:
    """Return what sorts versions by the numbers of their releases, 3.9.10 behind 3.9.9."""
    return tuple(map(int, re.findall(r"\d+", release_of(version))))


def is_version(text: str) -> bool:
    """Whether a text begins with a release's number, so that it names a version at all."""
    return release_of(text) != text or bool(_RELEASE.fullmatch(text))
