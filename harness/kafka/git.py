"""Sources from git: a tag, branch or commit of any address, mirror or local path."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import git

from harness.base.errors import HarnessError
from harness.kafka.repository import answered, create_repository, error_text, head, open_repository
from harness.kafka.tree import SourceTree

_TIMEOUT_SECONDS = {"ls-remote": 60, "fetch": 900}  # the latter for all of Kafka's history over a slow line
_QUIETLY = ("--quiet", "--no-tags")
_EVERYTHING = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_HOST_ALONE = re.compile(r"[a-z+]+://[^/]*")
_OF_HOST = re.compile(r"[^/]+:(?!//)")
_LINK = "120000 "  # git's mode of a symbolic link
_MOST_PROPERTIES = 100_000  # characters; Kafka's has a thousand
_VERSION = re.compile(r"^version\s*=\s*(\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GitSource:
    """`ref` (a tag, branch or commit id of at least 7 digits) of the repository at `url`, which may be a path."""

    url: str
    ref: str

    def checkout(self, into: Path) -> SourceTree:
        """Fetch and check out the ref, without more history than is needed.

        Raises HarnessError when the repository cannot be reached, has no such ref, or holds no Kafka.
        """
        refs = _refs_of(self.url)
        repository = create_repository(into)
        wanted = choose_ref(self.ref, refs)
        if wanted:
            _remote(self.url, "fetch", (*_QUIETLY, "--depth=1", self.url, wanted), into)
            commit = "FETCH_HEAD"
        else:
            commit = _fetch_commit(into, self.url, self.ref, refs)
        answered(lambda: repository.git.checkout("--quiet", "--detach", commit))
        _check_no_links(repository)
        commit = head(repository)
        # A branch moves; and whoever names one may think that all of it is tested.
        story = f"the raft module of {self.ref} of {_without_password(self.url)}, commit {commit[:12]}"
        return SourceTree(into, kafka_version(into, f"{self.ref} of {_without_password(self.url)}"), commit, story)


def check_source(git: str, *, offline: bool) -> None:
    """Raise HarnessError for a URL@REF that cannot be read, or has no such ref: before anything is built."""
    url, ref = url_and_ref(git)
    if offline and _is_elsewhere(url):
        raise HarnessError(
            f"{_without_password(url)} can only be read over the network, which --offline rules out.",
            "Name a clone that lies here, or leave out --offline.",
        )
    refs = _refs_of(url)
    if not choose_ref(ref, refs) and not _COMMIT.fullmatch(ref):
        raise _no_such_ref(url, ref, refs)


def _is_elsewhere(url: str) -> bool:
    """Whether an address is of another host: `https://…`, `me@host:kafka`."""
    has_scheme = "://" in url and not url.startswith("file://")
    return has_scheme or (_OF_HOST.match(url) is not None and not Path(url).exists())


def _check_no_links(repository: git.Repo) -> None:
    """Raise HarnessError for symbolic links among the sources that are compiled, and written to beside them."""
    tracked = answered(lambda: repository.git.ls_tree("-r", "HEAD", "--", "raft"))
    links = [line.partition("\t")[2] for line in str(tracked).splitlines() if line.startswith(_LINK)]
    if links:
        raise HarnessError(
            f"What was checked out has the symbolic link {links[0]}, which may lead anywhere.",
            "Kafka's raft module has none: check the repository's address and the ref.",
        )


def url_and_ref(git: str) -> tuple[str, str]:
    """Return the two parts of --git URL@REF. Raises HarnessError."""
    url, _, ref = git.rpartition("@")
    # The one @ of `git@host:kafka` and of `https://me@host/kafka` is of the address: no ref holds a colon, and no
    # address ends with its host.
    if not url or not ref or ":" in ref or _HOST_ALONE.fullmatch(url):
        raise HarnessError(f"{_without_password(git)} names no ref.", "Write URL@REF, such as /src/kafka@3.9.1.")
    return url, ref


def choose_ref(ref: str, refs: Mapping[str, str]) -> str:
    """Return the full name that `ref` means among a repository's refs, tags first; empty when it is none."""
    candidates = (f"refs/tags/{ref}", f"refs/heads/{ref}", ref)
    return next((name for name in candidates if name in refs), "")


def close_refs(ref: str, refs: Mapping[str, str]) -> list[str]:
    """Return up to five tags or branches whose names are like `ref`."""
    names = {name.split("/", 2)[2] for name in refs if name.startswith(("refs/tags/", "refs/heads/"))}
    return difflib.get_close_matches(ref, sorted(names), n=5, cutoff=0.5)


def parse_refs(listing: str) -> dict[str, str]:
    """Return name → commit id of what `git ls-remote` printed; a tag's object gives way to the commit it names."""
    pairs = (line.split("\t", 1) for line in listing.splitlines() if "\t" in line)
    return {name.removesuffix("^{}"): commit for commit, name in pairs}


def kafka_version(tree: Path, what: str = "What was checked out") -> str:
    """Return the version in a checkout's `gradle.properties`. Raises HarnessError when it is not Kafka's."""
    try:
        with (tree / "gradle.properties").open(encoding="utf-8", errors="replace") as properties:
            text = properties.read(_MOST_PROPERTIES)
    except OSError:
        text = ""
    found = _VERSION.search(text)
    if not found or not (tree / "raft" / "src" / "main" / "java").is_dir():
        raise HarnessError(
            f"{what} is not Kafka: it has no gradle.properties with a version, or no raft module.",
            "Check the repository's address and the ref.",
        )
    return found.group(1)


def _refs_of(url: str) -> dict[str, str]:
    return parse_refs(_remote(url, "ls-remote", ("--quiet", url)))


def _fetch_commit(into: Path, url: str, ref: str, refs: Mapping[str, str]) -> str:
    """Fetch everything, since servers differ in whether they hand out single commits; return the full id."""
    if _COMMIT.fullmatch(ref):
        _remote(url, "fetch", (*_QUIETLY, url, *_EVERYTHING), into)
        try:
            return str(open_repository(into).git.rev_parse("--verify", "--quiet", f"{ref}^{{commit}}"))
        except git.GitCommandError:
            pass
    raise _no_such_ref(url, ref, refs)


def _no_such_ref(url: str, ref: str, refs: Mapping[str, str]) -> HarnessError:
    close = close_refs(ref, refs)
    return HarnessError(
        f"{_without_password(url)} has no tag, branch or commit {ref!r}.",
        f"Like it are: {', '.join(close)}." if close else "`git ls-remote` with its address lists what it has.",
    )


def _remote(url: str, command: str, arguments: Sequence[str], into: Path | None = None) -> str:
    """Run a git command that talks to `url`: with the user's configuration, for proxies and credentials."""
    if url.startswith("-"):
        raise HarnessError(f"{url!r} is not a repository's address.", "Name an address or a folder.")
    runner = git.Git()  # where the user is, from where a path is meant; GIT_DIR says into which repository
    runner.update_environment(**_remote_environment(into))
    try:
        return str(
            runner.execute(
                ["git", command, *arguments],
                kill_after_timeout=_TIMEOUT_SECONDS[command],
            )
        )
    except git.GitCommandNotFound as error:
        raise HarnessError("git is not installed, or not on PATH.", "Install git.") from error
    except git.GitCommandError as error:
        raise HarnessError(
            f"{_without_password(url)} cannot be read with git: {_without_password(error_text(error))}.",
            "Check the address, the network and your access to it.",
        ) from error


def _remote_environment(into: Path | None) -> Mapping[str, str]:
    # Never wait for a password, and never run a command that an address names (`ext::`).
    quiet = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
    }
    return {**quiet, "GIT_DIR": str(into / ".git")} if into else quiet


def _without_password(text: str) -> str:
    return re.sub(r"(?<=://)[^/\s]+@", "", text)
