"""What a Maven repository answers: the resolver library takes whatever is not there for not to be had."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import requests
from jgo.maven import Artifact, PythonResolver

_NOT_THERE = 404
_NOT_ASKED_SO = (405, 501)  # by who answers no HEAD
_TIMEOUT_SECONDS = 20


class Repository(PythonResolver):
    """Asks for files; `failed` are requests without an answer and other answers than that a file is not there.

    The library resolves a module as if it had no dependencies where it cannot read its POM, and says nothing: who
    believes what it resolved has to look at `failed` and at `missing`, the names of files that are not there.
    """

    def __init__(self, progress: Callable[[str, int], AbstractContextManager[Callable[[int], None]]]) -> None:
        super().__init__(progress_callback=progress)
        self.failed: list[requests.RequestException] = []
        self.missing: set[str] = set()

    def download(self, artifact: Artifact) -> Path | None:
        """Fetch a file. Raises requests.RequestException, and RuntimeError for one that is not there."""
        try:
            for address in artifact.context.remote_repos.values():
                _check_answer(f"{address}/{artifact.component.path_prefix}/{artifact.filename}")
            return super().download(artifact)
        except requests.RequestException as error:
            self.failed.append(error)
            raise
        except RuntimeError:
            self.missing.add(artifact.filename)
            raise


def _check_answer(address: str) -> None:
    """Ask what a repository has to say of a file: the library tells nothing but that it did not come.

    Raises requests.HTTPError, and RuntimeError for one that is not there.
    """
    with requests.head(address, allow_redirects=True, timeout=_TIMEOUT_SECONDS) as answer:
        if answer.status_code == _NOT_THERE:
            raise RuntimeError(f"{address} is not there")
        if not answer.ok and answer.status_code not in _NOT_ASKED_SO:
            raise requests.HTTPError(f"it answered {answer.status_code}", response=answer)
