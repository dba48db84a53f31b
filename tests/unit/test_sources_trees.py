"""Source trees: released sources laid out as a checkout, and checkouts of local repositories."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base import archives
from harness.base.errors import HarnessError
from harness.kafka.git import GitSource, choose_ref, close_refs, parse_refs, url_and_ref
from harness.kafka.maven import MavenSources, lay_out_generated, place_of

SOURCES = {
    "META-INF/MANIFEST.MF": "Manifest-Version: 1.0\n",
    "LICENSE": "free\n",
    "common/message/QuorumStateData.json": "{}\n",
    "org/apache/kafka/raft/RaftClient.java": "interface RaftClient {}\n",
    "org/apache/kafka/raft/generated/QuorumStateData.java": "class QuorumStateData {}\n",
}


def jar_of(path: Path, entries: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as jar:
        for name, text in entries.items():
            jar.writestr(name, text)
    return path


def git(folder: Path, *arguments: str) -> str:
    # The fixtures are made with git itself, apart from whoever runs the tests.
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.invalid",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.invalid",
    }
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def kafka(tmp_path: Path) -> Path:
    """A repository that looks like Kafka's: a release with a tag, then a commit on a branch."""
    path = tmp_path / "kafka"
    (path / "raft/src/main/java").mkdir(parents=True)
    (path / "raft/src/main/java/A.java").write_text("class A {}\n")
    (path / "gradle.properties").write_text("group=org.apache.kafka\nversion=3.9.1\nscalaVersion=2.13.15\n")
    git(path.parent, "init", "--quiet", "--initial-branch=trunk", "kafka")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message=release")
    git(path, "tag", "--annotate", "--message=x", "3.9.1")
    (path / "gradle.properties").write_text("version=4.0.0-SNAPSHOT\n")
    git(path, "commit", "--quiet", "--all", "--message=next")
    return path


def test_released_sources_lie_as_in_a_checkout_with_a_tag(tmp_path):
    tree = MavenSources("3.9.1", jar_of(tmp_path / "s.jar", SOURCES)).checkout(tmp_path / "tree")
    assert git(tree.path, "ls-files").splitlines() == [
        "LICENSE",
        "raft/src/generated/java/org/apache/kafka/raft/generated/QuorumStateData.java",
        "raft/src/main/java/org/apache/kafka/raft/RaftClient.java",
        "raft/src/main/resources/common/message/QuorumStateData.json",
    ]
    assert git(tree.path, "rev-parse", "3.9.1") == tree.commit
    assert git(tree.path, "status", "--porcelain") == ""


def test_the_same_sources_give_the_same_commit_whoever_asks(tmp_path, monkeypatch):
    source = MavenSources("3.9.1", jar_of(tmp_path / "s.jar", SOURCES))
    one = source.checkout(tmp_path / "one")
    (tmp_path / "config").write_text("[user]\nname = x\n[commit]\ngpgsign = true\n[core]\nautocrlf = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "somebody")
    assert source.checkout(tmp_path / "two").commit == one.commit


def test_a_harness_run_from_a_git_hook_leaves_that_repository_alone(tmp_path, kafka, monkeypatch):
    before = git(kafka, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(kafka / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(kafka / ".git" / "index"))
    MavenSources("3.9.1", jar_of(tmp_path / "s.jar", SOURCES)).checkout(tmp_path / "tree")
    assert git(kafka, "rev-parse", "HEAD") == before
    assert git(kafka, "status", "--porcelain") == ""


def test_message_classes_are_added_to_a_checkout_that_has_none(tmp_path):
    lay_out_generated(jar_of(tmp_path / "s.jar", SOURCES), tmp_path / "tree")
    found = [path for path in (tmp_path / "tree").rglob("*") if path.is_file()]
    assert [path.name for path in found] == ["QuorumStateData.java"]


@given(st.lists(st.sampled_from(["a", "generated", "META-INF", "B.java", "c.json", "LICENSE"]), min_size=1))
def test_every_entry_has_one_place_inside_the_tree_or_none(parts):
    place = place_of("/".join(parts))
    assert place == "" or place == "LICENSE" or place.startswith("raft/src/")


@pytest.mark.parametrize("name", ["../outside", "a/../../b", "/etc/passwd", "a\\..\\b"])
def test_an_entry_that_points_outside_is_refused(tmp_path, name):
    with pytest.raises(HarnessError, match="points outside"):
        MavenSources("3.9.1", jar_of(tmp_path / "s.jar", {name: "x"})).checkout(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_a_symbolic_link_in_an_archive_is_refused(tmp_path):
    entry = zipfile.ZipInfo("link.java")
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "s.jar", "w") as jar:
        jar.writestr(entry, "/etc/passwd")
    with pytest.raises(HarnessError, match="symbolic link"):
        MavenSources("3.9.1", tmp_path / "s.jar").checkout(tmp_path / "tree")


def test_an_archive_with_too_much_in_it_is_refused(tmp_path, monkeypatch):
    jar = jar_of(tmp_path / "s.jar", SOURCES)
    monkeypatch.setattr(archives, "_OF_ARCHIVES", archives._Limits(5, 20))
    with pytest.raises(HarnessError, match="unpacks to"):
        archives.open_archive(jar)
    monkeypatch.setattr(archives, "_OF_ARCHIVES", archives._Limits(2, 20))
    with pytest.raises(HarnessError, match="has 5 entries"):
        archives.open_archive(jar)


def test_what_is_no_archive_is_reported_in_a_sentence(tmp_path):
    (tmp_path / "s.jar").write_text("not a jar")
    with pytest.raises(HarnessError, match="is not a jar"):
        archives.open_archive(tmp_path / "s.jar")


def test_a_damaged_entry_is_reported_by_name(tmp_path):
    jar = jar_of(tmp_path / "s.jar", {"a.txt": "some content"})
    jar.write_bytes(jar.read_bytes().replace(b"some content", b"some c0ntent"))
    with archives.open_archive(jar) as archive, pytest.raises(HarnessError, match=r"damaged at a\.txt"):
        archives.read_entry(archive, "a.txt")


@pytest.mark.parametrize(("ref", "version"), [("3.9.1", "3.9.1"), ("trunk", "4.0.0-SNAPSHOT")])
def test_tags_and_branches_are_checked_out(kafka, tmp_path, ref, version):
    tree = GitSource(str(kafka), ref).checkout(tmp_path / "tree")
    assert tree.version == version
    assert tree.commit == git(kafka, "rev-parse", f"{ref}^{{commit}}")
    assert (tree.path / "raft/src/main/java/A.java").is_file()


def test_a_repository_may_be_named_from_where_the_user_is(kafka, tmp_path, monkeypatch):
    commit = git(kafka, "rev-parse", "HEAD^")
    monkeypatch.chdir(kafka.parent)
    for ref in ("3.9.1", commit):
        tree = GitSource(kafka.name, ref).checkout(tmp_path / ref)
        told = f"the raft module of {ref} of kafka, commit {commit[:12]}"
        assert (tree.commit, tree.description) == (commit, told)


def test_a_checkout_whose_sources_lead_elsewhere_is_refused(kafka, tmp_path):
    (kafka / "raft" / "src" / "generated").symlink_to(tmp_path)
    git(kafka, "add", "-A")
    git(kafka, "commit", "-qm", "a link")
    with pytest.raises(HarnessError, match="has the symbolic link raft/src/generated, which may lead anywhere"):
        GitSource(str(kafka), git(kafka, "rev-parse", "HEAD")).checkout(tmp_path / "tree")
    assert git(kafka, "status", "--porcelain") == ""


@pytest.mark.parametrize("digits", [10, 40])
def test_a_commit_is_checked_out_by_its_id(kafka, tmp_path, digits):
    commit = git(kafka, "rev-parse", "HEAD~1")
    tree = GitSource(str(kafka), commit[:digits]).checkout(tmp_path / "tree")
    assert (tree.commit, tree.version) == (commit, "3.9.1")


def test_a_ref_that_is_not_there_is_answered_with_those_like_it(kafka, tmp_path):
    with pytest.raises(HarnessError, match=r"no tag, branch or commit '3\.9\.2'.*Like it are: 3\.9\.1"):
        GitSource(str(kafka), "3.9.2").checkout(tmp_path / "tree")


def test_a_commit_that_is_not_there_is_reported(kafka, tmp_path):
    with pytest.raises(HarnessError, match="no tag, branch or commit 'deadbeef'"):
        GitSource(str(kafka), "deadbeef").checkout(tmp_path / "tree")


def test_a_repository_that_cannot_be_reached_is_reported(tmp_path):
    with pytest.raises(HarnessError, match=r"cannot be read with git: .*does not appear to be a git repository"):
        GitSource(str(tmp_path / "nowhere"), "3.9.1").checkout(tmp_path / "tree")


@pytest.mark.parametrize("url", ["--upload-pack=touch pwned", "ext::sh -c touch% pwned"])
def test_an_address_never_runs_a_command(kafka, tmp_path, monkeypatch, url):
    git(kafka, "remote", "add", "origin", str(kafka))  # what git asks when an address turns out to be an option
    monkeypatch.chdir(kafka)
    with pytest.raises(HarnessError):
        GitSource(url, "3.9.1").checkout(tmp_path / "tree")
    assert not list(tmp_path.rglob("pwned"))


def test_a_password_in_an_address_is_not_repeated(tmp_path):
    with pytest.raises(HarnessError) as caught:
        GitSource("http://user:secret@127.0.0.1:9/kafka", "3.9.1").checkout(tmp_path / "tree")
    assert "secret" not in str(caught.value)


def test_a_repository_of_something_else_is_reported(kafka, tmp_path):
    git(kafka, "rm", "--quiet", "gradle.properties")
    git(kafka, "commit", "--quiet", "--message=gone")
    with pytest.raises(HarnessError, match="not Kafka"):
        GitSource(str(kafka), "trunk").checkout(tmp_path / "tree")


def test_a_tag_goes_before_a_branch_of_the_same_name():
    refs = {"refs/heads/3.9.1": "a", "refs/tags/3.9.1": "b"}
    assert choose_ref("3.9.1", refs) == "refs/tags/3.9.1"
    assert choose_ref("refs/heads/3.9.1", refs) == "refs/heads/3.9.1"
    assert choose_ref("3.9", refs) == ""


def test_an_annotated_tag_means_its_commit():
    listing = "1111\tHEAD\n2222\trefs/tags/3.9.1\n3333\trefs/tags/3.9.1^{}"
    assert parse_refs(listing) == {"HEAD": "1111", "refs/tags/3.9.1": "3333"}


@given(st.text())
def test_any_listing_can_be_read(listing):
    assert all(isinstance(commit, str) for commit in parse_refs(listing).values())


def test_close_names_are_tags_and_branches_only():
    assert close_refs("3.9.2", {"HEAD": "1", "refs/pull/3.9.2": "2", "refs/tags/3.9.1": "3"}) == ["3.9.1"]


@pytest.mark.parametrize("address", ["git@example.org:apache/kafka", "https://secret@example.org/kafka", "kafka", "@x"])
def test_an_address_whose_only_at_sign_is_its_own_names_no_ref(address):
    with pytest.raises(HarnessError, match="names no ref") as caught:
        url_and_ref(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["git@example.org:apache/kafka", "ssh://git@example.org/kafka", "https://h:1/k", "k"])
def test_what_follows_the_last_at_sign_is_the_ref(url):
    assert url_and_ref(f"{url}@3.9.1") == (url, "3.9.1")
