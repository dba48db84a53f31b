"""A topic's id as Kafka writes it, and `partition.metadata`, the file with it in each partition's directory; pure."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from harness.base.kafka_id import kafka_id
from harness.base.text import cut, visible

FILE_NAME = "partition.metadata"
MOST_BYTES = 4096  # Kafka writes 43
_VERSION = 0  # PartitionMetadataFile.CURRENT_VERSION
_ID_BYTES = 16
_LINE = re.compile(r"([^:]*):\s+([^:]*)")  # PartitionMetadataReadBuffer splits at a colon and blanks
_NUMBER = re.compile(r"[+-]?\d{1,9}")
_ZERO = "A" * 22


@dataclass(frozen=True, slots=True)
class FoundId:
    """What a file says: an id, or why there is none. `refused` says that Kafka cannot read the file either."""

    topic_id: str = ""
    problem: str = ""
    refused: bool = False


def is_topic_id(text: str) -> bool:
    """Whether a text is an id: 16 bytes in the base64 of URLs, without padding (org.apache.kafka.common.Uuid)."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{22}", text) or text == _ZERO:
        return False
    try:
        decoded = base64.urlsafe_b64decode(f"{text}==")
    except binascii.Error:
        return False
    # The last character has four bits that mean nothing: one id is to have one spelling.
    return len(decoded) == _ID_BYTES and kafka_id(decoded) == text


def parse_partition_metadata(data: bytes) -> FoundId:
    """Return what the bytes of a `partition.metadata` say; never raises.

    Kafka reads two lines, `version: 0` and `topic_id: …`, and goes by their order alone
    (org.apache.kafka.storage.internals.checkpoint.PartitionMetadataFile).
    """
    if not data.strip():
        return FoundId(problem="it is empty", refused=True)
    if len(data) > MOST_BYTES:
        return FoundId(problem=f"it has more than {MOST_BYTES} bytes", refused=True)
    lines = data.decode("utf-8", "replace").splitlines()
    version = _value(lines, 0)
    if not _NUMBER.fullmatch(version):
        return FoundId(problem=f"its first line is {_shown(lines[0])}, which names no version", refused=True)
    if int(version) > _VERSION:  # 2.8 refuses it, later releases read on
        return FoundId(problem=f"it is of version {int(version)}, and known is version {_VERSION}")
    topic_id = _value(lines, 1)
    if int(version) < _VERSION or not is_topic_id(topic_id):
        line = lines[1] if len(lines) > 1 else ""
        what = f"version {int(version)}" if int(version) < _VERSION else f"second line {_shown(line)}"
        return FoundId(problem=f"its {what} is none that Kafka writes", refused=True)
    return FoundId(topic_id)


def _value(lines: list[str], number: int) -> str:
    found = _LINE.fullmatch(lines[number]) if number < len(lines) else None
    return found[2] if found else ""


def _shown(line: str) -> str:
    return f"“{cut(visible(line), 60)}”"
