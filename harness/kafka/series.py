"""The patch series that come with the harness: a folder each, `patches/<version>/<name>/`."""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import HarnessError, unknown
from harness.base.paths import data_root
from harness.kafka.lock import checked_version
from harness.kafka.release_lines import line_of

_CHOOSE = "Choose one by --series."


def shipped_series() -> list[str]:
    """Return every series as `<version>/<name>`."""
    patches = data_root() / "patches"
    return sorted(path.parent.relative_to(patches).as_posix() for path in patches.glob("*/*/series"))


def series_folders(version: str) -> tuple[Path, ...]:
    """Return the folders of a Kafka version's series, by name; none where there is no series."""
    return tuple(data_root() / "patches" / series for series in shipped_series() if series.startswith(f"{version}/"))


def series_folder(version: str, name: str = "") -> Path:
    """Return the folder of a Kafka version's series of this name, or of its only one.

    Raises HarnessError when there is none (and where the release line is not known), none of that name, or when
    several are there and none is named.
    """
    names = [folder.name for folder in series_folders(version)]
    if not names:
        line_of(checked_version(version))  # of a line that is not known, a jar would not help either
        raise HarnessError(
            f"There is no patch series for Kafka {version}.",
            "Give a finished jar by --jar, and its claims by --claims FILE or --claims none.",
        )
    if name and name not in names:
        raise HarnessError(unknown("patch series", name, names), _CHOOSE)
    if not name and len(names) > 1:
        raise HarnessError(f"There are several patch series for Kafka {version}: {', '.join(names)}.", _CHOOSE)
    return data_root() / "patches" / version / (name or names[0])
