"""Every ConfigDef in jars of a Kafka, whatever class declares it, as its own code says in a JVM."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.text import visible
from harness.building.config_uses import ConfigUse, parse_use
from harness.building.configdef import Probe
from harness.building.java_programs import NoAnswer, answer_of
from harness.model.kafka_inventory import REQUIRED, ConfigOwner, DeclaredKey

_SECONDS = 120
_OWNER, _USED = '{"owner"', '{"used"'
_NO_LOOK_UPS = "-Djdk.net.hosts.file=/etc/hosts"  # from Java 9 on: a name that is not there is unknown


@dataclass(frozen=True, slots=True)
class EveryConfig:
    """What the jars declare, by class; `unread` says of classes why they could not be asked.

    `uses` is what the classes of a jar make of their keys, where that was asked too.
    """

    owners: tuple[ConfigOwner, ...]
    unread: Mapping[str, str]
    uses: Mapping[str, ConfigUse] = field(default_factory=dict)


def read_every_config(probe: Probe, class_path: Sequence[Path]) -> EveryConfig:
    """Load each class of the class path that has a ConfigDef, and return what it declares.

    Raises HarnessError where no JVM answers.
    """
    return _asked(probe, class_path, ["--every", *map(str, class_path)])


def read_used_config(probe: Probe, jar: Path, others: Sequence[Path]) -> EveryConfig:
    """Return what the classes of a jar declare, and what they make of it; no name is looked up for that.

    `others` are the jars that it is used with. Raises HarnessError where no JVM answers.
    """
    return _asked(probe, (jar, *others), ["--used", str(jar)], _NO_LOOK_UPS)


def _asked(probe: Probe, class_path: Sequence[Path], asked: Sequence[str], *options: str) -> EveryConfig:
    words, path = ("ConfigProbe", *asked), (probe.classes, *class_path)
    try:
        return parse_every_config(answer_of(probe.java, *words, class_path=path, options=options, seconds=_SECONDS))
    except NoAnswer as error:
        raise _unreadable(str(error)) from error


def parse_every_config(output: str) -> EveryConfig:
    """Return what the probe printed; a class's static code may print lines of its own between."""
    try:
        answers = list(_answers(output, _OWNER))
        owners = tuple(ConfigOwner(each["owner"], tuple(map(_key, each["keys"]))) for each in answers if each["keys"])
        failed = {each["owner"]: visible(each["failed"])[:200] for each in answers if each["failed"]}
        uses = {each["used"]: parse_use(each) for each in _answers(output, _USED)}
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # a line that looks like an answer
        raise _unreadable("the probe's answer cannot be read") from error
    return EveryConfig(owners, failed, uses)


def _answers(output: str, begin: str) -> Iterator[dict[str, Any]]:
    for line in output.splitlines():
        if line.startswith(begin):
            yield json.loads(line)


def _key(said: dict[str, Any]) -> DeclaredKey:
    default = REQUIRED if said["required"] else said["default"]
    parts = said["name"], said["type"], default, said["validator"], said["importance"]
    return DeclaredKey(*parts, internal=said["internal"], deprecated=said["deprecated"])


def _unreadable(why: str) -> HarnessError:
    return HarnessError(
        f"The configuration of this Kafka cannot be read: {why}.",
        "Its jars do not fit each other or this Java: check the distribution, and --java-home.",
    )
