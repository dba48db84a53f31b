"""Builders held against each other, and where javac 8 comes from, without a compiler."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from rich.console import Console

from harness.base.errors import HarnessError
from harness.building.build_comparison import BuiltJar, CrossCheck, Repeat, compare_builds, unpatched_jar
from harness.building.compiling import Compilation
from harness.building.containers.aptsources import AptSource
from harness.building.jars import class_bytes, write_jar
from harness.building.jdk8 import Javac8, debian_javac8, debian_unstable
from harness.kafka.distribution import Distribution
from harness.model.sides import Side
from harness.stages.crosscheck import comparisons, print_crosscheck
from harness.toolbox.java import JavaRuntime

RUNTIME = JavaRuntime(Path("/java"), "21")


def built(label: str, classes: Mapping[str, tuple[bytes, str]], api: str = "api") -> BuiltJar:
    return BuiltJar(
        label,
        {name: content for name, (content, _) in classes.items()},
        {name: code for name, (_, code) in classes.items()},
        {"a/A": api},
    )


def test_classes_are_identical_alike_or_different():
    one = built("one", {"A": (b"1", "x"), "B": (b"1", "x"), "C": (b"1", "x"), "D": (b"1", "x")})
    other = built("other", {"A": (b"1", "x"), "B": (b"2", "x"), "C": (b"2", "y"), "E": (b"1", "x")})
    found = compare_builds(one, other)
    assert (found.classes, found.identical, found.alike, found.differ) == (5, 1, 1, ("C", "D", "E"))
    assert found.problem == ""


def test_two_compilers_may_give_other_instructions_but_no_other_api():
    found = compare_builds(built("one", {}), built("other", {}, "another api"))
    assert found.problem == "one and other give other APIs: a/A"


def test_where_the_very_bytes_are_expected_anything_less_is_a_problem():
    one, other = built("one", {"A": (b"1", "x")}), built("release", {"A": (b"2", "x")})
    assert compare_builds(one, one, exact=True).problem == ""
    assert compare_builds(one, other, exact=True).problem == "one gives 0 of 1 classes of release, not all"


def pairs(side, builders=("ecj", "javac")):
    jars = [built(label, {"A": (b"1", "x")}, "its own api") for label in builders]
    found = comparisons(side, built("the release", {"A": (b"2", "x")}), [], jars)
    return [(each.one, each.other, each.problem) for each in found]


def test_what_git_gives_without_a_series_is_held_against_the_release_and_may_be_something_else():
    assert pairs(Side(None, "3.9.1", built=True, git="/src/kafka@3.9", series="none")) == [
        ("ecj", "javac", ""),
        ("ecj", "the release", ""),
        ("javac", "the release", ""),
    ]


@pytest.mark.parametrize(("git", "series"), [("/src/kafka@3.9", "dynamic-bootstrap"), ("", "none")])
def test_a_series_is_not_held_against_the_release_nor_are_released_sources_twice(git, series):
    assert pairs(Side(None, "3.9.1", built=True, git=git, series=series)) == [("ecj", "javac", "")]


def test_two_builds_with_other_bytes_are_a_problem():
    check = CrossCheck((Repeat("ecj", "a", "a"), Repeat("javac", "a", "b")), ())
    assert check.problems == ("javac built twice gives different bytes",)


def test_the_table_names_what_differs_and_what_could_not_be_compared():
    console = Console(file=io.StringIO(), width=200)
    comparison = compare_builds(built("ecj", {"A": (b"1", "x")}), built("the release", {"A": (b"2", "y")}), exact=True)
    print_crosscheck(console, CrossCheck((Repeat("ecj", "a", "a"),), (comparison,), ("javac 8 cannot be had\x1b[2J",)))
    text = console.file.getvalue()
    assert "twice by ecj: identical bytes" in text
    assert "not compared: javac 8 cannot be had\\x1b[2J" in text
    assert "NOT AS EXPECTED: ecj gives 0 of 1 classes of the release, not all" in text


def test_classes_are_read_by_name(tmp_path):
    write_jar({"a/B.class": b"1", "LICENSE": b"2"}, tmp_path / "a.jar")
    assert class_bytes(tmp_path / "a.jar") == {"a/B": b"1"}


class Compiler:
    label = "compiler 1"
    note = ""

    def __init__(self, succeeds: bool = True) -> None:
        self.succeeds = succeeds
        self.times = 0

    def compile(
        self, root: Path, sources: Sequence[str], class_path: Sequence[Path], out: Path, target: int
    ) -> Compilation:
        self.times += 1
        out.mkdir()
        (out / "A.class").write_bytes(b"compiled")
        return Compilation(self.succeeds, (), "A.java:1: error: no\n")


@pytest.fixture
def release(tmp_path: Path) -> Distribution:
    write_jar({"LICENSE": b"free", "A.class": b"released"}, tmp_path / "kafka-raft-3.9.1.jar")
    jar = tmp_path / "kafka-raft-3.9.1.jar"
    return Distribution("3.9.1", (jar,), jar, "a release")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "sources.jar", "w") as archive:
        archive.writestr("a/A.java", "class A {}")
    return tmp_path / "sources.jar"


def test_a_baseline_is_built_once_per_compiler_and_sources(release, sources, tmp_path):
    compiler = Compiler()
    first, second = (unpatched_jar(compiler, release, sources, 8, tmp_path / "cache") for _ in range(2))
    assert (first, compiler.times) == (second, 1)
    with zipfile.ZipFile(first) as archive:
        assert (archive.read("A.class"), archive.read("LICENSE")) == (b"compiled", b"free")


def test_a_compiler_that_cannot_compile_the_release_leaves_no_baseline(release, sources, tmp_path):
    with pytest.raises(HarnessError, match=r"compiler 1 cannot compile the released sources: A\.java:1: error: no"):
        unpatched_jar(Compiler(succeeds=False), release, sources, 8, tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.jar"))


def test_debian_unstable_is_asked_of_the_hosts_own_mirror_and_only_signed():
    security = AptSource("http://mirror.example/debian-security", "bookworm-security", ("main",))
    main = AptSource("http://mirror.example/debian", "bookworm", ("main",), ("signed-by=/k.gpg", "trusted=yes"))
    found = debian_unstable([security, main])
    assert found is not None
    assert found.line == "deb [signed-by=/k.gpg] http://mirror.example/debian sid main"


def test_a_host_of_another_distribution_has_no_debian_unstable():
    assert debian_unstable([AptSource("http://mirror.example/ubuntu", "noble", ("main",))]) is None


def test_javac_8_comes_from_the_cache_where_it_is_there(tmp_path):
    (tmp_path / "jdk8/8u1/lib").mkdir(parents=True)
    (tmp_path / "jdk8/8u1/lib/tools.jar").touch()
    found = debian_javac8(RUNTIME, tmp_path, offline=True)
    assert found.label == "Debian's javac 8u1"
    assert Javac8.made(found.label)
    assert not Javac8.made("javac 17")


def test_offline_javac_8_is_not_fetched_and_the_sentence_says_so(tmp_path):
    with pytest.raises(HarnessError, match=r"javac 8, which made the release, cannot be had here: .*--offline"):
        debian_javac8(RUNTIME, tmp_path, offline=True)
