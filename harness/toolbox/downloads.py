"""Downloads: pinned files from a Maven repository into the user's cache, checked before they are believed."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, cast
from urllib.parse import urlsplit
from xml.etree.ElementTree import ParseError

import requests
from jgo.maven import MavenContext
from jgo.maven._core import DEFAULT_REMOTE_REPOS

from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.base.locks import scratch
from harness.toolbox.download_progress import Progress, Show, unwatched
from harness.toolbox.lockfile import Artifact, Purpose, checked_coordinate
from harness.toolbox.repository import Repository

REPOSITORY_VARIABLE = "HARNESS_MAVEN_REPOSITORY"
CERTIFICATES_VARIABLE = "REQUESTS_CA_BUNDLE"
_REFUSES_ACCESS = (401, 403, 407)
_PARALLEL = 4
_ATTEMPTS = 2
_TIMEOUT_SECONDS = 20

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pin:
    """What is known of a released file: its digest, and the lock that says so."""

    sha256: str
    where: str


class Downloads:
    """Fetches locked files through a cache that two processes may share.

    `repository` is the base address of a Maven repository; without one the environment's
    HARNESS_MAVEN_REPOSITORY counts, then the resolver library's own default. `offline` forbids the network.
    `show` opens the display of the downloads of one call.
    """

    def __init__(
        self, cache: Path, repository: str | None = None, offline: bool = False, show: Show = unwatched
    ) -> None:
        self.cache = cache
        self.offline = offline
        named = repository or os.environ.get(REPOSITORY_VARIABLE) or DEFAULT_REMOTE_REPOS["central"]
        self._repository = _checked_address(named)
        self._show = show

    def fetch(self, artifact: Artifact) -> Path:
        """Return the path of a file with the pinned content, downloading it if the cache has none.

        Raises HarnessError when it cannot be had, or when what came is not what was pinned.
        """
        with self._show() as progress:
            return self._fetched(artifact, progress)

    def fetch_all(self, artifacts: Iterable[Artifact]) -> tuple[Path, ...]:
        """Fetch files, a few at a time; paths come in the order of `artifacts`. Raises the first error."""
        with self._show() as progress:
            return _side_by_side(lambda artifact: self._fetched(artifact, progress), artifacts)

    def pin_all(
        self, wanted: Iterable[tuple[str, Purpose]], known: Mapping[str, Pin] = MappingProxyType({})
    ) -> tuple[Artifact, ...]:
        """Download files (coordinate and purpose) and pin what came: trust on first use.

        `known` are pins by the file's path below the cache: what is released never changes. Raises HarnessError for the
        first that is not to be had, is no whole jar, or is another than was pinned before.
        """
        with self._show() as progress:
            return _side_by_side(lambda each: self._pinned(*each, progress, known), wanted)

    def ask(self, what: str, question: Callable[[MavenContext], T]) -> T:
        """Return what `question` gets from the repository. Raises HarnessError that names `what` and the repository."""
        with self._show() as progress:
            return self._ask(what, question, progress)

    def _fetched(self, artifact: Artifact, progress: Progress) -> Path:
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

        return self._ask(artifact.coordinate, take, progress)

    def _pinned(self, coordinate: str, purpose: Purpose, progress: Progress, known: Mapping[str, Pin]) -> Artifact:
        def take(context: MavenContext) -> Artifact:
            staged = _download(_coordinate(coordinate), context)
            if not zipfile.is_zipfile(staged):
                raise HarnessError(f"{coordinate} came incomplete or is no jar.", "Try again.")
            artifact = Artifact(coordinate, sha256_of(staged), staged.stat().st_size, purpose)
            target = self.cache / artifact.path
            before = known.get(artifact.path)
            if before and before.sha256 != artifact.sha256:
                raise HarnessError(
                    f"{coordinate} has the SHA-256 {artifact.sha256}, and {before.where} pins {before.sha256}: what is "
                    "released never changes.",
                    f"Find out which is right; where it is the new one, remove {before.where} first.",
                )
            if not _is_pinned(target, artifact):  # a file with a new time would cost running nodes their class archive
                _put(staged, target)
            return artifact

        return self._ask(coordinate, take, progress)

    def _ask(self, what: str, question: Callable[[MavenContext], T], progress: Progress) -> T:
        """Ask the repository; a failed request is tried once more, from scratch."""
        for left in reversed(range(_ATTEMPTS)):
            try:
                with self._context(progress) as context:
                    answer = question(context)
                    if failed := _resolver_of(context).failed:
                        raise failed[0]
                    return answer
            except requests.RequestException as error:
                if not left:
                    raise _unreachable(what, self._host, error) from error
            except ParseError as error:
                raise HarnessError(
                    f"{what} is not to be had: {self._host} answers with something that is no Maven file.",
                    "It may be a page to log in at: see what it answers in a browser, or check the proxy.",
                ) from error
            except OSError as error:
                if found := _of_certificates(error):
                    raise found from error
                raise
            except RuntimeError as error:
                raise HarnessError(
                    f"{what} is not to be had from {self._host}.",
                    f"Check the version, or name another repository in {REPOSITORY_VARIABLE}.",
                ) from error
        raise AssertionError("the last attempt returned or raised")

    @contextmanager
    def _context(self, progress: Progress) -> Iterator[MavenContext]:
        """Give a resolver context over an empty folder that goes away again.

        The library's downloads are not atomic and it believes any file it finds: it never sees the cache.
        """
        with scratch(self.cache) as folder:
            yield MavenContext(
                resolver=Repository(_reporter(progress)),
                repo_cache=folder,
                local_repos=[],
                remote_repos={"repository": self._repository},
                timeout=_TIMEOUT_SECONDS,
                offline=self.offline,
            )

    @property
    def _host(self) -> str:
        return urlsplit(self._repository).hostname or "?"  # not the whole address: it may hold a password


def _side_by_side(act: Callable[[S], T], wanted: Iterable[S]) -> tuple[T, ...]:
    """Return what `act` makes of each, in their order, a few at a time. Raises the first error."""
    with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="download") as pool:
        waiting = [pool.submit(act, each) for each in wanted]
        try:
            return tuple(each.result() for each in waiting)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _coordinate(text: str) -> str:
    try:
        return checked_coordinate(text)
    except ValueError as error:  # a maker's version may have signs that no repository has
        raise HarnessError(f"{error}.", "It is not fetched.") from error


def _download(coordinate: str, context: MavenContext) -> Path:
    return Path(context.create_dependency(coordinate).artifact.resolve())


def _resolver_of(context: MavenContext) -> Repository:
    return cast("Repository", context.resolver)  # _context makes no other


def missing_files(context: MavenContext) -> frozenset[str]:
    """Return the names of the files that were asked for in a context and that the repository does not have."""
    return frozenset(_resolver_of(context).missing)


def _unreachable(what: str, host: str, error: requests.RequestException) -> HarnessError:
    status = error.response.status_code if error.response is not None else 0
    remedy = f"Check the network, or name a mirror in {REPOSITORY_VARIABLE}"
    if status in _REFUSES_ACCESS:
        remedy = f"Check the login in {REPOSITORY_VARIABLE}, or the proxy"
    return HarnessError(
        f"{what} could not be fetched from {host}: {_reason(error)}.",
        f"{remedy}; with a filled cache, --offline needs no network.",
    )


def _of_certificates(error: OSError) -> HarnessError | None:
    """Return the error for certificates that are not where a variable says; None for any other error."""
    if error.errno is not None or "certificate" not in str(error):
        return None
    return HarnessError(
        f"The certificates cannot be read: {error}.", f"Name a file that is there in {CERTIFICATES_VARIABLE}."
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
    try:
        is_one = urlsplit(address).scheme in ("http", "https") and bool(urlsplit(address).hostname)
    except ValueError:
        is_one = False
    if not is_one:  # it is not quoted: it may hold a password
        raise HarnessError(
            f"{REPOSITORY_VARIABLE} does not name a repository's address.", "It begins with http:// or https://."
        )
    return address.rstrip("/")


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.Timeout):
        return f"no answer within {_TIMEOUT_SECONDS} s"
    if isinstance(error, requests.exceptions.SSLError) and "certificate verify failed" in str(error):
        return f"its certificate is not trusted (who signs it is to be in the file that {CERTIFICATES_VARIABLE} names)"
    if isinstance(error, requests.HTTPError):
        return str(error)
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
