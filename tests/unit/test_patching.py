"""Patch series: read in order, applied as commits, and refused when they reach where none may."""

import subprocess
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.kafka import patching
from harness.kafka.maven import MavenSources
from harness.kafka.patching import apply_series, hunk_at, load_series, parse_headers, parse_series, path_problem
from harness.kafka.tree import SourceTree

FILE = "raft/src/main/java/A.java"
HEADER = "Description: Make it better\n In every way.\nAuthor: somebody\nApplies-To: 3.9.1\n---\n"
LINES = [f"line {number}" for number in range(1, 31)]


def change(old: str, new: str, line: int, file: str = FILE) -> str:
    """A patch of one hunk that replaces a line, with a line of context on each side."""
    diff = f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n"
    hunk = f"@@ -{line - 1},3 +{line - 1},3 @@\n line {line - 1}\n-{old}\n+{new}\n line {line + 1}\n"
    return diff + hunk


def new_file(path: str, mode: str = "100644", content: str = "x") -> str:
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{content}\n"
    )


def series(folder: Path, *texts: str) -> Path:
    folder.mkdir(parents=True)
    names = [f"{number:04}-x.patch" for number in range(1, len(texts) + 1)]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(HEADER + text)
    (folder / "series").write_text("# in this order\n" + "\n".join(names) + "\n")
    return folder


def git(tree: SourceTree, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(tree.path), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> SourceTree:
    with zipfile.ZipFile(tmp_path / "s.jar", "w") as jar:
        jar.writestr("A.java", "\n".join(LINES) + "\n")
    return MavenSources("3.9.1", tmp_path / "s.jar").checkout(tmp_path / "tree")


def test_each_patch_becomes_a_commit_named_by_its_description(tree, tmp_path):
    folder = series(tmp_path / "s", change("line 3", "LINE 3", 3), change("line 9", "LINE 9", 9))
    patched = apply_series(tree, load_series(folder))
    assert git(tree, "log", "--format=%s", f"{tree.commit}..HEAD").splitlines() == ["Make it better"] * 2
    assert git(tree, "rev-parse", "HEAD") == patched.commit
    text = (tree.path / FILE).read_text()
    assert ("LINE 3" in text, "LINE 9" in text) == (True, True)


def test_a_patch_may_add_files_to_the_module(tree, tmp_path):
    apply_series(tree, load_series(series(tmp_path / "s", new_file("raft/src/main/java/B.java"))))
    assert (tree.path / "raft/src/main/java/B.java").read_text() == "x\n"


def test_a_hunk_that_fails_is_named_with_both_versions(tree, tmp_path):
    second = change("another line", "LINE 9", 9).split("+++ ", 1)[1].split("\n", 1)[1]
    folder = series(tmp_path / "3.8.0" / "better", change("line 3", "LINE 3", 3) + second)
    text = (folder / "0001-x.patch").read_text().replace("Applies-To: 3.9.1\n", "")
    (folder / "0001-x.patch").write_text(text)
    expected = (
        rf"0001-x\.patch does not fit: hunk 2 of 2 \(@@ -8,3 \+8,3 @@\) of {FILE} fails\. "
        r"The series better is made for 3\.8\.0, the tree is 3\.9\.1"
    )
    with pytest.raises(HarnessError, match=expected):
        apply_series(tree, load_series(folder))


def test_a_patch_for_a_file_that_is_not_there_is_reported(tree, tmp_path):
    folder = series(tmp_path / "s", change("x", "y", 1, "raft/Gone.java"))
    with pytest.raises(HarnessError, match=r"cannot apply the patch 0001-x\.patch: raft/Gone\.java.*made for 3\.9\.1"):
        apply_series(tree, load_series(folder))


def test_a_file_that_is_no_patch_is_reported(tree, tmp_path):
    with pytest.raises(HarnessError, match=r"cannot apply the patch 0001-x\.patch"):
        apply_series(tree, load_series(series(tmp_path / "s", "hello\n")))


@pytest.mark.parametrize(
    "hostile",
    [
        new_file("../outside"),
        new_file("raft/../../outside"),
        new_file("/tmp/outside"),
        new_file("build.gradle"),
        new_file("raft/.git/hooks/post-commit"),
        new_file(".git/config"),
        new_file("raft/.gitattributes"),
        new_file("raft/link", mode="120000", content="/etc/passwd"),
        new_file("raft/module", mode="160000", content="Subproject commit " + "a" * 40),
        "diff --git a/LICENSE b/raft/L\nsimilarity index 100%\nrename from LICENSE\nrename to raft/L\n",
    ],
    ids=lambda text: text.split("\n", 1)[0],
)
def test_a_patch_that_reaches_out_of_the_module_writes_nothing(tree, tmp_path, hostile):
    before = git(tree, "rev-parse", "HEAD")
    with pytest.raises(HarnessError, match=r"0001-x\.patch"):
        apply_series(tree, load_series(series(tmp_path / "s", hostile)))
    assert git(tree, "rev-parse", "HEAD") == before
    assert git(tree, "ls-files", "--others") == ""
    assert not (tmp_path / "outside").exists()


def test_a_binary_change_is_refused(tree, tmp_path):
    (tree.path / "raft/blob").write_bytes(bytes(range(256)))
    git(tree, "add", "raft/blob")
    binary = git(tree, "diff", "--cached", "--binary") + "\n\n"
    git(tree, "reset", "--hard", "--quiet")
    with pytest.raises(HarnessError, match="changed in binary form"):
        apply_series(tree, load_series(series(tmp_path / "s", binary)))


def test_a_huge_patch_is_refused_unread(tmp_path, monkeypatch):
    folder = series(tmp_path / "s", new_file("raft/x"))
    monkeypatch.setattr(patching, "_MOST_BYTES", 10)
    with pytest.raises(HarnessError, match="more than 10 are refused"):
        load_series(folder)


@pytest.mark.parametrize(
    ("listed", "complaint"),
    [("", "lists no patch"), ("gone.patch", "which is not there"), ("../x.patch", "of the same folder only")],
)
def test_a_series_that_cannot_be_read_is_reported(tmp_path, listed, complaint):
    (tmp_path / "series").write_text(listed)
    with pytest.raises(HarnessError, match=complaint):
        load_series(tmp_path)


def test_a_folder_without_a_series_is_reported(tmp_path):
    with pytest.raises(HarnessError, match="not a patch series"):
        load_series(tmp_path)


def test_headers_are_read_with_their_continuation_lines():
    assert parse_headers(HEADER + "Forwarded: no\n") == {
        "Description": "Make it better\nIn every way.",
        "Author": "somebody",
        "Applies-To": "3.9.1",
    }


@given(st.text())
def test_headers_of_any_text_can_be_read(text):
    assert all(name and name[0].isupper() for name in parse_headers(text))


@given(st.lists(st.text("abc.-", min_size=1)))
def test_comments_and_blank_lines_of_a_series_are_ignored(names):
    text = "".join(f"{name}  # why\n\n# off: x\n" for name in names)
    assert parse_series(text) == names


@given(st.lists(st.sampled_from(["..", ".git", ".GIT", ".gitmodules", "raft", "a"]), min_size=1, max_size=5))
def test_only_paths_inside_the_module_are_allowed(parts):
    inside = parts[0] == "raft" and not {"..", ".git", ".GIT", ".gitmodules"} & set(parts)
    assert (path_problem("/".join(parts)) == "") == inside


def test_a_hunk_is_counted_within_its_own_file():
    text = change("a", "b", 3, "raft/X") + change("a", "b", 3) + "@@ -7,2 +7,2 @@ class A {\n a\n"
    assert hunk_at(text, FILE, 7) == "hunk 2 of 2 (@@ -7,2 +7,2 @@)"
    assert hunk_at(text, FILE, 99) == "a hunk at line 99"


def test_the_shipped_series_says_what_it_is_made_for():
    shipped = load_series(data_root() / "patches" / "3.9.1" / "dynamic-bootstrap")
    assert (shipped.name, shipped.version) == ("dynamic-bootstrap", "3.9.1")
    for patch in shipped.patches:
        assert {"Description", "Author", "Origin", "Forwarded", "Applies-To", "Last-Update"} <= set(patch.headers)
