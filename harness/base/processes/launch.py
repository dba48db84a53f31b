"""Run a command that cannot outlive the harness: `launch.py PARENT_PID CLASS COMMAND…` (Linux; 0: any parent).

The kernel kills the process when its parent ends, even by kill -9. The setting survives exec, so this small
program sets it and then becomes the command. So does the scheduling class: `idle` gives way to everybody, `ordinary` is
that of the harness. It runs with `-I -S` and imports next to nothing.
"""

import ctypes
import os
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_LEAST = 19
_TRIES, _AGAIN_SECONDS = 20, 0.05


def main() -> None:
    """Bind this process's life to its parent's, then exec the command."""
    parent, scheduling, command = int(sys.argv[1]) or os.getppid(), sys.argv[2], sys.argv[3:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the harness ended before the setting was made
        os._exit(1)
    if scheduling == "idle":
        _give_way()
    try:
        os.execv(command[0], command)  # noqa: S606 - becoming the command is the point
    except OSError as error:
        print(f"{command[0]} does not start: {error.strerror}", file=sys.stderr)
        sys.exit(127)


def _give_way() -> None:
    """Take the processor only where nobody else wants it, and so will every thread and child of this process.

    Where Linux groups by session (autogroup, sched(7)), a class counts within the session alone: the session itself,
    which is this process's own, takes the least weight.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except OSError:  # a sandbox that has no such class
        os.nice(_LEAST)
    for _ in range(_TRIES):
        try:
            with open("/proc/self/autogroup", "w") as group:  # noqa: PTH123 - pathlib takes longer than all of this
                group.write(str(_LEAST))
        except BlockingIOError:  # the kernel takes ten of these a second
            time.sleep(_AGAIN_SECONDS)
        except OSError:  # a kernel that does not group
            return
        else:
            return


if __name__ == "__main__":
    main()
