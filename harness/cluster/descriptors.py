"""File descriptors: as many as the host allows, waits for any of them, and the error for want of one."""

from __future__ import annotations

import errno
import resource
import select
from collections.abc import Collection
from typing import Protocol, TypeVar

# A run takes about a hundred; more than this no host needs to be asked for.
_MOST = 65536
_GIVEN_OUT = (errno.EMFILE, errno.ENFILE)


class HasDescriptor(Protocol):
    """A file or a socket."""

    def fileno(self) -> int:
        """Return its number."""


_F = TypeVar("_F", bound=int | HasDescriptor)


def allow_many() -> None:
    """Raise what this process may open to what the host lets it; often that is 1024, by an old custom."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised(soft, hard), hard))


def raised(soft: int, hard: int) -> int:
    """Return the soft limit to ask for: never less than it was. Pure."""
    if resource.RLIM_INFINITY in (soft, hard):
        return soft if soft == resource.RLIM_INFINITY else max(soft, _MOST)
    return max(soft, min(hard, _MOST))


def have_given_out(error: BaseException) -> bool:
    """Whether an error is for want of a descriptor, of this process or of the whole host."""
    return isinstance(error, OSError) and error.errno in _GIVEN_OUT


def readable(files: Collection[_F], seconds: float) -> list[_F]:
    """Return those from which there is something to read, waiting so long for the first.

    By poll(2): select(2) takes no number over 1023.
    """
    numbered = {each if isinstance(each, int) else each.fileno(): each for each in files}
    asked = select.poll()
    for number in numbered:
        asked.register(number, select.POLLIN)
    return [numbered[number] for number, _ in asked.poll(1000 * seconds)]
