"""Threads in namespaces of their own: a namespace lives as long as a thread is in it, and has no name to be left.

What a thread starts, threads and processes alike, is in its namespaces. So whatever ends the harness, kill -9
included, ends them as well.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")
_libc = ctypes.CDLL(None, use_errno=True)
_NEW_MOUNTS, _NEW_USER, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_RECURSIVE, _PRIVATE = 0x4000, 0x40000
_SYSTEM_ADMIN = 21  # CAP_SYS_ADMIN
_STATUS = Path("/proc/thread-self/status")
_SELF = Path("/proc/self")


class Place:
    """A thread in a network of its own; where `from_place` is given, the new one shares that one's mounts.

    Raises OSError where the kernel refuses.
    """

    def __init__(self, name: str, from_place: Place | None = None) -> None:
        self.name = name
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"place {name}")
        kinds = _NEW_NETWORK if from_place else _NEW_NETWORK | _NEW_MOUNTS
        try:
            # The pool's thread is born of the thread that gives it its first work, and inherits its namespaces.
            self._file = from_place.do(lambda: self._begin(kinds)) if from_place else self._begin(kinds)
        except BaseException:
            self._pool.shutdown()
            raise
        self.inode = os.fstat(self._file).st_ino

    def _begin(self, kinds: int) -> int:
        return self._pool.submit(_unshared, kinds).result()

    @property
    def file(self) -> int:
        """An open file of the network namespace."""
        return self._file

    def do(self, work: Callable[[], _T]) -> _T:
        """Do something in this place, after what it is doing."""
        return self._pool.submit(work).result()

    def aside(self, work: Callable[[], _T]) -> _T:
        """Do something in this network, in a thread that begins and ends with it and shares this one's mounts."""
        pool = self.do(lambda: _another(f"beside {self.name}"))
        with pool:
            return pool.submit(work).result()

    def leave(self) -> None:
        """End the thread; the namespace keeps its number, by which it is looked for, until `close`."""
        self._pool.shutdown()

    def close(self) -> None:
        """Leave: the namespace ends with the last thread in it."""
        self.leave()
        with suppress(OSError):
            os.close(self._file)


def _another(name: str) -> ThreadPoolExecutor:
    """Return a pool whose one thread is born here."""
    pool = ThreadPoolExecutor(1, thread_name_prefix=name)
    pool.submit(int)
    return pool


def _unshared(kinds: int) -> int:
    """Take this thread out of the namespaces that it is in; return a file of its new network."""
    _check(_libc.unshare(kinds), "unshare")
    if kinds & _NEW_MOUNTS:  # what is mounted here is seen nowhere else
        _check(_libc.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None), "mount")
    return os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def mount_in_memory(folder: Path, size: int) -> None:
    """Mount an empty file system of so many bytes there, in the mounts of this thread. Raises OSError."""
    data = f"size={size},mode=700".encode()
    _check(_libc.mount(b"harness", str(folder).encode(), b"tmpfs", 0, data), "mount")


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def may_unshare() -> bool:
    """Whether this process may leave its namespaces: CAP_SYS_ADMIN, which root has, and whoever owns a user's."""
    lines = dict(line.partition(":")[::2] for line in _STATUS.read_text().splitlines())
    return bool(int(lines["CapEff"].strip(), 16) >> _SYSTEM_ADMIN & 1)


def enter_user_namespace() -> str:
    """Take a process that is not root into a user namespace of its own, where it may unshare; return why it cannot.

    Every id stays what it was. Only a process of one thread can; to be called before anything else is started.
    """
    if may_unshare():
        return ""
    user, group = os.geteuid(), os.getegid()
    try:
        _check(_libc.unshare(_NEW_USER), "unshare")
        (_SELF / "setgroups").write_text("deny")
        (_SELF / "uid_map").write_text(f"{user} {user} 1")
        (_SELF / "gid_map").write_text(f"{group} {group} 1")
    except OSError as error:
        return error.strerror or str(error)
    return ""


def inhabitants(inodes: set[int]) -> dict[int, str]:
    """Return id and name of every other process, and of every thread of this one, that is in one of these networks."""
    others = (each for each in Path("/proc").glob("[0-9]*") if int(each.name) != os.getpid())
    found = {}
    for task in (*others, *(_SELF / "task").iterdir()):
        with suppress(OSError):  # it ended, or is somebody else's
            if (task / "ns" / "net").stat().st_ino in inodes:
                found[int(task.name)] = (task / "comm").read_text().strip()
    return found
