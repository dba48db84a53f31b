"""What is configurable, as ConfigDefs declare it, read in a JVM: of a raft jar alone, or of a whole server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.archives import entry_names
from harness.base.errors import HarnessError
from harness.building.compiling import Builder
from harness.building.java_programs import NoAnswer, answer_of, compiled_program
from harness.model.arms import Flag
from harness.toolbox.java import JavaRuntime

CONFIG_SOURCE = Path(__file__).with_name("ConfigProbe.java")
_USES_SOURCE = "ConfigUses.java"
_OF_QUORUM = "org.apache.kafka.raft.QuorumConfig"
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One key of a ConfigDef, each part as text; `default` and `validator` are empty when there is none."""

    name: str
    type: str
    default: str
    importance: str
    validator: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """The compiled probe (a folder of classes) and the Java that runs it."""

    classes: Path
    java: JavaRuntime


def prepare_probe(builder: Builder, java: JavaRuntime, class_path: Sequence[Path], cache: Path) -> Probe:
    """Compile the probe into the cache, once per source and compiler. Raises HarnessError when it does not compile."""
    sources = [CONFIG_SOURCE.name, _USES_SOURCE]
    return Probe(compiled_program(builder, CONFIG_SOURCE.parent, sources, class_path, cache), java)


def read_flag(probe: Probe, jar: Path, class_path: Sequence[Path], key: str) -> Flag:
    """Return how the raft jar declares `key`; `class_path` is the distribution's without a raft jar.

    Raises HarnessError when the jar's configuration class cannot be loaded.
    """
    declared = {each.name: each for each in read_keys(probe, jar, class_path)}
    found = declared.get(key)
    return Flag(key, True, found.default) if found else Flag(key, False)


def read_keys(probe: Probe, jar: Path, class_path: Sequence[Path], owner: str = _OF_QUORUM) -> tuple[ConfigKey, ...]:
    """Return every key that a class declares, that of the raft jar's quorum configuration if no other is named.

    An early raft jar has no such class and declares none: for 2.8 the server does. Raises HarnessError as `read_flag`.
    """
    if owner == _OF_QUORUM and f"{_OF_QUORUM.replace('.', '/')}.class" not in entry_names(jar):
        return ()
    path = (probe.classes, jar, *class_path)
    try:
        return parse_keys(answer_of(probe.java, "ConfigProbe", owner, class_path=path, seconds=_SECONDS), jar)
    except NoAnswer as error:
        raise _unloadable(jar, str(error)) from error


def parse_keys(output: str, jar: Path) -> tuple[ConfigKey, ...]:
    """Return the keys that the probe printed last; a jar's static code may have printed something before."""
    try:
        return tuple(ConfigKey(**table) for table in json.loads(output[output.rindex('[{"name"') :]))
    except (ValueError, TypeError) as error:
        raise _unloadable(jar, "the probe's answer cannot be read") from error


def _unloadable(jar: Path, why: str) -> HarnessError:
    return HarnessError(
        f"The configuration of {jar} cannot be read: {why}.",
        "The jar does not fit this Kafka or this Java: check which version it was built for, and --java-home.",
    )
