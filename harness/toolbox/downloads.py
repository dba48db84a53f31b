"""Downloads: pinned files from a Maven repository into the user's cache, checked before they are believed."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import requests
from jgo.maven import MavenContext, PythonResolver
from jgo.maven._core import DEFAULT_REMOTE_REPOS

from harness.base.errors import HarnessError
from harness.base.locks import scratch
from harness.toolbox.lockfile import Artifact, Purpose, checked_coordinate

REPOSITORY_VARIABLE = "HARNESS_MAVEN_REPOSITORY"
_PARALLEL = 4
_ATTEMPTS = 2
_TIMEOUT_SECONDS = 20

T = TypeVar("T")


class Progress(Protocol):
    """Hears of downloads as they come in; called from several threads."""

    def advance(self, name: str, done: int, total: int) -> None:
        """`done` of `total` bytes of the file `name` have arrived."""


class Quiet:
    """A Progress that nobody watches."""

    def advance(self, name: str, done: int, total: int) -> None:
        """Do nothing."""


class Downloads:
    """Fetches locked files through a cache that two processes may share.

    `repository` is the base address of a Maven repository; without one the environment's
    HARNESS_MAVEN_REPOSITORY counts, then the resolver library's own default. `offline` forbids the network.
    """

    def __init__(
        self,
        cache: Path,
        repository: str | None = None,
        offline: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.cache = cache
        self.offline = offline
        named = repository or os.environ.get(REPOSITORY_VARIABLE) or DEFAULT_REMOTE_REPOS["central"]
        self._repository = _checked_address(named)
        self._progress = progress or Quiet()

    def fetch(self, artifact: Artifact) -> Path:
        """Return the path of a file with the pinned content, downloading it if the cache has none.

        Raises HarnessError when it cannot be had, or when what came is not what was pinned.
        """
        target = self.cache / artifact.path
        if _is_pinned(target, artifact):
            return target
        if self.offline:
            raise HarnessError(
                f"{artifact.coordinate} is not in the cache ({target}) and --offline forbids fetching it.",
                "Run once without --offline; the cache then serves every later run.",
            )

        def take(context: MavenContext) -> Path:
            staged = _download(artifact.coordinate, context)
            _check(staged, artifact)
            return _put(staged, target)

        return self.asking(artifact.coordinate, take)

    def fetch_all(self, artifacts: Iterable[Artifact]) -> tuple[Path, ...]:
        """Fetch files, a few at a time; paths come in the order of `artifacts`. Raises the first error."""
        with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="download") as pool:
            waiting = [pool.submit(self.fetch, artifact) for artifact in artifacts]
            try:
                return tuple(each.result() for each in waiting)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def pin(self, coordinate: str, purpose: Purpose) -> Artifact:
        """Download a file that nobody has pinned yet and pin what came: trust on first use."""

        def take(context: MavenContext) -> Artifact:
            staged = _download(checked_coordinate(coordinate), context)
            if not zipfile.is_zipfile(staged):
                raise HarnessError(f"{coordinate} came incomplete or is no jar.", "Try again.")
            artifact = Artifact(coordinate, sha256_of(staged), staged.stat().st_size, purpose)
            _put(staged, self.cache / artifact.path)
            return artifact

        return self.asking(coordinate, take)

    def asking(self, what: str, ask: Callable[[MavenContext], T]) -> T:
        """Return what `ask` gets from the repository; a failed request is tried once more, from scratch.

        Raises HarnessError that names `what` and the repository.
        """
        for left in reversed(range(_ATTEMPTS)):
            try:
                with self._context() as context:
                    return ask(context)
            except requests.RequestException as error:
                if not left:
                    raise _unreachable(what, self._host, error) from error
            except RuntimeError as error:
                raise HarnessError(
                    f"{what} is not to be had from {self._host}.",
                    f"Check the version, or name another repository in {REPOSITORY_VARIABLE}.",
                ) from error
        raise AssertionError("the last attempt returned or raised")

    @contextmanager
    def _context(self) -> Iterator[MavenContext]:
        """Give a resolver context over an empty folder that goes away again.

        The library's downloads are not atomic and it believes any file it finds: it never sees the cache.
        """
        with scratch(self.cache) as folder:
            yield MavenContext(
                resolver=PythonResolver(progress_callback=_reporter(self._progress)),
                repo_cache=folder,
                local_repos=[],
                remote_repos={"repository": self._repository},
                timeout=_TIMEOUT_SECONDS,
                offline=self.offline,
            )

    @property
    def _host(self) -> str:
        return urlsplit(self._repository).hostname or "?"  # not the whole address: it may hold a password


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(coordinate: str, context: MavenContext) -> Path:
    return Path(context.create_dependency(coordinate).artifact.resolve())


def _unreachable(what: str, host: str, error: requests.RequestException) -> HarnessError:
    return HarnessError(
        f"{what} could not be fetched from {host}: {_reason(error)}.",
        f"Check the network, or name a mirror in {REPOSITORY_VARIABLE}; "
        "with a filled cache, --offline needs no network.",
    )


def _is_pinned(path: Path, artifact: Artifact) -> bool:
    # The digest is asked every time (100 MB take 0.1 s): a cache is written by more than this program.
    return path.is_file() and path.stat().st_size == artifact.size and sha256_of(path) == artifact.sha256


def _check(staged: Path, artifact: Artifact) -> None:
    size, digest = staged.stat().st_size, sha256_of(staged)
    if (size, digest) != (artifact.size, artifact.sha256):
        raise HarnessError(
            f"{artifact.coordinate} is not the file that was locked: expected {artifact.size} bytes with "
            f"SHA-256 {artifact.sha256}, got {size} bytes with {digest}; the download was deleted.",
            "Do not use this repository until you know why it serves another file.",
        )


def _put(staged: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return staged.replace(target)  # same file system: another process sees all of it or nothing


def _checked_address(address: str) -> str:
    if urlsplit(address).scheme not in ("http", "https"):
        raise HarnessError(f"{address!r} is not a repository's address.", "It begins with http:// or https://.")
    return address.rstrip("/")


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.Timeout):
        return f"no answer within {_TIMEOUT_SECONDS} s"
    return "the connection failed" if isinstance(error, requests.ConnectionError) else type(error).__name__


def _reporter(progress: Progress) -> Callable[[str, int], AbstractContextManager[Callable[[int], None]]]:
    @contextmanager
    def report(name: str, total: int) -> Iterator[Callable[[int], None]]:
        done = 0

        def arrived(count: int) -> None:
            nonlocal done
            done += count
            progress.advance(name, done, total)

        yield arrived

    return report
