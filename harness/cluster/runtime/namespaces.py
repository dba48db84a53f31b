"""Threads in namespaces of their own: a namespace lives as long as a thread is in it, and has no name to be left.

What a thread starts, threads and processes alike, is in its namespaces. So whatever ends the harness, kill -9
included, ends them as well.
"""

from __future__ import annotations

import ctypes
import errno
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
_NO_MORE = "this host allows no more namespaces"  # ENOSPC's own words are those of a full disk
_refusals: list[OSError] = []


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
        why = _NO_MORE if (what, code) == ("unshare", errno.ENOSPC) else os.strerror(code)
        raise OSError(code, f"{what}: {why}")


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
    try:
        _try_in_a_child()
        _take_user_namespace()
    except OSError as error:
        _refusals.append(error)
        return error.strerror or str(error)
    return ""


def refusal() -> OSError | None:
    """Return why this process got no user namespace; None where it asked for none, or got one."""
    return _refusals[-1] if _refusals else None


def _try_in_a_child() -> None:
    """See that all of it works: who is let in and then not given its ids is nobody from there on. Raises OSError."""
    child = os.fork()
    if child == 0:
        code = errno.EPERM
        try:
            _take_user_namespace()
            code = 0
        except OSError as error:
            code = error.errno or code
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(code, _NO_MORE if code == errno.ENOSPC else os.strerror(code))


def _take_user_namespace() -> None:
    user, group = os.geteuid(), os.getegid()
    _check(_libc.unshare(_NEW_USER), "unshare")
    (_SELF / "setgroups").write_text("deny")
    (_SELF / "uid_map").write_text(f"{user} {user} 1")
    (_SELF / "gid_map").write_text(f"{group} {group} 1")


def inhabitants(inodes: set[int]) -> dict[int, str]:
    """Return id and name of every other process, and of every thread of this one, that is in one of these networks."""
    others = (each for each in Path("/proc").glob("[0-9]*") if int(each.name) != os.getpid())
    found = {}
    for task in (*others, *(_SELF / "task").iterdir()):
        with suppress(OSError):  # it ended, or is somebody else's
            if (task / "ns" / "net").stat().st_ino in inodes:
                found[int(task.name)] = (task / "comm").read_text().strip()
    return found
