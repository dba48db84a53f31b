"""What a live process is seen to run: the raft jar that it holds open, by digest, and the flag that it reports."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from harness.cluster import probes
from harness.cluster.address import Address
from harness.cluster.install import Install
from harness.cluster.protocol import Wire

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class ObservedArm:
    """The digest of the one raft jar that process `pid` holds open (empty for none or several), and its flag value."""

    pid: int
    jar: str
    sha256: str
    flag: str


def prove(wire: Wire, pid: int, node: int, address: Address, jar: str, flag_key: str) -> ObservedArm:
    """Look at a live process.

    The digest is of the open file itself (through the process's descriptor), not of whatever the path names now. An
    empty `sha256` or a flag of `absent` is what was seen. Raises Unreachable, OSError.
    """
    path, digest = _open_jar(pid, jar)
    values = probes.broker_config(wire, address, node)
    return ObservedArm(pid, path, digest, values.get(flag_key, "absent") if flag_key else "absent")


def mismatch(proof: ObservedArm, install: Install) -> str:
    """Return how a live node differs from what was installed on it, empty when it does not. Pure."""
    if proof.sha256 != install.sha256:
        seen = f"a raft jar {proof.sha256[:_DIGITS]}" if proof.sha256 else "no single raft jar"
        return f"runs {seen}, not the jar under test ({install.sha256[:_DIGITS]})"
    if proof.flag != install.flag:
        return f"reports its flag as {proof.flag}, not {install.flag}"
    return ""


def _open_jar(pid: int, name: str) -> tuple[str, str]:
    """Return path and SHA-256 of the one open file of that name; empty when it is not open exactly once."""
    found: dict[tuple[int, int], tuple[str, Path]] = {}
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target, stat = str(descriptor.readlink()), descriptor.stat()
        except OSError:  # closed while we looked
            continue
        if Path(target.removesuffix(" (deleted)")).name.startswith("kafka-raft") or Path(target).name == name:
            found[(stat.st_dev, stat.st_ino)] = (target, descriptor)
    if len(found) != 1:
        return ", ".join(sorted(target for target, _ in found.values())), ""
    ((target, descriptor),) = found.values()
    with descriptor.open("rb") as stream:
        return target, hashlib.file_digest(stream, "sha256").hexdigest()
