"""An end that was asked for, by Ctrl-C or SIGTERM, is not forgotten where a library swallows it.

An import does: interrupted below, a C extension reports an ImportError, which an optional dependency's importer takes
for "not installed". The command would go on, and end with a verdict instead of "stopped".
"""

from __future__ import annotations

import sys
import threading

_asked = threading.Event()


def ask_for_end() -> None:
    """Note that the command is to end."""
    _asked.set()


def end_is_asked_for() -> bool:
    """Whether the command is to end."""
    return _asked.is_set()


def end_if_asked() -> None:
    """Raise KeyboardInterrupt when the end was asked for and its exception is lost.

    It is not lost while an exception is handled, which is when things are cleaned up; other threads are ended by the
    main one.
    """
    if _asked.is_set() and threading.current_thread() is threading.main_thread() and sys.exception() is None:
        raise KeyboardInterrupt
