"""What is installed on a node: the raft jar under test, and the server properties that go with it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Install:
    """A raft jar and its settings, under the name of its arm.

    `flag` is the value of the feature flag that a live node must then report (`absent` where it knows none).
    """

    name: str
    jar: Path
    sha256: str
    flag: str
    settings: Mapping[str, str] = field(default_factory=dict)


def copied_to(install: Install, libs: Path, name: str) -> Install:
    """Put a copy of the jar into a node's own library folder, under the name that it has there."""
    libs.mkdir(exist_ok=True)
    return replace(install, jar=Path(shutil.copyfile(install.jar, libs / name)))
