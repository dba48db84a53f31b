"""Run a command that cannot outlive the harness: `launch.py PARENT_PID COMMAND…` (Linux; 0: any parent).

The kernel kills the process when its parent ends, even by kill -9. The setting survives exec, so this small
program sets it and then becomes the command. It runs with `-I -S` and imports next to nothing.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Bind this process's life to its parent's, then exec the command."""
    parent, command = int(sys.argv[1]) or os.getppid(), sys.argv[2:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the harness ended before the setting was made
        os._exit(1)
    try:
        os.execv(command[0], command)  # noqa: S606 - becoming the command is the point
    except OSError as error:
        print(f"{command[0]} does not start: {error.strerror}", file=sys.stderr)
        sys.exit(127)


if __name__ == "__main__":
    main()
