"""What a live process is seen to run: the jars that it holds open, by digest, and the flag that it reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from harness.base.files import sha256_of
from harness.cluster import probes
from harness.cluster.address import Address
from harness.cluster.install import Install
from harness.cluster.protocol import Wire
from harness.kafka.class_path import RAFT_JAR

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class ObservedArm:
    """The digest of the one raft jar that process `pid` holds open (empty for none or several), and its flag value.

    `jars` are names and digests of all jars that it holds open: a JVM opens its class path in order, so that one which
    has come to the raft jar, the last, has opened all.
    """

    pid: int
    jar: str
    sha256: str
    flag: str
    jars: tuple[tuple[str, str], ...] = ()


def prove(wire: Wire, pid: int, node: int, address: Address, jar: str, flag_key: str) -> ObservedArm:
    """Look at a live process.

    The digest is of the open file itself (through the process's descriptor), not of whatever the path names now. An
    empty `sha256` or a flag of `absent` is what was seen. Raises Unreachable, OSError.
    """
    opened = _open_jars(pid)
    path, digest = _raft_jar(opened, jar)
    values = probes.broker_config(wire, address, node)
    flag = values.get(flag_key, "absent") if flag_key else "absent"
    return ObservedArm(pid, path, digest, flag, tuple(sorted((Path(each.path).name, each.sha256) for each in opened)))


def mismatch(proof: ObservedArm, install: Install) -> str:
    """Return how a live node differs from what was installed on it, empty when it does not. Pure."""
    seen = {digest for _, digest in proof.jars}
    other = next((name for name, digest in install.beside.items() if digest not in seen), "")
    if other:
        return f"does not run the {other} of its Kafka ({install.beside[other][:_DIGITS]})"
    if proof.sha256 != install.sha256:
        what = f"a raft jar {proof.sha256[:_DIGITS]}" if proof.sha256 else "no single raft jar"
        return f"runs {what}, not the jar under test ({install.sha256[:_DIGITS]})"
    if proof.flag != install.flag:
        return f"reports its flag as {proof.flag}, not {install.flag}"
    return ""


def apart_from_base(proof: ObservedArm, base_jars: Mapping[str, str]) -> tuple[str, ...]:
    """Return the jars that a live node runs and base does not, each by its name and the digest's beginning. Pure."""
    known = {*base_jars.values()}
    return tuple(f"{name} {digest[:_DIGITS]}" for name, digest in proof.jars if digest not in known)


@dataclass(frozen=True, slots=True)
class _OpenJar:
    """A jar that a process holds open: its path, and the digest of the open file."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class _OpenFile:
    """An open file: which it is, and when it was last written to; the descriptor only leads to it."""

    device: int
    inode: int
    size: int
    written: int
    changed: int
    descriptor: Path = field(compare=False)


def _open_jars(pid: int) -> list[_OpenJar]:
    """Return the jars that a process holds open, each once."""
    found: dict[_OpenFile, _OpenJar] = {}
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            path = str(descriptor.readlink()).removesuffix(" (deleted)")
            if path.endswith(".jar"):
                opened = _opened(descriptor)
                found[opened] = _OpenJar(path, _digest(opened))
        except OSError:  # closed while we looked
            continue
    return list(found.values())


def _opened(descriptor: Path) -> _OpenFile:
    stat = descriptor.stat()
    return _OpenFile(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, descriptor)


@lru_cache(1 << 12)  # all nodes have the same jars
def _digest(opened: _OpenFile) -> str:
    return sha256_of(opened.descriptor)


def _raft_jar(opened: list[_OpenJar], name: str) -> tuple[str, str]:
    """Return path and SHA-256 of the one open raft jar; an empty digest when it is not open exactly once."""
    found = [each for each in opened if RAFT_JAR.fullmatch(base := Path(each.path).name) or base == name]
    return ", ".join(sorted(each.path for each in found)), found[0].sha256 if len(found) == 1 else ""
