"""What all tests share: properties are asked without a time limit for each example, since hosts are slow at times."""

import re
import tarfile
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

# What lands is decided by the change and not by which examples were drawn; the night looks for new ones.
settings.register_profile("quick", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=500)  # tox -e whole
settings.load_profile("quick")

# Those that use the container engine run one after the other: what one counts, another would add to.
_OF_THE_ENGINE = ("test_containers_live.py", "test_crosscheck_live.py")
_KEPT_BYTES = 64 << 20
_PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"


class FilesAsWork(LoadFileScheduling):
    """Hands out files as a whole, and those that share the container engine as one."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "engine" if file.endswith(_OF_THE_ENGINE) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling | None:
    """Take the place of `--dist loadfile`; xdist's own groups need a pytest before 9.2."""
    return FilesAsWork(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def kept_folders(tmp_path_factory) -> Path:
    """Return a folder with the kept run folders as the harness of November 2026 left them; not to be written to."""
    folder = tmp_path_factory.mktemp("kept")
    for archive in sorted((Path(__file__).parent / "kept").glob("*.tar.xz")):
        with tarfile.open(archive) as packed:
            assert sum(member.size for member in packed) < _KEPT_BYTES
            for member in filter(tarfile.TarInfo.isfile, packed):
                (folder / member.name).parent.mkdir(parents=True, exist_ok=True)
                (folder / member.name).write_bytes(packed.extractfile(member).read())
    return folder


@pytest.fixture(scope="session")
def page_files() -> dict[str, str]:
    """Return the files that CONTRIBUTING.md shows: the first block below each heading that ends with a path."""
    sections = re.split(r"^### ", _PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    block = re.compile(r"^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    blocks = {section.partition("\n")[0]: block.search(section) for section in sections}
    named = {re.search(r"`([^`]+)`$", heading): block for heading, block in blocks.items()}
    return {path[1]: block[1] for path, block in named.items() if path and block}


@pytest.fixture
def shown_files(page_files: dict[str, str], tmp_path: Path) -> Path:
    """Write every file that CONTRIBUTING.md shows below a folder; return the folder."""
    for name, text in page_files.items():
        path = tmp_path / "page" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "page"
