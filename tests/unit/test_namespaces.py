"""What becomes of a process to which the kernel refuses namespaces, and what its user is told."""

import ctypes
import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.errors import HarnessError
from harness.base.room import lacks_room
from harness.cluster.runtime import namespace_runtime, namespaces
from harness.cluster.runtime.namespaces import Place
from harness.scenario.capabilities.base import capabilities
from harness.scenario.registry import load_all

# A process whose rights this test takes to be an ordinary user's: which namespace it is in before and after, and why.
ENTERS = """
import os, sys
from pathlib import Path
from harness.cluster.runtime import namespaces
namespaces.may_unshare = lambda: False
namespaces._SELF = Path(sys.argv[1])
def now():
    return os.stat("/proc/self/ns/user").st_ino, os.getuid(), os.getgid()
before = now()
why = namespaces.enter_user_namespace()
told = namespaces.refusal()
print(before[0] == now()[0], before[1:] == now()[1:], why, told and told.strerror, sep="|")
"""


def entered(folder):
    command = [sys.executable, "-B", "-c", ENTERS, str(folder)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    return done.stdout.strip().split("|")


def test_a_process_that_would_not_be_given_its_ids_stays_who_it_is(tmp_path):
    refused = os.strerror(errno.ENOENT)  # for want of the files that ids are written to
    assert entered(tmp_path / "nothing") == ["True", "True", refused, refused]


def test_a_process_keeps_its_ids_in_a_namespace_of_its_own():
    stayed, same, why, told = entered("/proc/self")
    if why:
        pytest.skip(f"no user namespaces here: {why}")
    assert (stayed, same, told) == ("False", "True", "None")


def test_a_host_that_allows_no_more_namespaces_is_no_full_disk(monkeypatch):
    def unshare(_kinds):
        ctypes.set_errno(errno.ENOSPC)
        return -1

    monkeypatch.setattr(namespaces, "_libc", SimpleNamespace(unshare=unshare))
    with pytest.raises(OSError, match="this host allows no more namespaces") as refused:
        Place("hub")
    assert refused.value.errno == errno.ENOSPC
    assert not lacks_room(refused.value)


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.ENOSPC, "user.max_user_namespaces"),
        (errno.EPERM, "apparmor_restrict_unprivileged_userns"),
        (errno.EACCES, "apparmor_restrict_unprivileged_userns"),
        (errno.EOPNOTSUPP, "modprobe veth"),
    ],
)
@pytest.mark.parametrize("has_rights", [False, True])
def test_what_to_do_follows_from_what_the_kernel_said(monkeypatch, code, remedy, has_rights):
    refused = OSError(code, os.strerror(code))

    def try_it():
        raise HarnessError("The network of the run was not made.") from refused

    monkeypatch.setattr(namespace_runtime, "may_unshare", lambda: has_rights)
    monkeypatch.setattr(namespace_runtime, "refusal", lambda: refused)
    monkeypatch.setattr(namespace_runtime, "_try_it", try_it)
    load_all()
    assert remedy in capabilities()["network_namespaces"].fix
    assert has_rights or os.strerror(code) in namespace_runtime.why_not()
