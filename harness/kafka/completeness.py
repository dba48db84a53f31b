"""Whether an unpacked Kafka is one: all of its own modules, of one version and for one Scala."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from harness.base.errors import HarnessError
from harness.kafka.distribution import VERSION_ENTRY, Distribution, version_entry_of
from harness.kafka.jar_names import jar_name
from harness.kafka.lock import locked_versions, read_lock
from harness.kafka.modules_beside import CONNECT_API, MODULES_BESIDE
from harness.kafka.release_lines import same_line
from harness.kafka.versions import is_version, release_of
from harness.toolbox.lockfile import Purpose

_OWN_GROUP = "org.apache.kafka"
_BROKER = re.compile(r"kafka_(\d+(?:\.\d+)?)")
_SCALA_LIBRARY = "scala-library"
_SCALA_SUFFIX = ("_2.12", "_2.13", "_3")
_AGAIN = "Unpack the release again into an empty folder, and add to it what you mean to run."


def check_whole(kafka: Distribution, place: Path) -> None:
    """Raise HarnessError for the first thing that keeps what was unpacked at `place` from being one whole Kafka.

    Which modules it needs is known from the lock of its release, or of another release of its line; where there is
    none, only what is there is checked.
    """
    jars, version = {jar.name: jar for jar in kafka.jars}, kafka.version
    problem = first_problem(jars, version, needed_modules(version), modules_beside(version))
    if problem:
        raise HarnessError(f"{place} is not a whole Kafka: {problem}.", _AGAIN)


def needed_modules(version: str) -> frozenset[str]:
    """Return the names of Kafka's own modules that a broker of a version needs, without the suffix for Scala."""
    return _own_modules(version, Purpose.RUNTIME)


def modules_beside(version: str) -> frozenset[str]:
    """Return the names of Kafka's own modules that may be there of a version, and then have to be of it as well."""
    return _own_modules(version, Purpose.COMMANDS).union(MODULES_BESIDE, [CONNECT_API])


def _own_modules(version: str, purpose: Purpose) -> frozenset[str]:
    release = release_of(version)
    known = sorted(locked_versions(), key=lambda each: (each != release, each))
    alike = next((each for each in known if each == release or same_line(each, release)), "")
    pinned = read_lock(alike).of(purpose) if alike else ()
    coordinates = (each.coordinate.split(":") for each in pinned)
    return frozenset(_module(artifact) for group, artifact, *_ in coordinates if group == _OWN_GROUP)


def lacking_others(kafka: Distribution) -> tuple[str, ...]:
    """Return the names of other people's jars that Apache's locked release has, in whatever version, and this lacks.

    A vendor may have replaced them; without them nodes may not start. Nothing is known where there is no such lock.
    """
    release = release_of(kafka.version)
    if release not in locked_versions():
        return ()
    there = {named.module for jar in kafka.jars if (named := jar_name(jar.name))}
    runtime = (each.coordinate.split(":") for each in read_lock(release).of(Purpose.RUNTIME))
    others = {artifact for group, artifact, *_ in runtime if group != _OWN_GROUP}
    return tuple(sorted(each for each in others - there if not each.endswith(_SCALA_SUFFIX) and each != _SCALA_LIBRARY))


def first_problem(jars: Mapping[str, Path], version: str, needed: Collection[str], beside: Collection[str]) -> str:
    """Return why jars, by their names, are no whole Kafka of a version; else nothing.

    Of its own modules a broker has those that are `needed`; those `beside` may be there. Any other jar is somebody's.
    """
    named, known = _by_module(jars), {*needed, *beside}
    own = {module: names for module, names in named.items() if _module(module) in known or _BROKER.fullmatch(module)}
    return (
        next(filter(None, (_twice(names) for names in own.values())), "")
        or _lacking(needed, own)
        or next(filter(None, (_of_another(jars[names[0]], version) for names in own.values())), "")
        or _scala_problem(named)
    )


def _by_module(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        if named := jar_name(name):
            found[named.module].append(name)
    return found


def _module(name: str) -> str:
    return _BROKER.sub("kafka", name)


def _twice(names: list[str]) -> str:
    return f"it has {' and '.join(names)}, of which nodes would run only the first" if len(names) > 1 else ""


def _lacking(needed: Collection[str], own: Iterable[str]) -> str:
    missing = sorted({*needed} - {_module(module) for module in own})
    jars = ", ".join("kafka_<Scala>-<version>.jar" if each == "kafka" else f"{each}-<version>.jar" for each in missing)
    return f"its libs/ lacks {jars}" if missing else ""


def _of_another(jar: Path, version: str) -> str:
    """Say so of a jar that is of another release than the raft module, by what stands in it, else by its name."""
    by_name = jar_name(jar.name)
    named = version_entry_of(jar) or (by_name.version if by_name else "")
    if not is_version(named) or release_of(named) == release_of(version):
        return ""
    inside = f" by its {VERSION_ENTRY}" if version_entry_of(jar) else ""
    return f"{jar.name} is of Kafka {release_of(named)}{inside}, and its raft module of {release_of(version)}"


def _scala_problem(named: Mapping[str, list[str]]) -> str:
    brokers = [module for module in named if _BROKER.fullmatch(module)]
    if len(brokers) > 1:
        return f"it has {' and '.join(named[each][0] for each in brokers)}, for different Scalas"
    libraries = named.get(_SCALA_LIBRARY, [])
    if not brokers or not libraries:
        return "" if not brokers else f"its libs/ lacks {_SCALA_LIBRARY}-<version>.jar"
    if len(libraries) > 1:
        return _twice(libraries)
    scala = brokers[0].partition("_")[2]
    fits = libraries[0].startswith((f"{_SCALA_LIBRARY}-{scala}.", f"{_SCALA_LIBRARY}-{scala}-"))
    return "" if fits else f"{named[brokers[0]][0]} is for Scala {scala}, and {libraries[0]} is another"
