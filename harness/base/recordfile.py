"""A JSON file that holds one record: read and written as that record, and one check of its schema.

A file whose name ends in `.gz` is compressed.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any, Generic, TypeVar

from harness.base.errors import HarnessError, reason_of
from harness.base.files import write_bytes, write_text
from harness.base.json import parse_json, record_of, to_json

MAX_BYTES = 256 << 20  # of a file, unpacked

T = TypeVar("T")
S = TypeVar("S")


def _as_it_is(document: Any) -> Any:
    return document


@dataclass(frozen=True, slots=True)
class RecordFile(Generic[T]):
    """A file, and the type of the record that it holds (a dataclass, or `tuple[NodeLogs, ...]`).

    `schema` is the only value of the record's field `schema` that is read; None for a record without that field.
    `translate` is done to the plain document before it is read as the record.
    `absent` makes the error for a file that is not there; `remedy` says what to do about a damaged one.
    """

    path: Path
    kind: type[T]
    schema: int | None = None
    absent: Callable[[], HarnessError] | None = None
    remedy: str = (
        "Run the stage that writes it again, or go on with its run directory: `harness verify --resume`, "
        "of a rollout `harness rollout --resume`."
    )
    translate: Callable[[Any], Any] = _as_it_is

    @property
    def exists(self) -> bool:
        """Whether there is such a file."""
        return self.path.is_file()

    @property
    def is_whole(self) -> bool:
        """Whether it is there and can be read; who makes it makes anew what is not."""
        try:
            return self.read_if_exists() is not None
        except HarnessError:
            return False

    def read(self) -> T:
        """Return the record. Raises HarnessError that names the file: it is absent, damaged, or of another schema."""
        try:
            absent = self.absent if self.absent and not self.exists else None
        except OSError as error:
            raise HarnessError(f"{self.path} cannot be seen: {error.strerror}.", "Let this user read it.") from error
        if absent:
            raise absent()
        return read_record(
            self.kind, self._content(), self.path, self.path.parent, self.schema, self.remedy, self.translate
        )

    def read_if_exists(self) -> T | None:
        """Return the record, or None when there is no such file. Raises HarnessError as `read` does."""
        return self.read() if self.exists else None

    def write(self, record: T) -> Path:
        """Write the record atomically and return the file's path."""
        if self._is_compressed:  # without a time in it: the same record always gives the same bytes
            return write_bytes(self.path, gzip.compress(to_json(record).encode(), mtime=0))
        return write_text(self.path, to_json(record))

    @property
    def _is_compressed(self) -> bool:
        return self.path.suffix == ".gz"

    def _content(self) -> bytes:
        try:
            with gzip.open(self.path) if self._is_compressed else self.path.open("rb") as file:
                return _bounded(file)
        except (OSError, EOFError, zlib.error) as error:
            raise HarnessError(f"{self.path} cannot be read: {reason_of(error)}.", self.remedy) from error


def _bounded(file: BufferedIOBase) -> bytes:
    content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise EOFError(f"it holds more than {MAX_BYTES >> 20} MiB")
    return content


def read_record(
    kind: type[T],
    content: str | bytes,
    where: object,
    convertible: Path,
    schema: int | None,
    remedy: str,
    translate: Callable[[Any], Any] = _as_it_is,
) -> T:
    """Return the record that JSON holds; `where` names it in errors, `convertible` is what can be converted.

    Raises HarnessError when it is damaged, or has another schema than `schema`.
    """
    document = _undamaged(lambda: parse_json(content), where, remedy)
    if schema is not None:
        check_schema(document, schema, where, convertible)
    return _undamaged(lambda: record_of(kind, translate(document)), where, remedy)


def _undamaged(read: Callable[[], S], where: object, remedy: str) -> S:
    try:
        return read()
    except HarnessError as error:
        raise HarnessError(f"{where} is damaged. {error.message}", remedy) from error


def check_schema(document: Any, wanted: int, where: object, convertible: Path) -> None:
    """Raise HarnessError unless the plain `document` has the schema `wanted`.

    `where` names the document in the error, `convertible` what `harness convert` is to be given for an older one.
    """
    found = document.get("schema") if isinstance(document, dict) else None
    if found == wanted:
        return
    older = isinstance(found, int) and found < wanted
    raise HarnessError(
        f"{where} has {'no schema' if found is None else f'schema {found}'}; this harness reads schema {wanted}.",
        f"Convert it: harness convert {convertible}" if older else "Use the version of the harness that wrote it.",
    )
