"""What can be known to go wrong before any file is read: too little room, no port, an arm that no build gives."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.base.archives import entry_names
from harness.base.errors import HarnessError, unknown
from harness.base.paths import nearest_existing
from harness.cluster.host_accounts import available_memory
from harness.cluster.loopback import Loopback
from harness.kafka.distribution import Distribution, distribution_at
from harness.kafka.git import check_source, url_and_ref
from harness.kafka.lock import read_lock
from harness.kafka.release_lines import Mode, check_java, check_mode, line_of
from harness.model.arms import PATCHED, Role
from harness.model.request import Request
from harness.model.setup import NodeRuntime, Profile
from harness.model.sides import Sides
from harness.toolbox.toolbox import Toolbox

_GIB = 2**30
# A quarter of what a cluster of four takes, measured with a margin; Spark and the harness itself.
_NODE_GIB = {Profile.FAST: 0.375, Profile.PRODUCTION: 0.75}
_NODES = 4
_REST_GIB = 1.0
_TESTS_GIB = 1.5  # two JVMs whose young generation may fill
_RUN_DIR_GIB, _NODES_GIB = 0.5, 0.25
_CACHE_GIB = 0.7  # Kafka's jars, a storage template, class archives


@dataclass(frozen=True, slots=True)
class Need:
    """How much of something a verification needs and how much there is, in GiB; `instead` is what to do without it."""

    what: str
    gib: float
    there: float
    instead: str


def check_host(request: Request, run_dir: Path, toolbox: Toolbox, rolled: int = 0) -> None:
    """Raise HarnessError for the first thing that a verification, or a roll of so many nodes, would fail on."""
    _check_paths(
        run_dir, toolbox.cache, *(each for each in (request.dist, request.base_dist) if each and each.is_dir())
    )
    refuse_shortage([memory(request, rolled), *disks(request, run_dir, toolbox.cache)])
    with_ports()
    toolbox.node_java()
    if request.runtime is NodeRuntime.CONTAINER:
        _need_engine()
    for git in filter(None, (request.git, request.base_git)):
        url_and_ref(git)


def _check_paths(*places: Path) -> None:
    """Raise HarnessError for a place that no class path can name: its colon would be the end of an entry."""
    for place in (each.absolute() for each in places):
        if os.pathsep in str(place):
            raise HarnessError(
                f"{place} has a “{os.pathsep}” in it, at which Java would divide the class path.",
                "Name a place without: --out for results, XDG_CACHE_HOME for the cache, another path of a Kafka.",
            )


def _need_engine() -> None:
    from harness.cluster.runtime.container_runtime import node_engine  # takes half a second to load

    with node_engine():
        pass


def refuse_shortage(needs: Iterable[Need]) -> None:
    """Raise HarnessError for the first need that is not met. Pure."""
    for need in needs:
        if need.there < need.gib:
            seen = f"{need.there:.1f} GiB, and {need.gib:.1f} GiB are needed"
            raise HarnessError(f"There is too little {need.what}: {seen}.", need.instead)


def memory(request: Request, rolled: int = 0) -> Need:
    """Return what the nodes of all clusters side by side, or those of one that is rolled, and Spark take."""
    needed = _REST_GIB + (rolled or request.jobs * _NODES) * _NODE_GIB[request.profile]
    return Need("memory", needed, available_memory() / _GIB, f"End other programs, or {_with_less(request, rolled)}.")


def _with_less(request: Request, rolled: int) -> str:
    if rolled:
        return "rehearse with fewer nodes (--topology 3combined+1)"
    return f"run fewer clusters side by side (--jobs {request.jobs - 1})" if request.jobs > 1 else "use another host"


def has_room_beside(request: Request) -> bool:
    """Return whether there is memory for upstream's tests beside the clusters."""
    need = memory(request)
    return need.there >= need.gib + _TESTS_GIB


def has_room_for_spark(request: Request) -> bool:
    """Return whether there is memory for Spark beside the clusters that run, and for one more of them."""
    return available_memory() / _GIB >= _REST_GIB + _NODES * _NODE_GIB[request.profile]


def disks(request: Request, run_dir: Path, cache: Path) -> list[Need]:
    """Return what is written to each file system: the run directory's, and the cache's until it is filled."""
    wanted = {run_dir.absolute(): _RUN_DIR_GIB + request.jobs * _NODES_GIB}
    if not (cache / "class-archives").is_dir():
        wanted[cache] = _CACHE_GIB
    together: dict[int, list[Path]] = defaultdict(list)
    for folder in wanted:
        together[nearest_existing(folder).stat().st_dev].append(folder)
    return [_room(folders, sum(wanted[folder] for folder in folders)) for folders in together.values()]


def _room(folders: list[Path], gib: float) -> Need:
    free = shutil.disk_usage(nearest_existing(folders[0])).free / _GIB
    names = " and ".join(map(str, folders))
    return Need(f"room on the disk of {names}", gib, free, "Free some, or name a place by --out or XDG_CACHE_HOME.")


def with_ports() -> None:
    """See that loopback has a free port. Raises HarnessError."""
    addresses = Loopback()
    try:
        addresses.take()
    finally:
        addresses.close()


def check_sides(sides: Sides, arms: Iterable[str], toolbox: Toolbox, *, is_roll: bool, modes: Collection[Mode]) -> None:
    """Raise HarnessError for the first thing that keeps these sides from being compared on these arms, or rolled."""
    check_arms(arms, sides)
    if is_roll:
        check_roll(sides)
    check_locks(sides)
    check_lines(sides, toolbox, modes)
    if is_roll:
        check_scripts(sides, toolbox)


def check_sources(sides: Sides, *, offline: bool) -> None:
    """Raise HarnessError for sources that cannot be read, or without the ref that is named of them."""
    for git in dict.fromkeys(filter(None, (sides.base.git, sides.candidate.git))):
        check_source(git, offline=offline)


def check_arms(wanted: Iterable[str], sides: Sides) -> None:
    """Refuse an arm of a name that no build of these sides gives. Raises HarnessError: did you mean …"""
    base, candidate = sides.base_name, sides.candidate_name
    alone = () if candidate == PATCHED else (candidate,)
    names = {*map(str, Role), base, f"{base}-off", f"{candidate}-off", f"{candidate}-on", *alone}
    for name in wanted:
        if name not in names:
            raise HarnessError(unknown("arm", name, names))


def check_locks(sides: Sides) -> None:
    """Raise HarnessError where a release is needed that is not locked: for its jars, or to compile against."""
    for side in (sides.base, sides.candidate):
        line_of(side.version)
        if side.place is None or side.built:
            read_lock(side.version)


def check_lines(sides: Sides, toolbox: Toolbox, modes: Collection[Mode]) -> None:
    """Raise HarnessError for a release line that this Java cannot run, or that has no nodes in these modes."""
    for side in (sides.base, sides.candidate):
        line = line_of(side.version)
        check_java(line, toolbox.node_java())
        for mode in modes:
            check_mode(line, mode)


def check_roll(sides: Sides) -> None:
    """Raise HarnessError where a rollout would replace everything by itself."""
    if sides.base == sides.candidate:
        raise HarnessError(
            f"There is nothing to roll: base and the candidate are both Kafka {sides.base.version}, no jar differs.",
            "Name another Kafka or another raft jar on one side (--kafka, --dist, --jar, --series, --base-…).",
        )


def check_scripts(sides: Sides, toolbox: Toolbox) -> None:
    """Raise HarnessError for a whole Kafka without a class that a script of the runbook starts.

    What a lock has of them is fetched; one that somebody has brings them along.
    """
    for side in (sides.base, sides.candidate):
        if side.place is None:
            continue
        line, there = line_of(side.version), _classes(distribution_at(side.place, toolbox.cache))
        lacking = next((script for script, name in line.commands.items() if name not in there), "")
        if lacking:
            jars = " and ".join(f"{pin.split(':')[1]}-<version>.jar" for pin in line.lock.commands)
            raise HarnessError(
                f"{side.place} lacks {line.commands[lacking]}, which {lacking} starts, and a rollout runs that script.",
                f"Put {jars} of the same release into its libs/, or name a whole release.",
            )


def _classes(kafka: Distribution) -> set[str]:
    names = (name for jar in kafka.jars for name in entry_names(jar))
    return {name.removesuffix(".class").replace("/", ".") for name in names if name.endswith(".class")}
