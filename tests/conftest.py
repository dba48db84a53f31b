"""What all tests share: properties are asked without a time limit for each example, since hosts are slow at times."""

import tarfile
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

_KEPT_BYTES = 64 << 20


@pytest.fixture(scope="session")
def kept_folders(tmp_path_factory) -> Path:
    """Return a folder with the kept run folders as the harness of November 2026 left them; not to be written to."""
    folder = tmp_path_factory.mktemp("kept")
    for archive in sorted((Path(__file__).parent / "kept").glob("*.tar.xz")):
        with tarfile.open(archive) as packed:
            assert sum(member.size for member in packed) < _KEPT_BYTES
            packed.extractall(folder, filter="data")
    return folder
