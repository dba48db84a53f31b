"""Whether an unpacked Kafka is one: all of its own modules, of one version and for one Scala."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.archives import entry_names, is_class
from harness.base.errors import HarnessError
from harness.kafka.distribution import Distribution, version_inside
from harness.kafka.jar_names import jar_name
from harness.kafka.lock import locked_versions, read_lock
from harness.kafka.modules_beside import CONNECT_API, MODULES_BESIDE
from harness.kafka.release_lines import same_line
from harness.kafka.versions import is_version, release_of
from harness.toolbox.lockfile import Lock, Purpose

_OWN_GROUP = "org.apache.kafka"
_BROKER = re.compile(r"kafka_(\d+(?:\.\d+)?)")
_SCALA_LIBRARY = "scala-library"
_CROSSED = re.compile(r"(.+)_(\d+(?:\.\d+)?)")  # scala-logging_2.13
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_AGAIN = "Unpack the release again into an empty folder, and add to it what you mean to run."


@dataclass(frozen=True, slots=True)
class KnownModules:
    """What is known of the modules of a version: Kafka's own, and other people's.

    Of its own a broker has those that are `needed`; those `beside` may be there. `crossed` are other people's that
    come for one Scala each, by name and without its suffix.
    """

    needed: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    crossed: frozenset[str] = frozenset()


def check_whole(kafka: Distribution, place: Path) -> None:
    """Raise HarnessError for the first thing that keeps what was unpacked at `place` from being one whole Kafka.

    Which modules it needs is known from the lock of its release, or of another release of its line; where there is
    none, only what is there is checked.
    """
    problem = first_problem({jar.name: jar for jar in kafka.jars}, kafka.version, known_modules(kafka.version))
    if problem:
        raise HarnessError(f"{place} is not a whole Kafka: {problem}.", _AGAIN)


def known_modules(version: str) -> KnownModules:
    """Return what the lock of a version's release says of its modules, or that of another release of its line."""
    release = release_of(version)
    known = sorted(locked_versions(), key=lambda each: (each != release, each))
    alike = next((each for each in known if each == release or same_line(each, release)), "")
    lock = read_lock(alike) if alike else Lock(version, ())
    own, others = _modules(lock, Purpose.RUNTIME)
    commands, _ = _modules(lock, Purpose.COMMANDS)
    crossed = frozenset(found[1] for each in others if (found := _CROSSED.fullmatch(each)))
    return KnownModules(frozenset(map(_module, own)), commands.union(MODULES_BESIDE, [CONNECT_API]), crossed)


def _modules(lock: Lock, purpose: Purpose) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of Kafka's own modules in a lock, and of other people's."""
    pinned = [each.coordinate.split(":")[:2] for each in lock.of(purpose)]
    own = frozenset(artifact for group, artifact in pinned if group == _OWN_GROUP)
    return own, frozenset(artifact for _, artifact in pinned) - own


def lacking_others(kafka: Distribution) -> tuple[str, ...]:
    """Return the names of other people's jars that Apache's locked release has, in whatever version, and this lacks.

    A vendor may have replaced them; without them nodes may not start. Nothing is known where there is no such lock.
    """
    release = release_of(kafka.version)
    if release not in locked_versions():
        return ()
    there = {named.module for jar in kafka.jars if (named := jar_name(jar.name))}
    _, others = _modules(read_lock(release), Purpose.RUNTIME)
    return tuple(sorted(each for each in others - there if not _CROSSED.fullmatch(each) and each != _SCALA_LIBRARY))


def in_two_versions(kafka: Distribution) -> tuple[tuple[str, ...], ...]:
    """Return the names of jars of one module each, whoever made it, that are there in several versions.

    Files for several systems are none: they have one number. Nor are two modules of one name, whose classes differ:
    Apache's releases of 3.9 have metrics-core of two makers.
    """
    jars = {jar.name: jar for jar in kafka.jars}
    by_module = [names for names in _by_module(jars).values() if len({*map(_number, names)}) > 1]
    return tuple(tuple(names) for names in by_module if _share_a_class([jars[name] for name in names]))


def _share_a_class(jars: Sequence[Path]) -> bool:
    seen: set[str] = set()
    for jar in jars:
        classes = {name for name in entry_names(jar) if is_class(name) and not name.endswith("module-info.class")}
        if seen & classes:
            return True
        seen |= classes
    return False


def _number(name: str) -> str:
    named = jar_name(name)
    found = _NUMBER.match(named.version) if named else None
    return found[0] if found else ""


def first_problem(jars: Mapping[str, Path], version: str, known: KnownModules) -> str:
    """Return why jars, by their names, are no whole Kafka of a version, else nothing; unknown ones may be there."""
    named, own_names = _by_module(jars), known.needed | known.beside
    own = {each: names for each, names in named.items() if _module(each) in own_names or _BROKER.fullmatch(each)}
    return (
        next(filter(None, (_twice(names) for names in own.values())), "")
        or _lacking(known.needed, own)
        or next(filter(None, (_of_another(jars[names[0]], version) for names in own.values())), "")
        or _scala_problem(named, known.crossed)
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
    by_name, inside = jar_name(jar.name), version_inside(jar)
    named = inside or (by_name.version if by_name else "")
    if not is_version(named) or release_of(named) == release_of(version):
        return ""
    where = " by what stands in it" if inside else ""
    return f"{jar.name} is of Kafka {release_of(named)}{where}, and its raft module of {release_of(version)}"


def _scala_problem(named: Mapping[str, list[str]], crossed: Collection[str]) -> str:
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
    others = [names[0] for module, names in named.items() if _is_for_another(module, scala, crossed)]
    odd = next(iter([*([] if fits else libraries), *others]), "")
    return f"{named[brokers[0]][0]} is for Scala {scala}, and {odd} is for another" if odd else ""


def _is_for_another(module: str, scala: str, crossed: Collection[str]) -> bool:
    found = _CROSSED.fullmatch(module)
    return found is not None and found[1] in crossed and found[2] != scala
