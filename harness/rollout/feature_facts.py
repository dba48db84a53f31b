"""A Kafka's own classes are asked which features it has, in a JVM of a second."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.building.compiling import Builder
from harness.building.java_programs import NoAnswer, answer_of, compiled_probe
from harness.kafka.distribution import Distribution
from harness.model.features import KafkaFeatures, MetadataLevel
from harness.toolbox.java import JavaRuntime

_SOURCE = Path(__file__).with_name("KafkaFeatures.java")
_SECONDS = 60
_WORDS = {"release": 2, "level": 4, "supported": 4, "first": 3}  # of a line of each kind
_NUMBERS: Mapping[str, tuple[int, ...]] = {"release": (), "level": (1,), "supported": (2, 3), "first": (2,)}


def read_features(kafka: Distribution, compiler: Builder, java: JavaRuntime, cache: Path) -> KafkaFeatures:
    """Ask the classes of a Kafka. Raises HarnessError when they do not say."""
    classes = compiled_probe(compiler, _SOURCE, (), cache)
    try:
        said = answer_of(java, _SOURCE.stem, class_path=(*kafka.jars, classes), seconds=_SECONDS)
    except NoAnswer as error:
        raise HarnessError(f"{kafka.description} does not say which features it has: {error}") from error
    if found := parse_features(kafka.version, said.splitlines()):
        return found
    raise HarnessError(f"{kafka.description} names no release of its own.")


def parse_features(version: str, lines: Iterable[str]) -> KafkaFeatures | None:
    """Return what the probe printed, None where it named no release; static code may print lines of its own between."""
    rows = [row for row in map(str.split, lines) if _is_sound(row)]
    of = {kind: [row[1:] for row in rows if row[0] == kind] for kind in _WORDS}
    if not of["release"] or not of["supported"]:
        return None
    return KafkaFeatures(
        version,
        of["release"][0][0],
        {name: (int(lowest), int(highest)) for name, lowest, highest in of["supported"]},
        {name: int(level) for name, level in of["first"]},
        tuple(MetadataLevel(int(level), name, changes == "true") for level, name, changes in of["level"]),
    )


def _is_sound(row: Sequence[str]) -> bool:
    """Return whether a line is one of the probe's: of a kind, as long as such a one, with numbers where they belong."""
    if not row or _WORDS.get(row[0]) != len(row):
        return False
    return all(row[at].isascii() and row[at].isdigit() for at in _NUMBERS[row[0]])
