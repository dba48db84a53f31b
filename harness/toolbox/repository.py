"""What a Maven repository answers: the resolver library takes whatever is not there for not to be had."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import requests
from jgo.maven import Artifact, PythonResolver

_NOT_THERE = 404
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
            return super().download(artifact)
        except requests.RequestException as error:
            self.failed.append(error)
            raise
        except RuntimeError as error:
            self.missing.add(artifact.filename)
            for address in artifact.context.remote_repos.values():
                self._check_answer(f"{address}/{artifact.component.path_prefix}/{artifact.filename}", error)
            raise

    def _check_answer(self, address: str, error: RuntimeError) -> None:
        """Ask once more what a repository answers: the library has not told. Raises requests.HTTPError."""
        try:
            with requests.get(address, stream=True, timeout=_TIMEOUT_SECONDS) as answer:
                if answer.status_code != _NOT_THERE and not answer.ok:
                    raise requests.HTTPError(f"it answered {answer.status_code}", response=answer) from error
        except requests.RequestException as failure:
            self.failed.append(failure)
            raise
