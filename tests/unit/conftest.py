"""Unit tests depend neither on what this machine's user has learned or locked nor on one another."""

from collections.abc import Iterator

import pytest

from harness.cli import common
from harness.stages import power_data


@pytest.fixture(autouse=True)
def a_command_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no test print as the one before it was told to: a process has one command line."""
    monkeypatch.setattr(common, "_shown", dict.fromkeys(common._shown, False))


@pytest.fixture(autouse=True, scope="session")
def an_empty_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point the user's data folder at an empty one, and what suites notice at none."""
    empty = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(empty))
        patch.setattr(power_data, "data_root", lambda: empty)
        yield
