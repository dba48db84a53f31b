"""What a harness could leave on a host beside files: its network, mounts, shared memory, containers, processes."""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

from harness.base.processes.leftovers import RUN_VARIABLE
from harness.base.processes.shared_memory import SHARED

# Whatever of these a host has, by what it prints.
_PROGRAMS = {
    "network namespaces": ("ip", "netns", "list"),
    "rules": ("ip", "rule"),
    "rules of IPv6": ("ip", "-6", "rule"),
    "routes": ("ip", "route", "show", "table", "all"),
    "links": ("ip", "-oneline", "link"),
    "nftables": ("nft", "list", "ruleset"),
    "iptables": ("iptables-save",),
    "ip6tables": ("ip6tables-save",),
    "containers of docker": ("docker", "ps", "--all", "--format", "{{.ID}} {{.Image}} {{.Names}}"),
    "containers of podman": ("podman", "ps", "--all", "--format", "{{.ID}} {{.Image}} {{.Names}}"),
}
# When a program printed, and what came through since: nobody left that.
_COMMENT, _COUNTERS = "#", re.compile(r"\[\d+:\d+\]|\bpackets \d+ bytes \d+")
HostState = Mapping[str, Counter[str]]


def host_state(folder: Path) -> HostState:
    """Return what the host has now, by kind; of processes those that have to do with a folder."""
    printed = {kind: lines_of(_printed(command)) for kind, command in _PROGRAMS.items()}
    return printed | {
        "mounts": lines_of(Path("/proc/self/mounts").read_text()),
        "shared memory": Counter(path.name for path in SHARED.iterdir()),
        "processes": Counter(f"{pid} {' '.join(words)}" for pid, words in processes_of(folder)),
    }


def _printed(command: Iterable[str]) -> str:
    """Return what a program prints; nothing where there is none, or where this user may not ask it."""
    program, *words = command
    found = shutil.which(program)
    if found is None:
        return ""
    return subprocess.run([found, *words], capture_output=True, text=True, check=False, timeout=30).stdout


def lines_of(text: str) -> Counter[str]:
    """Return lines without what changes by itself; pure."""
    lines = (line.strip() for line in text.splitlines() if not line.startswith(_COMMENT))
    return Counter(_COUNTERS.sub("", line).strip() for line in lines if line)


def processes_of(folder: Path) -> list[tuple[int, list[str]]]:
    """Return every process that has to do with a folder: by its command line, its run, or its temporary files."""
    found = []
    for process in psutil.process_iter():
        try:
            told = [*process.cmdline(), *(process.environ().get(each, "") for each in (RUN_VARIABLE, "TMPDIR"))]
            if process.pid != os.getpid() and any(str(folder) in word for word in told):
                found.append((process.pid, told))
        except (psutil.Error, OSError):
            continue
    return found


def changed(before: HostState, after: HostState) -> list[str]:
    """Return in words what came to a host and what it lacks, by kind; pure."""
    return [
        f"{kind}: {which} {each}"
        for kind in before
        for which, some in (("left", after[kind] - before[kind]), ("gone", before[kind] - after[kind]))
        for each in sorted(some.elements())
    ]
