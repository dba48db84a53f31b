"""What the jars of a Kafka say without running: the Java that they need, the logging library, other libraries."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.archives import entry_names, open_library, read_entry
from harness.base.files import sha256_of
from harness.kafka.jar_names import JarName, jar_name
from harness.kafka.versions import release_of

# A class of each that shows what it was compiled for (JVM specification, 4.1: bytes 6 and 7 are the major version).
_SAMPLES = {"a node": "kafka/Kafka.class", "clients": "org/apache/kafka/clients/producer/KafkaProducer.class"}
_JAVA_1 = 44
_LOGGING = {
    "org/apache/logging/slf4j/Log4jLoggerFactory.class": "log4j 2",
    "org/slf4j/impl/Reload4jLoggerAdapter.class": "log4j 1 (reload4j)",
    "org/slf4j/reload4j/Reload4jLoggerAdapter.class": "log4j 1 (reload4j)",
    "org/slf4j/impl/Log4jLoggerAdapter.class": "log4j 1",
    "ch/qos/logback/classic/Logger.class": "logback",
}
OWN = "Kafka's own"
_OWN = re.compile(r"(kafka|connect|trogdor)[-_].*")


def java_needed(jars: Sequence[Path]) -> dict[str, int]:
    """Return the Java release that the classes of a node need, and that which those of clients need."""
    places = {entry: jar for jar in reversed(jars) for entry in entry_names(jar) if entry in _SAMPLES.values()}
    return {who: _release(places[entry], entry) for who, entry in _SAMPLES.items() if entry in places}


def _release(jar: Path, entry: str) -> int:
    with open_library(jar) as archive:
        return int.from_bytes(read_entry(archive, entry)[6:8], "big") - _JAVA_1


def logging_of(jars: Sequence[Path]) -> str:
    """Return the library that a node's log goes through, by the binding on its class path; empty for an unknown one."""
    names = (entry for jar in jars for entry in entry_names(jar))
    return next((_LOGGING[entry] for entry in names if entry in _LOGGING), "")


def libraries_of(jars: Sequence[Path], version: str) -> dict[str, str]:
    """Return the versions of jars by their names without it, `OWN` of a Kafka's own; some have two of one name."""
    found: dict[str, list[str]] = defaultdict(list)
    for jar in jars:
        named = jar_name(jar.name) or JarName(jar.stem, "of unknown version")
        is_the_kafkas = is_own(jar.name) and release_of(named.version) == release_of(version)
        found[named.module].append(OWN if is_the_kafkas else named.version)
    return {name: ", ".join(sorted(versions)) for name, versions in found.items()}


def is_own(name: str) -> bool:
    """Whether a jar's name is like those of Kafka's own modules; a plugin's may be as well."""
    return _OWN.fullmatch(name) is not None


def digest_of(jars: Sequence[Path], more: Mapping[str, str]) -> str:
    """Return the digest of all jars by name and content, and of texts beside them."""
    digest = hashlib.sha256()
    for name, content in sorted([*((jar.name, sha256_of(jar)) for jar in jars), *more.items()]):
        digest.update(f"{name}\0{content}\0".encode())
    return digest.hexdigest()
