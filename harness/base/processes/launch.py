"""Run a command that cannot outlive the harness: `launch.py PARENT_PID CLASS COMMAND…` (Linux; 0: any parent).

The kernel kills the process when its parent ends, even by kill -9. The setting survives exec, so this small
program sets it and then becomes the command. So does the scheduling class: `idle` gives way to everybody, `ordinary` is
that of the harness. It runs with `-I -S` and imports next to nothing.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


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
    """Take the processor only where nobody else wants it, and so will every thread and child of this process."""
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except OSError:  # a sandbox that has no such class
        os.nice(19)


if __name__ == "__main__":
    main()
