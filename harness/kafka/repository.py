"""Git repositories of the harness's own: apart from the user's configuration, with reproducible commits."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from harness.base.errors import HarnessError

# Without this GitPython cannot even be imported where git is missing; with it, the first command fails.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
import git

_WHO = "Kafka patch harness"
_WHEN = "2000-01-01T00:00:00+0000"  # commit ids depend on content alone

_OF_GIT = ("warning:", "hint:")  # and no progress: every command is told to be quiet

T = TypeVar("T")


def create_repository(path: Path) -> git.Repo:
    """Make an empty repository in a folder that exists or not; no template, so no hooks."""
    path.mkdir(parents=True, exist_ok=True)
    answered(lambda: git.Git(str(path)).init("--quiet", "--template=", env=dict(_environment(path))))
    return open_repository(path)


def open_repository(path: Path) -> git.Repo:
    """Open a repository so that commands neither read the user's configuration nor act on another repository."""
    repository = git.Repo(path)
    repository.git.update_environment(**_environment(path))
    return repository


def commit_all(repository: git.Repo, message: str) -> str:
    """Commit the whole work tree as it lies and return the commit's id; same content, same id."""
    answered(lambda: repository.git.add("--all", "--force"))
    return commit_index(repository, message)


def commit_index(repository: git.Repo, message: str) -> str:
    """Commit the index and return the commit's id; the same parent and content give the same id."""
    answered(lambda: repository.git.commit("--quiet", "--no-verify", "--allow-empty", f"--message={message}"))
    return head(repository)


def head(repository: git.Repo) -> str:
    """Return the id of the commit that is checked out."""
    return str(repository.head.commit.hexsha)


def answered(ask: Callable[[], T]) -> T:
    """Return `ask()`; where git is missing or refuses, raise a HarnessError with git's own message."""
    try:
        return ask()
    except git.GitCommandNotFound as error:
        raise HarnessError("git is not installed, or not on PATH.", "Install git.") from error
    except git.GitCommandError as error:
        raise HarnessError(f"git failed: {error_text(error)}.") from error


def error_text(error: git.GitCommandError) -> str:
    """Return why git failed, in its own words: its fatal line with what another program (ssh) said before it, or else
    all it wrote on its error output."""
    text = str(error.stderr).strip().removeprefix("stderr: '").removesuffix("'").strip()
    before, is_fatal, after = f"\n{text}".partition("\nfatal: ")
    if not is_fatal:
        return text[:500].rstrip(".")
    said = [line.strip() for line in before.splitlines() if line.strip() and not line.startswith(_OF_GIT)]
    fatal = after.partition("\n")[0].rstrip(".")
    return (f"{fatal} ({said[-1].rstrip('.')})" if said else fatal)[:500]


def _environment(path: Path) -> Mapping[str, str]:
    # GIT_DIR and its like are set while somebody runs the harness from a git hook: they would win over `path`.
    return {
        "GIT_DIR": str(path / ".git"),
        "GIT_WORK_TREE": str(path),
        "GIT_INDEX_FILE": str(path / ".git" / "index"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": _WHO,
        "GIT_AUTHOR_EMAIL": "harness@example.invalid",
        "GIT_AUTHOR_DATE": _WHEN,
        "GIT_COMMITTER_NAME": _WHO,
        "GIT_COMMITTER_EMAIL": "harness@example.invalid",
        "GIT_COMMITTER_DATE": _WHEN,
    }
