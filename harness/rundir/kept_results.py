"""Results that are kept in the user's cache by the digest of all that decides them, so that they need not come again.

An entry is a folder that appears whole or not at all, with a list of its files by digest. Who takes one gets copies
whose content was seen to be what the list says; one that is damaged is removed, and said to be. The digests are against
damage, not against somebody who may write in this cache: the jars of nodes lie there too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

from harness.base.errors import HarnessError, reason_of
from harness.base.files import move_folder
from harness.base.json_schema import Count, Sha256, Text
from harness.base.locks import SCRATCH, scratch, sweep
from harness.base.recordfile import RecordFile, read_record
from harness.model.reuse import Origin

# As long as nobody forgets what the host was like: a kernel, a container or a disk may change without a trace in a key.
KEPT_FOR = timedelta(days=7)
MOST_BYTES = 512 << 20  # of all entries together: some fifty verifications of the shipped series
_MOST_FILES = 20_000
_LIST = "kept.json"
_MOST_LIST_BYTES = 16 << 20
_CONTENT = "content"
_SCHEMA = 1
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # so that opening a pipe waits for nobody
_PLACE = os.O_PATH | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class _Entry:
    """What stands in kept.json: where an entry comes from, and each file below its `content` by its digest."""

    schema: int
    origin: Origin
    bytes: Count
    files: Mapping[Text, Sha256]


class _DamageError(Exception):
    """What is wrong with an entry."""


class DamagedEntryError(HarnessError):
    """What was kept is not what was put there; it is not there any more."""


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class KeptResults:
    """The entries in a folder. Harnesses side by side may use one: what one of them removes, another has to make."""

    folder: Path
    now: Callable[[], datetime] = utc_now
    most_bytes: int = MOST_BYTES

    def keep(self, origin: Origin, files: Mapping[str, Path | bytes]) -> bool:
        """Keep `files`, or what is in them, by their paths in the entry, under the digest that `origin` names.

        What is there under it is replaced; then the oldest entries go until the rest is small enough. Return whether
        it was kept: not where it alone is too large, or where there is no room on the disk.
        """
        try:
            size = sum(len(each) if isinstance(each, bytes) else each.stat().st_size for each in files.values())
            if size > self.most_bytes or len(files) > _MOST_FILES:
                return False
            with scratch(self.folder) as made:
                _fill(made / "entry", origin, files)
                self._remove(self._place(origin.inputs))
                move_folder(made / "entry", self._place(origin.inputs))
            self._clean()
        except OSError:  # a full or read-only disk: nothing was promised
            return False
        return True

    @contextmanager
    def taken(self, inputs: str, beside: Path) -> Iterator[tuple[Origin, Path] | None]:
        """Give where an entry comes from, and a folder with copies of its files, which is gone after the block.

        None where there is none, or it is too old. `beside` is the folder below which the copies lie. Raises
        DamagedEntryError, after which it is not there any more.
        """
        with _opened(self._place(inputs)) as entry, scratch(beside) as copies:
            found = self._origin_of(entry, inputs, copies / _CONTENT) if entry else None
            yield (found, copies / _CONTENT) if found else None

    def drop(self, inputs: str) -> None:
        """Remove an entry."""
        with suppress(OSError):
            self._remove(self._place(inputs))

    def _place(self, inputs: str) -> Path:
        return self.folder / inputs

    def _origin_of(self, entry: _Opened, inputs: str, copies: Path) -> Origin | None:
        """Copy an entry's files and return where it comes from; None where it is too old or has just been replaced.

        Raises DamagedEntryError, after which it is not there any more.
        """
        try:
            found = self._listed(entry, inputs)
            if not timedelta(0) <= self.now() - _time_of(found.origin) <= KEPT_FOR:
                return None
            _copy(entry, found, copies)
        except (_DamageError, HarnessError, ValueError) as error:
            if not entry.is_in_place:  # another harness has just replaced or removed it
                return None
            self.drop(inputs)
            why = f"{entry.place} was damaged and is removed: {reason_of(error).rstrip('.')}."
            raise DamagedEntryError(why) from error
        return found.origin

    def _listed(self, entry: _Opened, inputs: str) -> _Entry:
        text = entry.read(_LIST, _MOST_LIST_BYTES)
        found = read_record(_Entry, text, _LIST, entry.place, _SCHEMA, "")
        small = len(found.files) <= _MOST_FILES and 0 <= found.bytes <= self.most_bytes
        if found.origin.inputs != inputs or not small:
            raise _DamageError("it is not what its name says")
        return found

    def _remove(self, place: Path) -> None:
        """Take an entry out of sight at once, and then away: nobody finds half of one."""
        if not place.is_symlink() and not place.exists():
            return
        with scratch(self.folder) as aside, suppress(FileNotFoundError):  # another harness was quicker
            place.rename(aside / "removed")

    def _clean(self) -> None:
        """Remove what is too old or is no entry, and then the oldest until the rest is small enough."""
        sweep(self.folder)
        entries: list[tuple[datetime, int, Path]] = []
        for place in sorted(self.folder.iterdir()):
            if place.name.startswith(SCRATCH):
                continue
            if found := self._age_and_size(place):
                entries.append((*found, place))
            else:
                self._remove(place)
        left = sum(size for _, size, _ in entries)
        for _, size, place in sorted(entries):
            if left <= self.most_bytes:
                break
            self._remove(place)
            left -= size

    def _age_and_size(self, place: Path) -> tuple[datetime, int] | None:
        """Return when an entry was made and its bytes; None for what is to go."""
        try:
            with _opened(place) as entry:
                found = self._listed(entry, place.name) if entry else None
                made = _time_of(found.origin) if found else None
        except (_DamageError, HarnessError, ValueError):
            return None
        return (made, found.bytes) if found and made and timedelta(0) <= self.now() - made <= KEPT_FOR else None


def files_below(folder: Path, prefix: str = "") -> dict[str, Path]:
    """Return the plain files below a folder by their paths in it, behind `prefix`; links are left out."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                found[f"{prefix}{path.relative_to(folder).as_posix()}"] = path
    return found


def move_below(copies: Path, place: Path) -> None:
    """Put a folder of copies in its place; whatever is there goes."""
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    copies.rename(place)


def _fill(entry: Path, origin: Origin, files: Mapping[str, Path | bytes]) -> None:
    size, digests = 0, {}
    for name, source in sorted(files.items()):
        copy, content = entry / _CONTENT / name, source if isinstance(source, bytes) else source.read_bytes()
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
        size, digests[name] = size + len(content), _digest(content)
    _list_of(entry).write(_Entry(_SCHEMA, origin, size, digests))


def _list_of(place: Path) -> RecordFile[_Entry]:
    return RecordFile(place / _LIST, _Entry, schema=_SCHEMA)


def _time_of(origin: Origin) -> datetime:
    """Return when something was made. Raises ValueError for what is no time with its zone."""
    found = datetime.fromisoformat(origin.made_at)
    if found.tzinfo is None:
        raise ValueError(f"{origin.made_at} has no zone")
    return found


@dataclass(frozen=True, slots=True)
class _Opened:
    """An entry's folder, held open: what is read is of this one, also when another takes its place meanwhile."""

    place: Path
    descriptor: int

    @property
    def is_in_place(self) -> bool:
        """Whether it is still the folder of its name."""
        try:
            return os.path.samestat(os.fstat(self.descriptor), self.place.lstat())
        except OSError:
            return False

    def read(self, name: str, most: int) -> bytes:
        """Return what a plain file holds, reached through plain folders alone. Raises _DamageError."""
        try:
            return self._content(name, most)
        except OSError as error:
            raise _DamageError(f"{name} cannot be read: {reason_of(error)}") from error

    def _content(self, name: str, most: int) -> bytes:
        *folders, last = PurePosixPath(name).parts or ("",)
        if name.startswith("/") or ".." in (*folders, last):
            raise _DamageError("it names a file elsewhere")
        with ExitStack() as stack:
            at = self.descriptor
            for folder in folders:
                at = _closed_after(stack, os.open(folder, _FOLDER, dir_fd=at))
            file = _closed_after(stack, os.open(last, _FILE, dir_fd=at))
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise _DamageError(f"{name} is no plain file")
            with os.fdopen(file, "rb", closefd=False) as stream:
                content = stream.read(most + 1)
        if len(content) > most:
            raise _DamageError(f"{name} is longer than it was")
        return content


@contextmanager
def _opened(place: Path) -> Iterator[_Opened | None]:
    """Give an entry's folder, None where there is none; what is no folder counts as one that nothing can be read of."""
    with ExitStack() as stack:
        try:
            found = _Opened(place, _closed_after(stack, os.open(place, _PLACE)))
        except OSError:  # it is not there, or not for this user
            found = None
        yield found


def _closed_after(stack: ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


def _copy(entry: _Opened, listed: _Entry, into: Path) -> None:
    """Copy what an entry lists. Raises _DamageError."""
    left = listed.bytes
    into.mkdir()
    for name, digest in listed.files.items():
        content = entry.read(name if name.startswith("/") else f"{_CONTENT}/{name}", left)
        if _digest(content) != digest:
            raise _DamageError(f"{name} is not what it was")
        left -= len(content)
        try:
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_bytes(content)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise _DamageError(f"{name} is a file and a folder") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
