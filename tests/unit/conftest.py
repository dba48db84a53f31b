"""Unit tests do not depend on what this machine's user has learned or locked."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def an_empty_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point the user's data folder at an empty one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield
