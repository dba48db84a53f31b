"""Where the harness's own data lies: patches, builds, scenarios and reports, in a checkout or a wheel."""

from pathlib import Path

import platformdirs


def data_root() -> Path:
    """Return the folder that holds `patches/ builds/ scenarios/ reports/`."""
    package = Path(__file__).resolve().parent
    installed = package / "_data"
    return installed if installed.is_dir() else package.parent


def cache_root() -> Path:
    """Return this user's cache folder (XDG); downloads, runtimes and archives of it can be deleted at will."""
    return Path(platformdirs.user_cache_dir("kafka-patch-harness", appauthor=False))
