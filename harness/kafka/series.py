"""The patch series that come with the harness: a folder each, `patches/<version>/<name>/`.

Where a version has several, the file `patches/<version>/default` names the one that is meant when nobody names any.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from pathlib import Path

from harness.base.errors import HarnessError, unknown
from harness.base.paths import data_root
from harness.kafka.lock import checked_version
from harness.kafka.release_lines import line_of, same_line
from harness.kafka.versions import order_of

_CHOOSE = "Choose one by --series."
_DEFAULT = "default"


def shipped_series() -> list[str]:
    """Return every series as `<version>/<name>`."""
    patches = data_root() / "patches"
    return sorted(path.parent.relative_to(patches).as_posix() for path in patches.glob("*/*/series"))


def series_folders(version: str) -> tuple[Path, ...]:
    """Return the folders of a Kafka version's series, by name; none where there is no series.

    A release without series of its own has those of another release of its line: the last before it, else the first
    after it. Whether their patches apply is seen when they are applied.
    """
    made_for = _made_for(version, {series.partition("/")[0] for series in shipped_series()})
    return tuple(data_root() / "patches" / series for series in shipped_series() if series.startswith(f"{made_for}/"))


def _made_for(version: str, having: Set[str]) -> str:
    """Return the version among those that have series whose series a version takes; itself where none is near."""
    if version in having:
        return version
    of_line = sorted((each for each in having if same_line(each, version)), key=order_of)
    before = [each for each in of_line if order_of(each) < order_of(version)]
    return (before or of_line[:1] or [version])[-1]


def series_folder(version: str, name: str = "") -> Path:
    """Return the folder of a Kafka version's series of this name, else of its default, else of its only one.

    Raises HarnessError when there is none (and where the release line is not known), none of that name, or when
    several are there and neither the caller nor a default names one.
    """
    folders = {folder.name: folder for folder in series_folders(version)}
    names = list(folders)
    name = name or _default_of(folders.values())
    if not names:
        line_of(checked_version(version))  # of a line that is not known, a jar would not help either
        raise HarnessError(
            f"There is no patch series for Kafka {version}.",
            "Compare two releases by --base-kafka A --kafka B, or build sources as they are by --series none; give "
            "a finished jar by --jar, and its claims by --claims FILE or --claims none; the release alone is asked by "
            f"`harness verify --kafka {version} --arms base --claims none --suite …`.",
        )
    if name and name not in names:
        raise HarnessError(unknown("patch series", name, names), _CHOOSE)
    if not name and len(names) > 1:
        raise HarnessError(f"There are several patch series for Kafka {version}: {', '.join(names)}.", _CHOOSE)
    return folders[name or names[0]]


def _default_of(folders: Iterable[Path]) -> str:
    """Return the name that the default file beside some series holds; empty where there is none."""
    files = {folder.parent / _DEFAULT for folder in folders}
    return next((file.read_text(encoding="utf-8").strip() for file in files if file.is_file()), "")
