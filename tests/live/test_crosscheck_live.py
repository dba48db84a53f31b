"""Every builder at hand held against the others, and the release's own compiler against the release."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.building.jdk8 import debian_javac8
from harness.model.request import Request
from harness.rundir.directory import RunDirectory
from harness.stages.crosscheck import cross_check
from harness.toolbox.toolbox import Toolbox

# Where no engine is, the container library leaves its socket for the garbage collector to close.
NO_ENGINE = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
pytestmark = [pytest.mark.live, NO_ENGINE]

CLASSES = 123  # in the released jar of 3.9.1


@pytest.fixture(scope="module")
def checked(built: Path, toolbox: Toolbox, quiet: Reporter, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(built, tmp_path_factory.mktemp("cross") / "run")
    check = cross_check(folder, toolbox, quiet)
    assert check.problems == ()
    return folder


def test_every_builder_gives_the_same_bytes_twice(checked):
    repeats = json.loads((checked / "crosscheck.json").read_text())["repeats"]
    assert repeats
    assert all(each["first"] == each["second"] for each in repeats)


def test_javac_8_gives_every_class_of_the_release_again_or_the_check_says_why_not(checked):
    check = json.loads((checked / "crosscheck.json").read_text())
    exact = [each for each in check["comparisons"] if each["exact"]]
    if not exact:
        assert any("javac 8, which made the release, cannot be had here" in gap for gap in check["gaps"])
        pytest.skip(check["gaps"][-1])
    assert [(each["identical"], each["alike"], each["differ"]) for each in exact] == [(CLASSES, 0, [])]


def test_no_two_builders_give_another_api(checked):
    comparisons = json.loads((checked / "crosscheck.json").read_text())["comparisons"]
    assert [each["apis"] for each in comparisons] == [[]] * len(comparisons)
    assert all(each["identical"] + each["alike"] + len(each["differ"]) == CLASSES for each in comparisons)


def test_javac_8_is_fetched_into_an_empty_cache_and_nothing_else_stays_there(toolbox):
    with tempfile.TemporaryDirectory() as cache:
        try:
            compiler = debian_javac8(toolbox.java(), Path(cache))
        except HarnessError as error:
            pytest.skip(error.message)
        assert sorted(path.name for path in compiler.home.rglob("*.jar")) == [
            "jce.jar",
            "jsse.jar",
            "rt.jar",
            "tools.jar",
        ]
        assert [path.name for path in (Path(cache) / "jdk8").iterdir()] == [compiler.home.name]
        (Path(cache) / "A.java").write_text("class A { java.util.List<String> names; }\n")
        made = compiler.compile(Path(cache), ["A.java"], (), Path(cache) / "out", 8)
        assert made.succeeded, made.output
        assert (Path(cache) / "out/A.class").read_bytes()[7] == 52  # Java 8


def test_a_given_jar_has_no_sources_to_build(toolbox, quiet, tmp_path):
    RunDirectory(tmp_path).request.write(Request(jar=tmp_path / "a.jar"))
    with pytest.raises(HarnessError, match="a finished jar has no sources"):
        cross_check(tmp_path, toolbox, quiet)
