"""Where the harness's own data lies: patches, builds, scenarios and reports, in a checkout or a wheel."""

from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent.parent
_INSTALLED = _PACKAGE / "_data"
_APPLICATION = "kafka-patch-harness"


def data_root() -> Path:
    """Return the folder that holds `patches/ builds/ scenarios/ reports/`."""
    return _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent


def is_checkout() -> bool:
    """Whether the data are a developer's own files, and not part of an installation that is replaced as a whole."""
    return not _INSTALLED.is_dir() and not {"site-packages", "dist-packages"} & set(_PACKAGE.parts)


def cache_root() -> Path:
    """Return this user's cache folder (XDG); downloads, runtimes and archives of it can be deleted at will."""
    return Path(platformdirs.user_cache_dir(_APPLICATION, appauthor=False))


def user_data_root() -> Path:
    """Return this user's data folder (XDG): what was written by hand or on request, and is not to be deleted."""
    return Path(platformdirs.user_data_path(_APPLICATION, appauthor=False))


def nearest_existing(path: Path) -> Path:
    """Return the path if it exists, else the nearest folder above it that does."""
    return path if path.exists() else nearest_existing(path.parent)
